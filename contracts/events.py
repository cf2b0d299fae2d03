"""The facts of the system, the newest version of each.

A released field is never renamed, retyped or removed: that is a new `version`, with a step in
`upcast.py` that lifts the old one. A new optional field is compatible and needs neither.
"""

from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from contracts.ids import UNKNOWN_SOURCE, sha256
from contracts.values import (
    BlobRef,
    Chunk,
    Chunking,
    ChunkRef,
    DocumentVersion,
    EntityRevision,
    ExtractedEntity,
    ExtractedRelation,
    Knowledge,
    RelationRevision,
    Scalar,
    TokenUsage,
    Value,
)

Stage = Literal["chunker", "extractor", "merger", "indexer", "query"]


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


class DocumentAdded(Event):
    """A document exists, or has a new text."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["blob"]}, {"required": ["knowledge"]}]}
    )

    document_id: str = Field(min_length=1, max_length=512)
    text: str | None = Field(default=None, description="inline; longer than 200 KiB goes to KB_BLOBS")
    blob: BlobRef | None = None
    knowledge: Knowledge | None = Field(default=None, description="instead of a text: what a text would have said")
    file_path: str = Field(default=UNKNOWN_SOURCE, max_length=4096)
    track_id: str | None = Field(default=None, max_length=256)
    metadata: dict[str, Scalar] = Field(default_factory=dict[str, Scalar])
    chunking: Chunking | None = None
    pages: tuple[int, ...] = Field(
        default=(), max_length=10_000, description="characters of the text as published at which its pages begin"
    )

    @model_validator(mode="after")
    def _exactly_one_text(self) -> Self:
        if (self.text, self.blob, self.knowledge).count(None) != 2:
            raise ValueError("give exactly one of `text`, `blob` and `knowledge`")
        if self.pages and (self.pages[0] < 0 or list(self.pages) != sorted(self.pages)):
            raise ValueError("`pages` must not be negative and must not go back")
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
    parts: int | None = Field(default=None, ge=1, description="how many there are; the last part says it at the latest")
    chunk_count: int | None = Field(default=None, ge=1, description="chunks of the whole document; likewise")
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

    document: DocumentVersion | None = None
    chunks: tuple[ChunkRef, ...]
    entities: tuple[EntityRevision, ...]
    relations: tuple[RelationRevision, ...]
    part: int = Field(default=0, ge=0, description="of what one cause changed; only a deletion or an edit has several")
    parts: int = Field(default=1, ge=1)

    @property
    def about(self) -> str:
        return self.document.id if self.document else "_graph"

    @property
    def ordinal(self) -> int:
        return self.part


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

    document: DocumentVersion | None = None
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
    values: dict[str, Any] = Field(default_factory=dict[str, Any])
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
