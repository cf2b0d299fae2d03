"""What happens to the graph and to the index of its vectors."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from contracts.events.base import Event
from contracts.graph_edits import EditedValues, GraphOperation, check_operation
from contracts.ids import sha256
from contracts.values import (
    ChunkRef,
    DocumentVersion,
    DocumentWarnings,
    EntityRevision,
    RelationRevision,
    TokenUsage,
)

GRAPH = "_graph"
SUMMARY_PREFIX = "_sum-"
"""Aggregate ids of events that no document caused: the graph, and prefix of the summaries of one
entity or relation.
"""


class GraphMerged(Event):
    """These entities and relations changed. Keys and revisions only: texts can be erased."""

    document: DocumentVersion | None = None
    chunks: tuple[ChunkRef, ...]
    entities: tuple[EntityRevision, ...]
    relations: tuple[RelationRevision, ...]
    part: int = Field(
        default=0,
        ge=0,
        description="of what one cause changed; only a deletion or an edit has several",
    )
    parts: int = Field(default=1, ge=1)
    generation: int = Field(
        default=0, ge=0, description="of the graph that the revisions count changes of; 0: not said"
    )

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

    key: tuple[str, ...] = Field(
        min_length=1, max_length=2, description="one name, or the two names of a relation"
    )
    inputs_hash: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="sha256 over the key and the texts it stands for"
    )
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
    usage: TokenUsage = Field(default=TokenUsage(), description="of the texts that were not cached")
    model: str
    dimension: int
    warnings: DocumentWarnings = ()

    @property
    def aggregate_id(self) -> str:
        return self.document.id if self.document else GRAPH


class GraphEdited(Event):
    """A person or a client changed the graph. It stands over what documents say, and outlives them.

    Deleting hides what the log says until then; a later document may speak of the thing anew.
    Renaming and merging hold for later documents too. Of the decisions on one alias the last
    counts; undone, it is as if never accepted. Any other edit is taken back by `undo_edit`, and so
    is such an undoing: the graph is as if it had never been made. A split lets a name mean another
    thing in some documents, whatever versions of them come later.
    """

    version: ClassVar[int] = 4

    operation: GraphOperation
    names: tuple[str, ...] = Field(
        min_length=1, max_length=1000, description="entities, or the two ends of a relation"
    )
    target: str | None = Field(
        default=None, min_length=1, description="new name, or entity that the names mean"
    )
    values: EditedValues = EditedValues()
    editor: str = ""
    proposed_by: str = Field(
        default="", max_length=256, description="of an alias: `rule:<name>` or `model:<name>`"
    )
    evidence: str = Field(
        default="", max_length=2000, description="why: of an alias, that the name means the entity"
    )
    undoes: int | None = Field(
        default=None,
        ge=1,
        description="of `undo_edit`: log sequence of the edit, whose names and target are here too",
    )
    documents: tuple[str, ...] = Field(
        default=(),
        max_length=1000,
        description="of `split_entity`: ids of those in which the name means the target",
    )

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        check_operation(self.operation, self.names, self.target)
        if (self.operation == "split_entity") != bool(self.documents):
            raise ValueError("`documents` belongs to split_entity")
        if (self.operation == "undo_edit") != (self.undoes is not None):
            raise ValueError("`undoes` belongs to undo_edit")
        return self

    @property
    def aggregate_id(self) -> str:
        return GRAPH
