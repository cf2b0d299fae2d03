"""What the query service needs of the outside, beside graph and vectors."""

from collections.abc import Collection, Sequence
from typing import Protocol

from contracts.graph import Entity, Partition, Provenance, Relation
from runtime.models.port import Vector
from runtime.stores.graph.port import Neighbourhood, RelationSummary
from services.query.passage import Passage
from services.query.question import Keywords
from services.query.retrieval.linking import NameIndex
from services.query.spaces import Spaces


class CacheInvalidation(Protocol):
    """Of what may be remembered of the projections, by `GraphReader` and `ChunkSimilarities`."""

    async def refresh(self, *spaces: Partition) -> None:
        """From now on show nothing older than what the log says of these spaces at this moment."""
        ...


class ChunkSimilarities(Protocol):
    """How like passages are to a question. Their vectors may be remembered."""

    async def similarities(self, space: Partition, chunks: Collection[str], asked: Vector) -> dict[str, float]:
        """The cosine similarity of those of these chunks that have a vector; no call where there are none."""
        ...


class GraphReader(Protocol):
    """What questions read of the graph store. It may be remembered."""

    async def entities(self, space: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        ...

    async def relations(self, space: Partition, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        ...

    async def relation_summaries(
        self, space: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`."""
        ...

    async def neighbourhood(self, space: Partition, names: Collection[str], *, limit: int) -> Neighbourhood:
        """See `Graph.neighbourhood`."""
        ...


class ProvenanceReader(Protocol):
    """What single chunks say of an entity or relation; see `services.query.adapters.provenance`."""

    async def of(
        self,
        space: Partition,
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

    async def of(self, spaces: Spaces) -> NameIndex:
        """Those of this workspace and no other. Empty where there are more than are kept. Raises `Unavailable`."""
        ...


class KeywordExtractor(Protocol):
    """What a question is about. Raises what `Chat` raises."""

    async def extract(self, workspace: str, question: str) -> Keywords:
        """None found: both lists empty."""
        ...


class PassageReranker(Protocol):
    """A model that judges how well passages answer a question."""

    async def rerank(
        self, question: str, passages: Sequence[Passage], top_n: int
    ) -> Sequence[tuple[Passage, float | None]]:
        """At most `top_n` with scores, the best first. On a failure all of them in their order, without scores."""
        ...
