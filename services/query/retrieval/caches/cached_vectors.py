"""How like passages are to a question, by vectors that questions compared before.

A vector is fetched when its passage is to be compared for the second time: passages of hubs are compared with nearly
every question, and most others once. Until then the vector store compares, which costs less than giving vectors away.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts.events import VectorsIndexed
from contracts.graph import Partition
from contracts.ids import chunk_place, chunk_vector_id
from runtime.models.port import Vector
from runtime.stores.vectors.fields import similarities, single_precision
from runtime.stores.vectors.port import Vectors
from services.query.retrieval.caches.invalidation import ProjectionCache

MAX_SEEN = 100_000
"""Passages of which it is known that they were compared once, before all of that is forgotten; about 20 MB."""

KIND = ("vector",)


class CachedVectors:
    """The port `ChunkSimilarities` over the vector store."""

    def __init__(self, vectors: Vectors, kept: ProjectionCache) -> None:
        self._vectors, self._cache = vectors, kept
        self._seen: defaultdict[Partition, set[str]] = defaultdict(set)
        kept.subscribe(VectorsIndexed.type_name(), _changed_keys)

    async def similarities(self, partition: Partition, chunks: Collection[str], asked: Vector) -> dict[str, float]:
        """See `ChunkSimilarities.similarities`."""
        ids = {chunk_vector_id(*place): chunk for chunk in sorted(chunks) if (place := chunk_place(chunk))}
        often, seldom = self._sorted(partition, ids)
        compared, known = await asyncio.gather(self._compared(partition, seldom, asked), self._known(partition, often))
        scores = similarities(list(known.values()), single_precision(asked, self._vectors.dimension, "the question"))
        return {ids[id]: score for id, score in (compared | dict(zip(known, scores, strict=True))).items()}

    def _sorted(self, partition: Partition, ids: Collection[str]) -> tuple[list[str], list[str]]:
        """Those whose vectors are kept, or were compared once since they were; and the others."""
        if not self._cache.is_current(partition):
            return [], list(ids)
        if sum(map(len, self._seen.values())) > MAX_SEEN:
            self._seen.clear()
        seen = self._seen[partition]
        once = self._cache.cached_keys(partition, KIND, ids) | (seen & set(ids))
        often, seldom = [id for id in ids if id in once], [id for id in ids if id not in once]
        # Where there is no room for all, one that had to go is compared once again before it is fetched again.
        seen.difference_update(often)
        seen.update(seldom)
        return often, seldom

    async def _compared(self, partition: Partition, ids: Sequence[str], asked: Vector) -> dict[str, float]:
        return await self._vectors.likeness(partition, "chunks", asked, ids) if ids else {}

    async def _known(self, partition: Partition, ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        async def read(new: Collection[str]) -> dict[str, NDArray[np.float32]]:
            rows = await self._vectors.get(partition, "chunks", new, vectors=True)
            return {id: np.array(row.vector, np.float32) for id, row in rows.items()}

        return await self._cache.get_or_read(partition, KIND, ids, read) if ids else {}


def _changed_keys(event: VectorsIndexed) -> Iterator[tuple[Any, ...]]:
    """Rows of a document that is deleted, or ends earlier now, are named by nobody: whoever compares them finds no
    passage of theirs.
    """
    if event.kind == "chunks" and event.document:
        for chunk in event.chunks:
            yield *KIND, chunk_vector_id(event.document.id, chunk.order)
