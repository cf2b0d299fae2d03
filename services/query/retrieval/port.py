"""Ports of retrieval, beside the graph and vector stores."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from contracts.graph import (
    ChunkContribution,
    Entity,
    Hit,
    Partition,
    Relation,
    VectorKind,
)
from contracts.graph_edits import GraphOperation
from knowledge.contributions import Contribution
from runtime.models.port import Vector
from runtime.stores.graph.port import Neighbourhood, Node
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords
from services.query.retrieval.arrays import Integers
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.passage_words import PassageWords
from services.query.retrieval.ranking import Pair, RankedRelations
from services.query.visibility.contributions import Contributions


class CacheInvalidation(Protocol):
    """Keeps what `GraphReader` and `VectorReader` cache of the projections no older than the
    log.
    """

    async def refresh(self, *partitions: Partition) -> None:
        """Invalidate every entry older than what the log says of these partitions at this
        moment.
        """
        ...


class VectorReader(Protocol):
    """What questions ask of the vector store, possibly answered from a cache."""

    async def search(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: Vector,
        *,
        top_k: int,
        min_score: float = -1.0,
        documents: Collection[str] | None = None,
    ) -> list[Hit]:
        """See `Vectors.search`. It is as current as the last `CacheInvalidation.refresh`, which
        must come first.
        """
        ...

    async def similarities(
        self, partition: Partition, chunks: Collection[str], question_vector: Vector
    ) -> dict[str, float]:
        """Return the cosine similarity, -1 to 1, of each of these chunks that has a vector."""
        ...


@dataclass(frozen=True, slots=True)
class EntitySupports:
    """How many chunks name each of some entities, and the first of these. A walk asks for thousands
    of entities, and looks at the chunks of few.
    """

    counts: Integers
    """(entities,); 0 for one that does not exist"""
    chunks_of: Callable[[int], Sequence[str]]
    """Returns the first chunks of an entity by its place; none of one that does not exist."""

    @classmethod
    def of_nodes(cls, names: Sequence[str], nodes: Mapping[str, Node]) -> "EntitySupports":
        """Return those of these names as the nodes have them."""
        in_order = [nodes.get(name, _NO_NODE) for name in names]
        counts = np.array([node.support for node in in_order], np.int64)
        return cls(counts, lambda place: in_order[place].source_ids)


_NO_NODE = Node("")


class GraphReader(Protocol):
    """What questions read of the graph store, possibly from a cache."""

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        ...

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        ...

    async def ranked_relations(
        self,
        partition: Partition,
        names: Collection[str],
        *,
        limit: int,
        besides: Collection[Pair] = (),
    ) -> RankedRelations:
        """Return the first `limit` relations at these entities, as `rank_relations` ranks them, and
        how many there are in all with those of `besides`.

        Of an entity with more than 2,000 all are ranked where the graph is in memory, else the
        first 2,000 that the store has.
        """
        ...

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        """See `Graph.nodes`."""
        ...

    async def supports(self, partition: Partition, names: Sequence[str]) -> EntitySupports:
        """Return how many chunks name each of these entities, as `nodes` has them."""
        ...

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        """See `Graph.neighbourhood`. Its relations may lack their keywords."""
        ...


@dataclass(frozen=True)
class StoredChunk:
    """What a chunk contributes in its newest version; nothing where it is retracted."""

    chunk_id: str
    version: int
    contributions: tuple[Contribution, ...]


class StoredContributions(Protocol):
    """All contributions of a workspace to its graph, as the merger has them."""

    def chunks(self, partition: Partition) -> AsyncGenerator[StoredChunk]:
        """Yield each chunk that ever contributed, in a fixed order. Raises `Unavailable`."""
        ...


class ProvenanceReader(Contributions, Protocol):
    """Reads the contributions of single chunks; see `services.query.adapters.provenance`."""

    async def of_chunks(
        self, partition: Partition, chunks: Collection[str]
    ) -> dict[str, list[ChunkContribution]]:
        """Return by chunk id what these chunks say, in their documents' words; chunks that say
        nothing are left out.
        """
        ...


@dataclass(frozen=True)
class AliasEdit:
    """An edit of the graph that is about aliases; a merge is the acceptance of each of its
    names.
    """

    operation: GraphOperation
    names: tuple[str, ...]
    target: str
    at: int
    """Microseconds since 1970."""
    editor: str = ""
    proposed_by: str = ""
    evidence: str = ""


class EntityAliases(Protocol):
    """The other names of entities: those that people have renamed, merged or said to mean the same.

    All three raise `Unavailable`.
    """

    async def edits(self, partition: Partition) -> list[AliasEdit]:
        """Return the edits that are about aliases, in the order of the log."""
        ...

    async def of(self, partition: Partition) -> list[tuple[str, str]]:
        """Return pairs of another name and the entity's, sorted; of an entity that is gone, too."""
        ...

    async def changes(self, partition: Partition) -> int:
        """Return how often the graph was edited; it never decreases."""
        ...


class EntityNames(Protocol):
    """Indexes of all entity names of each workspace, for linking texts."""

    async def of(self, partitions: Partitions) -> NameIndex:
        """Return the index of this workspace; empty while it is made for the first time, and if the
        workspace has too many names. Raises `Unavailable`.
        """
        ...


class WarmCaches(Protocol):
    """What questions read of workspaces, as far as this process keeps it in memory."""

    def workspaces(self) -> Sequence[str]:
        """Return those that questions were asked in, the one asked last last."""
        ...

    async def follow(self, partitions: Partitions) -> None:
        """Read in the log what has changed, and nothing of it: a question has less of the log to
        read then.
        """
        ...

    async def warm(self, partitions: Partitions) -> None:
        """Read what questions of a workspace would read first, or has changed since. Raises
        `Unavailable`.
        """
        ...


class PassageReader(Protocol):
    """Reads the words of passages, as they are stored beside them, for the mode `walk`."""

    async def words(self, partition: Partition, ids: Collection[str]) -> list[PassageWords]:
        """Return the words of the existing passages among `ids`, each once. Raises
        `Unavailable`.
        """
        ...


class KeywordExtractor(Protocol):
    """Extracts the keywords of a question. Raises what `Chat` raises."""

    async def extract(self, workspace: str, question: str) -> Keywords:
        """Return high-level and low-level keywords; both are empty if there are none."""
        ...


class PassageReranker(Protocol):
    """A model that judges how well passages answer a question."""

    async def rerank(
        self, question: str, passages: Sequence[Passage], top_n: int
    ) -> Sequence[tuple[Passage, float | None]]:
        """Return at most `top_n` with scores from 0 to 1, the best first, and behind them those
        without a score.

        After a failure all are returned in their order, without scores.
        """
        ...
