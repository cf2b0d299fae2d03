"""The events of the system, the newest version of each.

A released field is never renamed, retyped or removed: that is a new `version`, with a step in
`upcast.py` that lifts the old one. A new optional field is compatible and needs neither.
"""

from typing import ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from contracts.ids import UNKNOWN_SOURCE, sha256
from contracts.values import (
    BlobRef,
    Chunk,
    Chunking,
    ChunkRef,
    CustomKnowledge,
    DocumentVersion,
    EditedValues,
    EntityRevision,
    ExtractedEntity,
    ExtractedRelation,
    GraphOperation,
    RelationRevision,
    Scalar,
    TokenUsage,
    Value,
    check_operation,
)

Stage = Literal["chunker", "extractor", "merger", "indexer", "query"]

GRAPH, SUMMARY_PREFIX = "_graph", "_sum-"
"""Aggregate ids of events that no document caused: the graph, and prefix of the summaries of one entity or relation."""


class Event(Value):
    """The body of one event."""

    version: ClassVar[int] = 1

    @classmethod
    def type_name(cls) -> str:
        """The event's name in subjects and file names: `DocumentAdded`."""
        return cls.__name__

    @property
    def aggregate_id(self) -> str:
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
    knowledge: CustomKnowledge | None = Field(
        default=None, description="instead of a text: what a text would have said"
    )
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
    def aggregate_id(self) -> str:
        return self.document_id


class DocumentDeleted(Event):
    """The document is to leave no trace."""

    document_id: str = Field(min_length=1, max_length=512)
    track_id: str | None = None

    @property
    def aggregate_id(self) -> str:
        return self.document_id


class DocumentCancelled(Event):
    """Work on this version of the document is to stop where it stands; a later version is worked on as usual.

    What was done by then stays and can be found, until the document is deleted or has a new version.
    """

    document: DocumentVersion
    editor: str = Field(default="", max_length=256, description="who asked for it")

    @property
    def aggregate_id(self) -> str:
        return self.document.id


class ChunksCreated(Event):
    """One part of a document's chunks."""

    document: DocumentVersion
    part: int = Field(ge=0)
    parts: int | None = Field(default=None, ge=1, description="how many there are; the last part says it at the latest")
    chunk_count: int | None = Field(default=None, ge=1, description="chunks of the whole document; likewise")
    chunks: tuple[Chunk, ...]

    @property
    def aggregate_id(self) -> str:
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
    def aggregate_id(self) -> str:
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
    def aggregate_id(self) -> str:
        return self.document.id if self.document else GRAPH

    @property
    def ordinal(self) -> int:
        return self.part


class DescriptionSummarized(Event):
    """A language model condensed what is said of one thing.

    Erasing what it read is done by key: these events of one key stand in a history of their own.
    """

    key: tuple[str, ...] = Field(min_length=1, max_length=2, description="one name, or the two names of a relation")
    inputs_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="sha256 over the key and the texts it stands for")
    prompt_version: str
    model: str
    text: str
    usage: TokenUsage = TokenUsage()

    @property
    def aggregate_id(self) -> str:
        return SUMMARY_PREFIX + sha256("\x1f".join(self.key))[:32]

    @property
    def ordinal(self) -> int:
        return int(self.inputs_hash[:12], 16)


class VectorsIndexed(Event):
    """These vectors can be searched."""

    document: DocumentVersion | None = None
    kind: Literal["chunks", "graph"]
    chunks: tuple[ChunkRef, ...]
    part: int = Field(default=0, ge=0, description="as in the GraphMerged it follows")
    parts: int = Field(default=1, ge=1)
    embedded: int = Field(description="texts that were embedded; unchanged ones are not")
    model: str
    dimension: int

    @property
    def aggregate_id(self) -> str:
        return self.document.id if self.document else GRAPH


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
    file_path: str = Field(default="", max_length=4096, description="of a document that could not be read, if it said")

    @property
    def aggregate_id(self) -> str:
        return self.document_id

    @property
    def of_graph(self) -> bool:
        """Whether what was given up is about the graph, not a document: an edit, a summary, or what follows of one."""
        if self.document or self.cause_type in DOCUMENT_EVENTS:
            return False
        is_graph_id = self.document_id == GRAPH or self.document_id.startswith(SUMMARY_PREFIX)
        return is_graph_id or self.cause_type in {"GraphEdited", "DescriptionSummarized"}

    @property
    def ordinal(self) -> int:
        return self.chunks[0].order if self.chunks else 0


class GraphEdited(Event):
    """A person or a client changed the graph. It stands over what documents say, and outlives them.

    Deleting hides what the log says until then; a later document may speak of the thing anew. Renaming and merging
    hold for later documents too. Of the decisions on one alias the last counts; undone, it is as if never accepted.
    """

    version: ClassVar[int] = 2

    operation: GraphOperation
    names: tuple[str, ...] = Field(min_length=1, max_length=1000, description="entities, or the two ends of a relation")
    target: str | None = Field(default=None, min_length=1, description="new name, or entity that the names mean")
    values: EditedValues = EditedValues()
    editor: str = ""
    proposed_by: str = Field(default="", max_length=256, description="of an alias: `rule:<name>` or `model:<name>`")
    evidence: str = Field(default="", max_length=2000, description="of an alias: why the name means the entity")

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        check_operation(self.operation, self.names, self.target)
        return self

    @property
    def aggregate_id(self) -> str:
        return GRAPH


class RetryRequested(Event):
    """A failed document, or one of its chunks, is to be tried again."""

    document_id: str
    stage: Stage | None = None
    chunk_id: str | None = None
    reason: str = Field(default="", max_length=1000, description="why, in words of who asked for it")

    @property
    def aggregate_id(self) -> str:
        return self.document_id


DOCUMENT_EVENTS = {"DocumentAdded", "DocumentDeleted", "ChunksCreated", "EntitiesExtracted", "RetryRequested"}
"""Events that are always about a document, whatever its id."""

_TYPES: tuple[type[Event], ...] = (
    DocumentAdded, DocumentDeleted, DocumentCancelled, ChunksCreated, EntitiesExtracted, GraphMerged,
    DescriptionSummarized, VectorsIndexed, StageFailed, GraphEdited, RetryRequested,
)  # fmt: skip
EVENTS = {event.type_name(): event for event in _TYPES}
"""Every event of the system by name."""
