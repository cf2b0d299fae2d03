"""Requests and answers about documents, in LightRAG's shapes. As there, unknown fields of a request
are ignored.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from contracts.chunking import Chunking
from contracts.spelling import one_spelling
from contracts.tags import MAX_TAGS, Tag
from contracts.text import encodable, is_blank, one_line
from publishing.upload_records import UploadRecord
from runtime.plugins.chunking import check_chunker
from services.gateway.access.models import AccessOption
from services.gateway.documents.validity_models import ValidityBody
from services.gateway.strict_model import Name, StrictModel
from services.query.status.document_status import STATUSES, STEPS, DocumentStatus

EncodableText = Annotated[str, AfterValidator(encodable)]
"""A text whose lone surrogates are removed: JSON can contain them, UTF-8 cannot."""


MAX_PER_REQUEST = 1000
"""Texts or ids that one request may have."""


class ChunkingParams(StrictModel):
    """The size of chunks, under LightRAG's field names or Lightstream's; null means the service's
    setting.
    """

    model_config = ConfigDict(extra="forbid")

    chunk_token_size: int | None = Field(
        default=None, ge=1, validation_alias=AliasChoices("chunk_token_size", "size")
    )
    chunk_overlap_token_size: int | None = Field(
        default=None, ge=0, validation_alias=AliasChoices("chunk_overlap_token_size", "overlap")
    )
    split_by_character: EncodableText | None = Field(default=None, min_length=1, max_length=64)
    split_by_character_only: bool = False


class ChunkingOption(StrictModel):
    """How the documents of this request are cut into chunks."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"strategy": "recursive_character", "params": {"chunk_token_size": 800}}]
        },
    )

    strategy: str = Field(
        max_length=64,
        description=(
            "`fixed_token`, `recursive_character`, `paragraph_semantic`, `semantic_vector`, or a "
            "chunker of an installed package; LightRAG's custom is not offered"
        ),
    )
    params: ChunkingParams = ChunkingParams()

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        chunking = self.chunking().bounded()
        check_chunker(chunking)
        return self

    def chunking(self) -> Chunking:
        """Return the option as events have it. Raises ValueError for contradictory values."""
        return Chunking.by(
            self.strategy,
            size=self.params.chunk_token_size,
            overlap=self.params.chunk_overlap_token_size,
            split_by_character=self.params.split_by_character,
            split_by_character_only=self.params.split_by_character_only,
        )


ACCESS = "who may see it; without one as was said of the document before, at first everyone"


class InsertText(StrictModel):
    """One text to add."""

    text: EncodableText = Field(min_length=1, examples=["Port Elm has a lighthouse."])
    file_source: EncodableText = Field(default="", max_length=4096, examples=["port.md"])
    chunking: ChunkingOption | None = None
    access: AccessOption | None = Field(default=None, description=ACCESS)
    validity: ValidityBody | None = Field(
        default=None, description="when the document holds, and what it supersedes"
    )

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if is_blank(text):
            raise ValueError("the text is empty; give at least one printable character")
        return text


class InsertTexts(StrictModel):
    """Several texts to add."""

    texts: list[EncodableText] = Field(
        min_length=1, max_length=MAX_PER_REQUEST, examples=[["First.", "Second."]]
    )
    file_sources: list[EncodableText] = Field(default=[], examples=[["a.md", "b.md"]])
    chunking: ChunkingOption | None = None
    access: AccessOption | None = Field(default=None, description=f"of all of them: {ACCESS}")
    validity: ValidityBody | None = Field(default=None, description="of all of them")

    @model_validator(mode="after")
    def _one_source_each(self) -> Self:
        if self.file_sources and len(self.file_sources) != len(self.texts):
            raise ValueError("give as many file_sources as texts, or none")
        if len(set(self.file_sources)) != len(self.file_sources):
            raise ValueError("file_sources must differ from each other")
        if blank := [index for index, text in enumerate(self.texts) if is_blank(text)]:
            raise ValueError(f"texts {blank} are empty; give at least one printable character each")
        return self


