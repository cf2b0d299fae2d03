"""Requests and answers about documents, in LightRAG's shapes. Unknown fields of a request are ignored, as there."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from contracts.text import sanitize
from services.query.domain.status import STATUSES, STEPS, DocumentStatus


class InsertText(BaseModel):
    """One text to add."""

    text: str = Field(min_length=1)
    file_source: str = Field(default="", max_length=4096, examples=["notes.md"])

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not sanitize(text):
            raise ValueError("the text is empty; give at least one printable character")
        return text


class InsertTexts(BaseModel):
    """Several texts to add."""

    texts: list[str] = Field(min_length=1)
    file_sources: list[str] = Field(default=[])

    @model_validator(mode="after")
    def _one_source_each(self) -> Self:
        if self.file_sources and len(self.file_sources) != len(self.texts):
            raise ValueError("give as many file_sources as texts, or none")
        if len(set(self.file_sources)) != len(self.file_sources):
            raise ValueError("file_sources must differ from each other")
        if blank := [index for index, text in enumerate(self.texts) if not sanitize(text)]:
            raise ValueError(f"texts {blank} are empty; give at least one printable character each")
        return self


class InsertResponse(BaseModel):
    """The log has the documents durably; ask for their state with the track id."""

    status: Literal["success"] = "success"
    message: str
    track_id: str


class PaginatedRequest(BaseModel):
    """Which page of the list of documents."""

    status_filter: str | None = None
    status_filters: list[str] | None = None
    page: int = Field(default=1, ge=1, le=1_000_000_000)
    page_size: int = Field(default=50, ge=10, le=200)
    sort_field: Literal["updated_at", "created_at", "id", "file_path"] = "updated_at"
    sort_direction: Literal["asc", "desc"] = "desc"


class Document(BaseModel):
    """The state of one document. `metadata` also counts the chunks each step has done, and says where in the log the
    text stands that this is the state of (`added_sequence`).
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

    @classmethod
    def of(cls, status: DocumentStatus) -> "Document":
        """What the projection knows."""
        failures = status.standing_failures
        return cls(
            id=status.id,
            content_summary=status.summary,
            content_length=status.length,
            status=status.status,
            created_at=status.created_at,
            updated_at=status.updated_at,
            track_id=status.track_id or None,
            chunks_count=status.chunk_count,
            error_msg="; ".join(f"{failure.stage}: {failure.message}" for failure in failures[:5]) or None,
            metadata={
                **status.metadata,
                "added_sequence": status.version,
                "chunks": status.chunk_count,
                **{step: status.done(step) for step in STEPS},
            },
            file_path=status.file_path,
        )


class Pagination(BaseModel):
    """Where the page stands."""

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


class StatusCounts(BaseModel):
    """Documents by status, and all of them."""

    status_counts: dict[str, int]


def all_counts(counts: dict[str, int]) -> dict[str, int]:
    """Every status, zero where there is none, and `all`."""
    return {**{status: counts.get(status, 0) for status in STATUSES}, "all": sum(counts.values())}
