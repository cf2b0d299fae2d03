"""The facts of the system, the newest version of each.

A released field is never renamed, retyped or removed: that is a new `version`, with a step in
`upcast.py` that lifts the old one. A new optional field is compatible and needs neither.
"""

from typing import Any, ClassVar, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from contracts.ids import UNKNOWN_SOURCE, sha256

Scalar = str | int | float | bool | None
Stage = Literal["chunker", "extractor", "merger", "indexer", "query"]


class Value(BaseModel):
    """A part of an event. Unknown fields are ignored: the writer may be newer than the reader."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Event(Value):
    """The body of one event."""

    version: ClassVar[int] = 1

    @classmethod
    def type_name(cls) -> str:
        """The event's name in subjects and file names: `DocumentAdded`."""
        return cls.__name__

    @property
    def about(self) -> str:
        """The document (or `_graph`, `_sum-…`) in whose history this event stands."""
        raise NotImplementedError

    @property
    def ordinal(self) -> int:
        """Tells apart the events of one type that one cause gives rise to; part of the derived id."""
        return 0


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


class ExtractedRelation(Value):
    """One row of what a chunk says about two entities."""

    source: str
    target: str
    keywords: tuple[str, ...] = ()
    description: str
    weight: float = 1.0


class EntityRevision(Value):
    """An entity whose merged state changed. The text itself is in the graph, never in the log."""

    name: str
    revision: int


class RelationRevision(Value):
    """A relation whose merged state changed; `source` and `target` are sorted."""

    source: str
    target: str
    revision: int


class DocumentAdded(Event):
    """A document exists, or has a new text."""

    document_id: str = Field(min_length=1, max_length=512)
    text: str | None = Field(default=None, description="inline; longer than 256 KiB goes to KB_BLOBS")
    blob: BlobRef | None = None
    file_path: str = Field(default=UNKNOWN_SOURCE, max_length=4096)
    track_id: str | None = Field(default=None, max_length=256)
    metadata: dict[str, Scalar] = {}
    chunking: Chunking | None = None

    @model_validator(mode="after")
    def _exactly_one_text(self) -> Self:
        if (self.text is None) == (self.blob is None):
            raise ValueError("give exactly one of `text` and `blob`")
        return self

    @property
    def about(self) -> str:
        return self.document_id


class DocumentDeleted(Event):
    """The document is to leave no trace."""

    document_id: str = Field(min_length=1, max_length=512)
    track_id: str | None = None

    @property
    def about(self) -> str:
        return self.document_id


class ChunksCreated(Event):
    """One part of a document's chunks."""

    document: DocumentVersion
    part: int = Field(ge=0)
    parts: int = Field(ge=1)
    chunk_count: int = Field(ge=1, description="chunks of the whole document")
    chunks: tuple[Chunk, ...]

    @property
    def about(self) -> str:
        return self.document.id

    @property
    def ordinal(self) -> int:
        return self.part


class EntitiesExtracted(Event):
    """What one chunk says."""

    document: DocumentVersion
    chunk: ChunkRef
    entities: tuple[ExtractedEntity, ...]
    relations: tuple[ExtractedRelation, ...]
    model: str
    prompt_version: str
    cache_key: str = Field(description="sha256 over model, prompt version and text of the chunk")
    usage: TokenUsage = TokenUsage()
    duration_ms: int = 0
    cached: bool = False

    @property
    def about(self) -> str:
        return self.document.id

    @property
    def ordinal(self) -> int:
        return self.chunk.order


class GraphMerged(Event):
    """These entities and relations changed. Keys and revisions only: texts can be erased."""

    document: DocumentVersion | None
    chunks: tuple[ChunkRef, ...]
    entities: tuple[EntityRevision, ...]
    relations: tuple[RelationRevision, ...]

    @property
    def about(self) -> str:
        return self.document.id if self.document else "_graph"


class DescriptionSummarized(Event):
    """A language model condensed these fragments."""

    key: tuple[str, ...] = Field(description="one name, or the two sorted names of a relation")
    inputs_hash: str
    chunk_ids: tuple[str, ...]
    prompt_version: str
    model: str
    text: str
    usage: TokenUsage = TokenUsage()

    @property
    def about(self) -> str:
        return "_sum-" + sha256("\x1f".join(self.key))[:32]


class VectorsIndexed(Event):
    """These vectors can be searched."""

    document: DocumentVersion | None
    kind: Literal["chunks", "graph"]
    chunks: tuple[ChunkRef, ...]
    embedded: int = Field(description="texts that were embedded; unchanged ones are not")
    model: str
    dimension: int

    @property
    def about(self) -> str:
        return self.document.id if self.document else "_graph"


class StageFailed(Event):
    """A stage gave an event up, and why."""

    stage: Stage
    document_id: str
    document: DocumentVersion | None = None
    chunks: tuple[ChunkRef, ...] = ()
    cause_type: str = Field(description="the event that could not be handled")
    error_type: str
    message: str = Field(max_length=2000)
    attempt: int = Field(ge=1)
    retry_may_help: bool

    @property
    def about(self) -> str:
        return self.document_id

    @property
    def ordinal(self) -> int:
        return self.chunks[0].order if self.chunks else 0


class GraphEdited(Event):
    """A human or a client changed the graph."""

    operation: Literal[
        "create_entity", "edit_entity", "rename_entity", "merge_entities", "delete_entity",
        "create_relation", "edit_relation", "delete_relation",
    ]  # fmt: skip
    names: tuple[str, ...] = Field(min_length=1, description="entities, or the two ends of a relation")
    target: str | None = Field(default=None, description="new name, or entity to merge into")
    values: dict[str, Any] = {}
    editor: str = ""

    @property
    def about(self) -> str:
        return "_graph"


class RetryRequested(Event):
    """A failed document, or one of its chunks, is to be tried again."""

    document_id: str
    stage: Stage | None = None
    chunk_id: str | None = None

    @property
    def about(self) -> str:
        return self.document_id


EVENTS: dict[str, type[Event]] = {
    event.type_name(): event
    for event in (
        DocumentAdded,
        DocumentDeleted,
        ChunksCreated,
        EntitiesExtracted,
        GraphMerged,
        DescriptionSummarized,
        VectorsIndexed,
        StageFailed,
        GraphEdited,
        RetryRequested,
    )
}
"""Every event of the system by name."""
