"""Vectors that questions compare themselves with: all of a kind where they are few, else those
compared before.

Where they are many, the vector of a passage is fetched when it is to be compared for the second
time: passages of hubs are compared with nearly every question, and most others once. Until then the
vector store compares, which costs less than giving vectors away.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts.events import VectorsIndexed
from contracts.graph import VECTOR_KINDS, Hit, Partition, VectorKind
from contracts.ids import chunk_place, chunk_vector_id
from runtime.models.port import Vector
from runtime.stores.vectors.fields import FILTERED_DOCUMENTS, similarities, single_precision
from runtime.stores.vectors.port import Vectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.vector_matrix import VectorMatrix
from services.query.retrieval.caches.whole_vectors import KIND as WHOLE
from services.query.retrieval.caches.whole_vectors import WholeVectors

MAX_COMPARED = 100_000
"""Ids of passages that were compared once, before all of them are dropped; about 20 MB."""

KIND = ("vector",)

CHUNKS_WITH_IDS = 50_000
"""Chunks whose ids in the vector store are remembered, which are hashes; about 10 MB."""

WIDENING = 4
"""How many times more hits are looked at where too few are of the documents of a search."""


class CachedVectors:
    """The port `VectorReader` over the vector store."""

    def __init__(self, vectors: Vectors, cache: ProjectionCache) -> None:
        self._vectors = vectors
        self._cache = cache
        self._whole = WholeVectors(vectors, cache)
        self._compared_once: defaultdict[Partition, set[str]] = defaultdict(set)
        cache.subscribe(VectorsIndexed.type_name(), _changed_keys)

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
        """See `Vectors.search`. The store searches while not all vectors are cached, and where few
        documents are named.
        """
        if documents is None or len(documents) > FILTERED_DOCUMENTS:
            matrix = self._whole.cached(partition, kind)
            if matrix is not None:
                return _nearest(matrix, self._direction(vector), top_k, min_score, documents)
            self._whole.count_miss(partition, kind)
        return await self._vectors.search(
            partition, kind, vector, top_k=top_k, min_score=min_score, documents=documents
        )

    async def similarities(
        self, partition: Partition, chunks: Collection[str], question_vector: Vector
    ) -> dict[str, float]:
        """See `VectorReader.similarities`."""
        chunk_by_id = {id: chunk for chunk in sorted(chunks) if (id := _vector_id(chunk))}
        matrix = self._whole.cached(partition, "chunks")
        if matrix is not None:
            scores = matrix.similarities(chunk_by_id, self._direction(question_vector))
        else:
            scores = await self._similarities(partition, chunk_by_id, question_vector)
        return {chunk_by_id[id]: score for id, score in scores.items()}

    async def renew(self, partition: Partition) -> None:
        """Read the vectors of each kind that may be cached whole and is not."""
        for kind in VECTOR_KINDS:
            await self._whole.renew(partition, kind)

    async def close(self) -> None:
        """End what is being read."""
        await self._whole.close()

    def _direction(self, vector: Vector) -> NDArray[np.float32]:
        """Return (dimension,) of a question's vector."""
        return single_precision(vector, self._vectors.dimension, "the question")

    async def _similarities(
        self, partition: Partition, ids: Collection[str], question_vector: Vector
    ) -> dict[str, float]:
        """Return the similarity of each that exists, by id: of vectors that are cached or worth it
        computed here, of the others by the store.
        """
        often, seldom = self._split_by_use(partition, ids)
        scores, vectors = await asyncio.gather(
            self._scores_by_store(partition, seldom, question_vector),
            self._cached_vectors(partition, often),
        )
        own_scores = similarities(list(vectors.values()), self._direction(question_vector))
        return scores | dict(zip(vectors, own_scores, strict=True))

    def _split_by_use(
        self, partition: Partition, ids: Collection[str]
    ) -> tuple[list[str], list[str]]:
        """Return those whose vectors are cached, or that were compared once since they were; and
        the others.
        """
        by_store = self._whole.are_compared_by_store(partition)
        if by_store or not self._cache.is_current(partition):
            return [], list(ids)
        if sum(len(ids_once) for ids_once in self._compared_once.values()) > MAX_COMPARED:
            self._compared_once.clear()
        compared_ids = self._compared_once[partition]
        cached_ids = self._cache.cached_keys(partition, KIND, ids)
        often: list[str] = []
        seldom: list[str] = []
        for id in ids:
            is_often = id in cached_ids or id in compared_ids
            (often if is_often else seldom).append(id)
        # Where there is no room for all, an evicted vector is compared once again by the store
        # before it is fetched again.
        compared_ids.difference_update(often)
        compared_ids.update(seldom)
        return often, seldom

    async def _scores_by_store(
        self, partition: Partition, ids: Sequence[str], question_vector: Vector
    ) -> dict[str, float]:
        if not ids:
            return {}
        return await self._vectors.likeness(partition, "chunks", question_vector, ids)

    async def _cached_vectors(
        self, partition: Partition, ids: Sequence[str]
    ) -> Mapping[str, NDArray[np.float32]]:
        """Return the vectors, (dimension,) each, read where they are not cached."""

        async def read(absent_names: Collection[str]) -> dict[str, NDArray[np.float32]]:
            rows = await self._vectors.get(partition, "chunks", absent_names, vectors=True)
            return {id: np.array(row.vector, np.float32) for id, row in rows.items()}

        if not ids:
            return {}
        return await self._cache.get_or_read(partition, KIND, ids, read)


def _nearest(
    matrix: VectorMatrix,
    direction: NDArray[np.float32],
    top_k: int,
    min_score: float,
    documents: Collection[str] | None,
) -> list[Hit]:
    """Return the nearest, of these documents if any are named: of more and more hits until there
    are enough.
    """
    count = top_k
    while True:
        hits = matrix.nearest(direction, count)
        near = [hit for hit in hits if hit.score > min_score]
        is_last = len(hits) < count or len(near) < len(hits)
        if documents is not None:
            near = [hit for hit in near if _document_of(hit) in documents]
        if documents is None or is_last or len(near) >= top_k:
            return near[:top_k]
        count *= WIDENING


@lru_cache(maxsize=CHUNKS_WITH_IDS)
def _vector_id(chunk: str) -> str:
    """Return the id of a chunk's vector; nothing for a text that is no chunk's id."""
    place = chunk_place(chunk)
    return chunk_vector_id(*place) if place else ""


def _document_of(hit: Hit) -> str:
    """Return the document of the chunk that was found."""
    place = chunk_place(hit.names[0])
    return place[0] if place else ""


def _changed_keys(event: VectorsIndexed) -> Iterator[tuple[Any, ...]]:
    """Name all vectors of the kind that changed, and the passages.

    Passages of a document that is deleted, or ends earlier now, are named by no event: a question
    that compares them gets no score from the store.
    """
    if event.kind != "chunks":
        yield *WHOLE, "entities"
        yield *WHOLE, "relations"
        return
    yield *WHOLE, "chunks"
    if event.document:
        for chunk in event.chunks:
            yield *KIND, chunk_vector_id(event.document.id, chunk.order)
