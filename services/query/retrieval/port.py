"""Ports of retrieval, beside the graph and vector stores."""

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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


class WordVectors(Protocol):
    """Vectors of single words, of length 1. They are cached, because the same words are frequent."""

    def known(self, words: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those words that are cached."""
        ...

    def store(self, words: Sequence[str], vectors: Sequence[Vector]) -> None:
        """Cache vectors that the caller has embedded."""
        ...

    async def embed(self, words: Sequence[str]) -> None:
        """Embed words and cache their vectors. Raises what `Embedder.embed` raises."""
        ...

    def request(self, words: Sequence[str]) -> None:
        """Embed words in the background, for later questions."""
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

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """See `Graph.degrees`."""
        ...

    async def neighbourhood(self, partition: Partition, names: Collection[str], *, limit: int) -> Neighbourhood:
        """See `Graph.neighbourhood`."""
        ...


class ProvenanceReader(Protocol):
    """Reads the contributions of single chunks to an entity or relation; see `services.query.adapters.provenance`."""

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """Return up to `limit` contributions after the key `after`, only those of the documents `among` if given."""
        ...


class EntityNames(Protocol):
    """Indexes of all entity names of each workspace, for linking texts."""

    async def of(self, partitions: Partitions) -> NameIndex:
        """Return the index of this workspace; empty if the workspace has too many names. Raises `Unavailable`."""
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
        """Return at most `top_n` with scores, the best first; after a failure all in their order, without scores."""
        ...
