"""Vectors that questions compare themselves with: all of a kind where they are few, else those
compared before.

Where they are many, the vector of a passage is fetched when it is to be compared for the second
time: passages of hubs are compared with nearly every question, and most others once. Until then the
vector store compares, which costs less than giving vectors away.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts.events import VectorsIndexed
from contracts.graph import Hit, Partition, VectorKind
from contracts.ids import chunk_place, chunk_vector_id
from runtime.models.port import Vector
from runtime.stores.vectors.fields import similarities, single_precision
from runtime.stores.vectors.port import Vectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.whole_vectors import KIND as WHOLE
from services.query.retrieval.caches.whole_vectors import WholeVectors

MAX_SEEN = 100_000
"""Passages of which it is known that they were compared once, before all of that is forgotten;
about 20 MB.
"""

KIND = ("vector",)


class CachedVectors:
    """The port `VectorReader` over the vector store."""

    def __init__(self, vectors: Vectors, kept: ProjectionCache) -> None:
        self._vectors, self._cache, self._whole = vectors, kept, WholeVectors(vectors, kept)
        self._seen: defaultdict[Partition, set[str]] = defaultdict(set)
        kept.subscribe(VectorsIndexed.type_name(), _changed_keys)

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
        """See `Vectors.search`. The store searches while not all vectors are cached, and where
        documents are named.
        """
        if documents is None:
            if matrix := self._whole.cached(partition, kind):
                return [
                    hit
                    for hit in matrix.nearest(self._direction(vector), top_k)
                    if hit.score > min_score
                ]
            self._whole.missed(partition, kind)
        return await self._vectors.search(
            partition, kind, vector, top_k=top_k, min_score=min_score, documents=documents
        )

    async def similarities(
        self, partition: Partition, chunks: Collection[str], asked: Vector
    ) -> dict[str, float]:
        """See `VectorReader.similarities`."""
        ids = {
            chunk_vector_id(*place): chunk
            for chunk in sorted(chunks)
            if (place := chunk_place(chunk))
        }
        if matrix := self._whole.cached(partition, "chunks"):
            scores_by_id = matrix.similarities(ids, self._direction(asked))
            return {ids[id]: score for id, score in scores_by_id.items()}
        often, seldom = self._sorted(partition, ids)
        compared, known = await asyncio.gather(
            self._compared(partition, seldom, asked), self._known(partition, often)
        )
        scores = similarities(list(known.values()), self._direction(asked))
        return {
            ids[id]: score
            for id, score in (compared | dict(zip(known, scores, strict=True))).items()
        }

    async def close(self) -> None:
        """End what is being read."""
        await self._whole.close()

    def _direction(self, asked: Vector) -> NDArray[np.float32]:
        return single_precision(asked, self._vectors.dimension, "the question")

    def _sorted(self, partition: Partition, ids: Collection[str]) -> tuple[list[str], list[str]]:
        """Those whose vectors are kept, or were compared once since they were; and the others."""
        if not self._cache.is_current(partition):
            return [], list(ids)
        if sum(map(len, self._seen.values())) > MAX_SEEN:
            self._seen.clear()
        seen = self._seen[partition]
        once = self._cache.cached_keys(partition, KIND, ids) | (seen & set(ids))
        often, seldom = [id for id in ids if id in once], [id for id in ids if id not in once]
        # Where there is no room for all, one that had to go is compared once again before it is
        # fetched again.
        seen.difference_update(often)
        seen.update(seldom)
        return often, seldom

    async def _compared(
        self, partition: Partition, ids: Sequence[str], asked: Vector
    ) -> dict[str, float]:
        return await self._vectors.likeness(partition, "chunks", asked, ids) if ids else {}

    async def _known(
        self, partition: Partition, ids: Sequence[str]
    ) -> Mapping[str, NDArray[np.float32]]:
        async def read(new: Collection[str]) -> dict[str, NDArray[np.float32]]:
            rows = await self._vectors.get(partition, "chunks", new, vectors=True)
            return {id: np.array(row.vector, np.float32) for id, row in rows.items()}

        return await self._cache.get_or_read(partition, KIND, ids, read) if ids else {}


def _changed_keys(event: VectorsIndexed) -> Iterator[tuple[Any, ...]]:
    """Name all vectors of the kind that changed, and the passages.

    Passages of a document that is deleted, or ends earlier now, are named by nobody: whoever
    compares them finds none.
    """
    for kind in ("chunks",) if event.kind == "chunks" else ("entities", "relations"):
        yield *WHOLE, kind
    if event.kind == "chunks" and event.document:
        for chunk in event.chunks:
            yield *KIND, chunk_vector_id(event.document.id, chunk.order)
