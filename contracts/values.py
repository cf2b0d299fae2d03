"""The parts events are made of: chunks, versions, rows of an extraction, revisions, token counts."""

from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from contracts.ids import UNKNOWN_SOURCE

Scalar = str | int | float | bool | None


class Value(BaseModel):
    """A part of an event. Unknown fields are ignored: the writer may be newer than the reader."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class BlobRef(Value):
    """A text too long for an event, kept in KB_BLOBS under the SHA-256 of its UTF-8 bytes."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0, description="bytes")
    parts: int = Field(ge=1, description="messages `blob.<sha256>.<0 … parts-1>`")


class Chunking(Value):
    """How one document is to be cut; what is not said here is the service's setting."""

    size: int | None = Field(default=None, ge=1, description="tokens")
    overlap: int | None = Field(default=None, ge=0, description="tokens")

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> Self:
        if self.size is not None and self.overlap is not None and self.overlap >= self.size:
            raise ValueError(f"overlap {self.overlap} must be smaller than size {self.size}")
        return self


class DocumentVersion(Value):
    """Which text of which document a fact speaks of."""

    id: str
    version: int = Field(description="log sequence of the DocumentAdded; a later text has a higher one")
    added_at: AwareDatetime
    file_path: str = UNKNOWN_SOURCE
    deleted: bool = Field(default=False, description="the version is the DocumentDeleted: there is no text any more")


class ChunkRef(Value):
    """A chunk by name and place."""

    id: str
    order: int = Field(ge=0)


class Chunk(ChunkRef):
    """A passage of a document."""

    tokens: int = Field(ge=0)
    content: str
    headings: tuple[str, ...] = Field(default=(), description="path of headings, outermost first")


class TokenUsage(Value):
    """What a language model counted."""

    prompt: int = 0
    completion: int = 0
    cached: int = Field(default=0, description="part of `prompt` the provider had cached")


class ExtractedEntity(Value):
    """One row of what a chunk says."""

    name: str
    type: str
    description: str
    grounded: bool = Field(default=True, description="the passage contains the name")


class ExtractedRelation(Value):
    """One row of what a chunk says about two entities."""

    source: str
    target: str
    keywords: tuple[str, ...] = ()
    description: str
    weight: float = 1.0
    grounded: bool = Field(default=True, description="the passage contains both names")


class EntityRevision(Value):
    """An entity whose merged state changed. The text itself is in the graph, never in the log."""

    name: str
    revision: int


class RelationRevision(Value):
    """A relation whose merged state changed; `source` and `target` are sorted."""

    source: str
    target: str
    revision: int


class EditedValues(Value):
    """What a person says of an entity or relation; what is left out stays as the documents have it."""

    type: str | None = Field(default=None, min_length=1, max_length=256, description="of an entity")
    description: str | None = Field(default=None, max_length=50_000)
    keywords: tuple[str, ...] | None = Field(default=None, max_length=200, description="of a relation")
    weight: float | None = Field(default=None, ge=0, allow_inf_nan=False, description="of a relation")