class PaginatedRequest(StrictModel):
    """The page of the list of documents that is requested, its filter and its order."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"page": 1, "page_size": 50, "status_filter": "failed"}]}
    )

    status_filter: Name | None = None
    status_filters: list[Name] | None = Field(default=None, max_length=64)
    page: int = Field(default=1, ge=1, le=1_000_000_000)
    page_size: int = Field(default=50, ge=10, le=200)
    sort_field: Literal["updated_at", "created_at", "id", "file_path"] = "updated_at"
    sort_direction: Literal["asc", "desc"] = "desc"
    search: EncodableText = Field(
        default="",
        max_length=512,
        description="only documents whose name has this in it, whatever the case of letters",
    )
    ids: list[EncodableText] | None = Field(
        default=None, max_length=200, description="only the documents with one of these ids"
    )
    file_paths: list[EncodableText] | None = Field(
        default=None,
        max_length=200,
        description="only documents whose name is one of these; `search` is ignored then",
    )


class Document(BaseModel):
    """The state of one document.

    `metadata` also has the number of chunks that each step has finished, and `added_sequence`: when
    the current text was added, in microseconds since 1970.
    """

    id: str
    content_summary: str
    content_length: int
    status: str
    created_at: str
    updated_at: str
    track_id: str | None
    chunks_count: int
    error_msg: str | None
    metadata: dict[str, Any]
    file_path: str
    warnings: list[str] = Field(
        default=[],
        description=(
            "what may be missing or wrong in what became of it, as pictures that were left out"
        ),
    )
    original_size: int = Field(
        default=0,
        description=(
            "bytes of the file it was read from, where that is kept: `GET /documents/{id}/original`"
        ),
    )

    @classmethod
    def of(cls, status: DocumentStatus) -> "Document":
        """Return the state of a document as the status projection has it."""
        failures = status.open_failures
        return cls(
            id=status.id,
            content_summary=status.summary,
            content_length=status.length,
            status=status.status,
            created_at=status.created_at,
            updated_at=status.updated_at,
            track_id=status.track_id or None,
            chunks_count=status.chunk_count,
            error_msg="; ".join(f"{failure.stage}: {failure.message}" for failure in failures[:5])
            or None,
            metadata={
                **status.current_metadata,
                "added_sequence": status.added,
                "chunks": status.chunk_count,
                **{step: status.done(step) for step in STEPS},
            },
            file_path=one_line(status.file_path),
            warnings=[one_line(warning) for warning in status.warnings],
            original_size=status.original_size,
        )

    @classmethod
    def of_upload(cls, record: UploadRecord) -> "Document":
        """Return an upload as the document that it becomes: `parsing`, or `failed` with the
        reason.
        """
        created_at, updated_at = (
            datetime.fromtimestamp(seconds, UTC).isoformat()
            for seconds in (record.created_at, record.updated_at)
        )
        pages = {"recognized_pages": record.pages, "pages_to_recognize": record.page_count}
        return cls(
            id=record.document_id,
            content_summary=record.message,
            content_length=0,
            status="failed" if record.error else "parsing",
            created_at=created_at,
            updated_at=updated_at,
            track_id=record.track_id,
            chunks_count=0,
            error_msg=record.error or None,
            metadata=pages if record.page_count else {},
            file_path=one_line(record.name),
        )


class DocumentTags(StrictModel):
    """The tags of a document from now on, and no others."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tags": ["minutes", "2026"], "reason": "sorted"}]}
    )

    tags: list[Tag] = Field(max_length=MAX_TAGS, description="without commas; empty: none")
    reason: str = Field(default="", max_length=1000)

    @field_validator("tags")
    @classmethod
    def _without_blanks_and_repeats(cls, tags: list[str]) -> list[str]:
        by_spelling: dict[str, str] = {}
        for tag in map(str.strip, tags):
            by_spelling.setdefault(one_spelling(tag), tag)
        if "" in by_spelling:
            raise ValueError("a tag must not be blank")
        return list(by_spelling.values())


class DocumentTagged(BaseModel):
    """The tags are in the log; lists and questions follow within a moment."""

    document_id: str
    tags: list[str]
    sequence: int


class Pagination(BaseModel):
    """The position of a page in the list."""

    page: int
    page_size: int
    total_count: int
    total_pages: int
    has_next: bool
    has_prev: bool


class PaginatedResponse(BaseModel):
    """A page of documents."""

    documents: list[Document]
    pagination: Pagination
    status_counts: dict[str, int]


class TrackStatus(BaseModel):
    """The documents of one track id."""

    track_id: str
    documents: list[Document]
    total_count: int
    status_summary: dict[str, int]


class Uploads(BaseModel):
    """The uploads of a week that became no document, the newest first; none is in the log."""

    uploads: list[Document] = Field(
        description="`parsing` while pages are recognized, else `failed` with the reason"
    )


class StatusCounts(BaseModel):
    """The number of documents by status, and of `all`."""

    status_counts: dict[str, int]


def all_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the count of every status, zero included, and the sum as `all`."""
    return {**{status: counts.get(status, 0) for status in STATUSES}, "all": sum(counts.values())}


class DocumentIds(StrictModel):
    """The documents that are meant."""

    doc_ids: list[EncodableText] = Field(
        min_length=1,
        max_length=MAX_PER_REQUEST,
        examples=[["doc-f8e5fc3935ce926dc54e926fdc8cf0ec"]],
    )

    @field_validator("doc_ids")
    @classmethod
    def _are_ids(cls, ids: list[str]) -> list[str]:
        ids = [id.strip() for id in ids]
        if not all(0 < len(id) <= 512 for id in ids):
            raise ValueError("an id has 1 to 512 characters")
        if len(set(ids)) != len(ids):
            raise ValueError("an id is given twice")
        return ids


class DeleteRequest(DocumentIds):
    """The documents to delete.

    The two flags are LightRAG's and have no effect: files go with erasures, and caches are
    cleared by another route.
    """

    delete_file: bool = False
    delete_llm_cache: bool = False


class DeleteResponse(BaseModel):
    """The log has the deletions durably; graph, vectors and status follow."""

    status: Literal["deletion_started"] = "deletion_started"
    message: str
    doc_id: str = Field(description="the ids, joined by a comma")


class Done(BaseModel):
    """The outcome of a request, in a sentence."""

    status: str
    message: str


class Started(Done):
    """Background work that was started, and the track id of the documents that it adds."""

    track_id: str = ""


class ScanStatus(BaseModel):
    """The progress of a scan; times in seconds since 1970."""

    track_id: str
    status: Literal["running", "completed", "failed", "cancelled"]
    counts: dict[str, int]
    counters_dropped: int = 0
    samples: dict[str, dict[str, Any]]
    created_at: float
    updated_at: float
    version: int
    message: str


class FileTypes(BaseModel):
    """The kinds of files that are read, by extension."""

    supported_extensions: list[str]
    engines: dict[str, list[str]] = Field(description="what reads them")
