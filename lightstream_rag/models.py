"""The responses of Lightstream as typed values. Fields that a newer server adds are kept and do no
harm.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SecretStr

FINAL = frozenset({"processed", "partial", "failed", "deleting"})
"""Statuses after which nothing more happens to a document by itself."""


class ResponseModel(BaseModel):
    """A response of the server, or a part of one."""

    # Built when first used: a command or program needs few of them.
    model_config = ConfigDict(
        frozen=True, extra="allow", hide_input_in_errors=True, defer_build=True
    )


class PassageLocation(ResponseModel):
    """The position of a passage: characters of the document's text, and the page on which it
    begins, if known.
    """

    chunk_id: str
    document_id: str
    start: int | None = None
    end: int | None = None
    page: int | None = None
    page_breaks: tuple[int, ...] = ()
    """Characters of the passage at which its next pages begin."""


class Reference(ResponseModel):
    """A file that an answer is based on. `content` and `chunks` are set only when they were
    requested.
    """

    reference_id: str
    file_path: str
    content: list[str] | None = None
    also_in: list[str] | None = None
    """Files that say the same in a passage which was left out as a double."""
    chunks: list[PassageLocation] | None = None


class ToolStep(ResponseModel):
    """A tool that the model used, with these arguments. `passages`: those that it read first."""

    tool: str = ""
    arguments: str = ""
    passages: int = 0
    error: str = ""


class SearchRound(ResponseModel):
    """A round of a question with more than low effort. `ended`: why no other one followed, empty
    when one did. `steps`: of high effort.
    """

    searches: list[str] = []
    steps: list[ToolStep] = []
    missing: str = ""
    new_passages: int = 0
    tokens: int = 0
    ended: str = ""


class Successor(ResponseModel):
    """A document that supersedes another, and since when. `reference_id` is empty where no passage
    of it is among the sources.
    """

    document_id: str
    file_path: str
    reference_id: str = ""
    since: datetime


class OutdatedSource(ResponseModel):
    """A source that is not in force at the moment that is asked about, and why."""

    document_id: str
    file_path: str
    reference_id: str = ""
    superseded_by: list[Successor] = []
    valid_from: datetime | None = None
    valid_until: datetime | None = None


class WeighedStatement(ResponseModel):
    """What a source says, and the authority of its document: the greater, the weightier."""

    document_id: str
    file_path: str
    reference_id: str = ""
    statement: str
    authority: int


class OutweighedStatement(WeighedStatement):
    """What a source says and one of greater authority seems to contradict."""

    contradicted_by: WeighedStatement


class Answer(ResponseModel):
    """The answer to a question. `response_time` in seconds. `truncated`: the model ended before the
    answer's end. `prompt_truncated`: its context window was too small for its prompt. `mode` and
    `mode_reason`: which mode `auto` chose, and why.
    """

    response: str
    references: list[Reference] | None = None
    response_time: float = 0.0
    llm_generated: bool = False
    truncated: bool = False
    prompt_truncated: bool = False
    reasoning: str | None = None
    rounds: list[SearchRound] | None = None
    mode: str | None = None
    mode_reason: str | None = None
    outdated_sources: list[OutdatedSource] | None = None
    """The sources that are not in force."""
    outweighed_statements: list[OutweighedStatement] | None = None
    """What sources of greater authority contradict."""
    receipt: str | None = None
    """The id of its receipt, where the service records answers."""


class Piece(ResponseModel):
    """One line of an answer that is being written: some of its text, its references, a step, or the
    seconds.

    `truncated`: the model ended before the answer's end. `prompt_truncated`: its context window was
    too small for its prompt. `reset`: the text before this line was reasoning.
    """

    response: str = ""
    reasoning: str | None = None
    truncated: bool | None = None
    prompt_truncated: bool | None = None
    reset: bool | None = None
    references: list[Reference] | None = None
    rounds: list[SearchRound] | None = None
    mode: str | None = None
    mode_reason: str | None = None
    receipt: str | None = None
    llm_generated: bool | None = None
    progress: str | None = None
    detail: str | None = None
    """Of the progress `using_tool`: the tool, and what with."""
    response_time: float | None = None


class Evidence(ResponseModel):
    """The data that an answer would be based on. `data`: entities, relationships, chunks,
    references.
    """

    status: Literal["success", "failure"]
    message: str
    data: dict[str, list[dict[str, Any]]]
    metadata: dict[str, Any]


class AddedDocument(ResponseModel):
    """A document that the log has.

    `sequence` is the time at which the text was added, in microseconds since 1970; `track_id` names
    the request that added it. For a text that was there before, `is_new` is False and `status` is
    that of the existing document.
    """

    id: str
    sequence: int
    track_id: str
    is_new: bool = True
    status: str | None = None


class Added(ResponseModel):
    """The outcome of a request that adds documents. `status`: `duplicated` where nothing was
    added.
    """

    status: str = "success"
    message: str
    track_id: str
    documents: list[AddedDocument] = []
    """None where pages of a file are being recognized: `track_status` has the document."""
    warnings: list[str] = []
    """What may be missing or wrong, as pictures that were left out or an encoding in doubt."""

    @property
    def is_being_read(self) -> bool:
        """Return whether pages of the file are being recognized, so that it is no document yet."""
        return not self.documents

    @property
    def new(self) -> list[AddedDocument]:
        """Return the documents whose text was not there before."""
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
    warnings: list[str] = []
    """What may be missing or wrong in what became of it, as pictures that were left out."""

    @property
    def sequence(self) -> int:
        """Return when the current text was added, in microseconds since 1970."""
        return int(self.metadata.get("added_sequence") or 0)

    @property
    def is_final(self) -> bool:
        """Return whether the status is final: it changes only after another request."""
        return self.status in FINAL


class Pagination(ResponseModel):
    """The position of a page in the list."""

    page: int
    page_size: int
    total_count: int
    total_pages: int
    has_next: bool
    has_prev: bool


class DocumentValidity(ResponseModel):
    """When a document holds, what it supersedes, and the documents that say they supersede it.

    `is_stated`: somebody stated it after the document was added.
    """

    document_id: str
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    supersedes: list[str] = []
    superseded_by: list[str] = []
    authority: int = 0
    coexists_with: list[str] = []
    is_stated: bool = False


class ValidityStated(ResponseModel):
    """The place of a statement in the log. `unknown`: ids of which there is no document."""

    document_id: str
    sequence: int
    unknown: list[str] = []


class DocumentTagged(ResponseModel):
    """The tags of a document, and their place in the log."""

    document_id: str
    tags: list[str]
    sequence: int


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
    """The number of documents by status, and of `all`."""

    status_counts: dict[str, int]


class Deletion(ResponseModel):
    """The outcome of a deletion: the log has it; graph, vectors and status are updated later."""

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


class Alias(ResponseModel):
    """What was decided last about a name and the entity it may mean. `at`: microseconds since
    1970.
    """

    name: str
    entity: str
    state: Literal["accepted", "rejected", "proposed"]
    at: int
    editor: str = ""
    proposed_by: str = ""
    evidence: str = ""


class AliasProposal(ResponseModel):
    """A name that may mean an entity, which nobody has decided."""

    name: str
    entity: str
    proposed_by: str
    evidence: str = ""
    support: int = 0


class AliasDecision(ResponseModel):
    """A decision that the log has. `pending`: the graph does not show it yet."""

    status: Literal["success", "pending"]
    message: str
    sequence: int


class Exists(ResponseModel):
    """Whether an entity of that name exists."""

    exists: bool


class Edit(ResponseModel):
    """The outcome of an edit that is in the log. `pending`: the graph does not show it yet."""

    status: Literal["success", "pending"]
    message: str
    data: dict[str, Any] = {}
    operation_summary: dict[str, Any] | None = None


class Health(ResponseModel):
    """The health of the service. `workspace` and `configuration` are None for callers that are not
    signed in.
    """

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
