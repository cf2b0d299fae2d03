"""The responses of Lightstream as typed values. Fields that a newer server adds are kept and do no harm."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SecretStr

FINAL = frozenset({"processed", "partial", "failed", "deleting"})
"""Statuses after which nothing more happens to a document by itself."""


class ResponseModel(BaseModel):
    """A response of the server, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="allow", hide_input_in_errors=True)


class PassageLocation(ResponseModel):
    """Where a passage stands: characters of the document's text, and the page where it begins, as far as known."""

    chunk_id: str
    document_id: str
    start: int | None = None
    end: int | None = None
    page: int | None = None


class Reference(ResponseModel):
    """A file that an answer rests on. `content` and `chunks` only where they were asked for."""

    reference_id: str
    file_path: str
    content: list[str] | None = None
    chunks: list[PassageLocation] | None = None


class Answer(ResponseModel):
    """The answer to a question. `response_time` in seconds."""

    response: str
    references: list[Reference] | None = None
    response_time: float = 0.0
    llm_generated: bool = False


class Piece(ResponseModel):
    """One line of an answer that is being written: some of its text, its references, a step, or the seconds."""

    response: str = ""
    references: list[Reference] | None = None
    llm_generated: bool | None = None
    progress: str | None = None
    response_time: float | None = None


class Evidence(ResponseModel):
    """What an answer would rest on. `data`: entities, relationships, chunks, references."""

    status: Literal["success", "failure"]
    message: str
    data: dict[str, list[dict[str, Any]]]
    metadata: dict[str, Any]


class AddedDocument(ResponseModel):
    """A document that the log has.

    `sequence` says when the text was added, in microseconds since 1970; `track_id` names the request that brought it
    there. `is_new` is False, and `status` how it is, where the text stood there already.
    """

    id: str
    sequence: int
    track_id: str
    is_new: bool = True
    status: str | None = None


class Added(ResponseModel):
    """The outcome of a request that adds documents. `status`: `duplicated` where nothing was added."""

    status: str = "success"
    message: str
    track_id: str
    documents: list[AddedDocument]
    warnings: list[str] = []
    """What may be wrong with the text, as an encoding in doubt."""

    @property
    def new(self) -> list[AddedDocument]:
        """The documents whose text was not there already."""
        return [document for document in self.documents if document.is_new]


class Document(ResponseModel):
    """The state of one document. `metadata` also counts the chunks that each step has done."""

    id: str
    file_path: str
    status: str
    content_summary: str = ""
    content_length: int = 0
    created_at: str = ""
    updated_at: str = ""
    track_id: str | None = None
    chunks_count: int | None = None
    error_msg: str | None = None
    metadata: dict[str, Any] = {}

    @property
    def sequence(self) -> int:
        """When the text was added that this is the state of, in microseconds since 1970."""
        return int(self.metadata.get("added_sequence") or 0)

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens to it by itself."""
        return self.status in FINAL


class Pagination(ResponseModel):
    """Where a page stands."""

    page: int
    page_size: int
    total_count: int
    total_pages: int
    has_next: bool
    has_prev: bool


class DocumentPage(ResponseModel):
    """A page of the list of documents."""

    documents: list[Document]
    pagination: Pagination
    status_counts: dict[str, int]


class Track(ResponseModel):
    """The documents of one request."""

    track_id: str
    documents: list[Document]
    total_count: int
    status_summary: dict[str, int]


class StatusCounts(ResponseModel):
    """Documents by status, and `all`."""

    status_counts: dict[str, int]


class Deletion(ResponseModel):
    """The log has the deletions; graph, vectors and status follow."""

    status: str
    message: str


class Node(ResponseModel):
    """An entity as the graph shows it."""

    id: str
    labels: list[str] = []
    properties: dict[str, Any] = {}


class Edge(ResponseModel):
    """A relation as the graph shows it; it has no direction."""

    id: str
    source: str
    target: str
    properties: dict[str, Any] = {}


class Subgraph(ResponseModel):
    """A part of the graph. `is_truncated`: there is more."""

    nodes: list[Node]
    edges: list[Edge]
    is_truncated: bool


class Exists(ResponseModel):
    """Whether there is such an entity."""

    exists: bool


class Edit(ResponseModel):
    """An edit that the log has. `pending`: the graph does not show it yet, and will."""

    status: Literal["success", "pending"]
    message: str
    data: dict[str, Any] = {}
    operation_summary: dict[str, Any] | None = None


class Health(ResponseModel):
    """Whether the service answers, and what it works with; the rest is for those with credentials."""

    status: str
    auth_mode: str
    core_version: str
    pipeline_busy: bool
    workspace: str | None = None
    configuration: dict[str, Any] | None = None


class Login(ResponseModel):
    """The token that a login returned."""

    access_token: SecretStr
    auth_mode: str
