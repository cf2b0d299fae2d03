"""What the query service needs of the outside, beside graph and vectors."""

from collections.abc import Collection, Sequence
from typing import Protocol

from contracts.graph import Entity, Partition, Provenance, Relation
from runtime.models.port import Vector
from runtime.stores.graph.port import Neighbourhood, RelationSummary
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords
from services.query.retrieval.linking import NameIndex


class CacheInvalidation(Protocol):
    """Keeps what `GraphReader` and `ChunkSimilarities` cache of the projections no older than the log."""

    async def refresh(self, *partitions: Partition) -> None:
        """Invalidate every entry older than what the log says of these partitions at this moment."""
        ...


class ChunkSimilarities(Protocol):
    """Similarity of chunks to a question. Vectors of chunks may be cached."""

    async def similarities(self, partition: Partition, chunks: Collection[str], asked: Vector) -> dict[str, float]:
        """Return the cosine similarity, -1 to 1, of each of these chunks that has a vector."""
        ...


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

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`."""
        ...

    async def neighbourhood(self, partition: Partition, names: Collection[str], *, limit: int) -> Neighbourhood:
        """See `Graph.neighbourhood`."""
        ...


class ProvenanceReader(Protocol):
    """What single chunks say of an entity or relation; see `services.query.adapters.provenance`."""

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """Up to `limit` supports, in these documents only where `among` names some."""
        ...


class EntityNames(Protocol):
    """The names of every entity of a workspace, to be found in texts."""

    async def of(self, partitions: Partitions) -> NameIndex:
        """Those of this workspace and no other. Empty where there are more than are kept. Raises `Unavailable`."""
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
        """At most `top_n` with scores, the best first. On a failure all of them in their order, without scores."""
        ...
