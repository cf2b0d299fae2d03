"""The shapes that merger, indexer and query share: where a projection lives, a node, an edge, a
vector row.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from contracts.ids import origin_of, pair

T = TypeVar("T")

Projection = Literal["status", "graph", "vectors"]
PROJECTIONS: tuple[Projection, ...] = ("status", "graph", "vectors")
VectorKind = Literal["chunks", "entities", "relations"]
VECTOR_KINDS: tuple[VectorKind, ...] = ("chunks", "entities", "relations")

UNKNOWN_TYPE = "UNKNOWN"
"""Type of an entity that only relations name."""


def of_origin(values: Mapping[str, T], workspace: str) -> T | None:
    """Return the value of a workspace; for a branch, that of its origin."""
    return values.get(origin_of(workspace) or workspace)


@dataclass(frozen=True)
class Generations:
    """Which generation of each projection to use: the live ones, or those a rebuild is filling."""

    status: int = 1
    graph: int = 1
    vectors: int = 1
    own_vectors: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """Generations of vectors of workspaces that have an embedding model of their own."""

    def of_workspace(self, workspace: str) -> "Generations":
        """Return the same, with the generation of vectors that this workspace has."""
        own_generation = of_origin(self.own_vectors, workspace)
        return self if own_generation is None else replace(self, vectors=own_generation)

    def of(self, projection: Projection) -> int:
        """Return the generation of one projection."""
        return {"status": self.status, "graph": self.graph, "vectors": self.vectors}[projection]

    def having(self, projection: Projection, generation: int) -> "Generations":
        """Return the same, with another generation of one projection."""
        return replace(self, **{projection: generation})


@dataclass(frozen=True)
class Partition:
    """One workspace in one generation: the beginning of every store key."""

    workspace: str
    generation: int


@dataclass(frozen=True)
class DocumentBounds:
    """The number of chunks of a document's newest version, and how many of them are of its text;
    None: all. Older chunks behind the text are obsolete, also where a figure has no description
    yet.

    A deletion has a `count` of 0.
    """

    version: int
    count: int
    text_count: int | None = None

    @property
    def end(self) -> int:
        """Return the order from which on older chunks are obsolete."""
        return self.count if self.text_count is None else self.text_count

    def is_obsolete_chunk(self, order: int, version: int) -> bool:
        """Return whether a chunk of that order and version is no longer part of the document."""
        return order >= self.end and version < self.version

    def joined(self, bounds: "DocumentBounds") -> "DocumentBounds":
        """Return the bounds that follow from these and others of the document: those of the newer
        version. One version has more chunks once its figures are described later.
        """
        if bounds.version != self.version:
            return max(self, bounds, key=lambda candidate: candidate.version)
        count = max(self.count, bounds.count)
        end = min(self.end, bounds.end)
        return DocumentBounds(self.version, count, None if end == count else end)


@dataclass(frozen=True)
class Entity:
    """A node: the fold of what its chunks say."""

    name: str
    revision: int
    type: str = UNKNOWN_TYPE
    description: str = ""
    source_ids: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    support: int = 0
    """Chunks that name it; `source_ids` lists at most 200 of them."""
    created_at: int = 0
    """Unix seconds of the first document that named it."""
    is_gone: bool = False
    """A tombstone: nothing supports it any more. Readers never see one."""


@dataclass(frozen=True)
class Relation:
    """An edge between two entities, `source` ≤ `target`. It has no direction."""

    source: str
    target: str
    revision: int
    weight: float = 0.0
    keywords: tuple[str, ...] = ()
    description: str = ""
    source_ids: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    support: int = 0
    created_at: int = 0
    is_gone: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Return the sorted pair of names."""
        return pair(self.source, self.target)


@dataclass(frozen=True)
class Provenance:
    """One chunk that speaks for an entity or relation. Offsets and pages stand with the chunk's
    passage.
    """

    cursor: str
    """Where it stands among all of them: give it as `after` to read on."""
    names: tuple[str, ...]
    """As the document has them: people may have renamed the thing since."""
    chunk_id: str
    document_id: str
    order: int
    version: int
    """Of the document."""
    added_at: int
    """Microseconds since the epoch: the document's time."""
    file_path: str
    description: str
    type: str = ""
    """Of an entity."""


@dataclass(frozen=True)
class ChunkContribution:
    """What one chunk says of an entity (one name) or of a relation (two names, sorted), in the
    document's words.
    """

    names: tuple[str, ...]
    description: str
    type: str
    keywords: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class VectorRow:
    """What stands beside a vector: the text that was embedded and where it came from."""

    id: str
    text: str
    text_hash: str
    """SHA-256 of the text: equal means there is nothing to embed again."""
    version: int = 0
    """Chunks: the document's version. Entities and relations: their revision."""
    vector: Sequence[float] = field(default=(), repr=False)
    names: tuple[str, ...] = ()
    """The entity, or the two ends of the relation; empty for a chunk."""
    document_id: str = ""
    file_path: str = ""
    order: int = 0


@dataclass(frozen=True)
class EmbeddingModel:
    """What makes vectors comparable: the name an embedder gives itself, and how many numbers a
    vector has.
    """

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"

    @classmethod
    def named(cls, text: str) -> "EmbeddingModel | None":
        """Return the model that a text names as `str` writes it, None for any other text."""
        match = re.fullmatch(r"(.+) \(([0-9]+) dimensions\)", text, re.DOTALL)
        return cls(match[1], int(match[2])) if match else None


@dataclass(frozen=True)
class Hit:
    """A found row, by its id and what it stands for, and its cosine similarity: 1 for the same
    direction.
    """

    id: str
    names: tuple[str, ...]
    score: float
