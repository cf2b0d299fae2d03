"""Likeness to a question: compared again and again it is fetched once; indexed anew it is fetched
anew.
"""

from collections.abc import Collection, Sequence

import pytest

from contracts.events import VectorsIndexed
from contracts.graph import Partition, VectorKind, VectorRow
from contracts.ids import chunk_id, chunk_vector_id
from contracts.values import ChunkRef
from runtime.bus.memory import MemoryLog
from runtime.stores.vectors.memory import MemoryVectors
from services.query.retrieval.caches import whole_vectors
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from tests.support.events import document, sealed

SPACE = Partition("w", 1)
ASKED = (1.0, 0.0)
EAST = (1.0, 0.0)
NORTH = (0.0, 1.0)


class CountingVectors(MemoryVectors):
    """Notes what is compared here and what is fetched."""

    def __init__(self) -> None:
        super().__init__("model", 2)
        self.compared: list[list[str]] = []
        self.fetched: list[list[str]] = []
        self.is_warm = False

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """As a store that has them in memory itself."""
        self.is_warm = True
        return True

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """Also counts."""
        self.compared.append(sorted(ids))
        rows = await super().get(partition, kind, ids, vectors=True)
        return {id: row.vector[0] for id, row in rows.items()}

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """Also counts."""
        self.fetched.append(sorted(ids))
        return await super().get(partition, kind, ids, vectors=vectors)


class Harness:
    """Vectors that change as the indexer changes them: first the store, then the log."""

    def __init__(self, max_bytes: int = 2**20) -> None:
        self.vectors, self.log = CountingVectors(), MemoryLog()
        self.cache = ProjectionCache(self.log, max_bytes)
        self.reader = CachedVectors(self.vectors, self.cache)
        self.written = 0

    async def put(self, name: str, *vectors: tuple[float, float]) -> None:
        self.written += 1
        rows = [
            VectorRow(
                chunk_vector_id(name, order),
                "text",
                f"{self.written}",
                vector=vector,
                names=(name,),
                order=order,
            )
            for order, vector in enumerate(vectors)
        ]
        await self.vectors.put(SPACE, "chunks", rows)
        chunks = tuple(
            ChunkRef(id=chunk_id(name, order), order=order) for order in range(len(vectors))
        )
        event = VectorsIndexed(
            document=document(name),
            kind="chunks",
            chunks=chunks,
            embedded=len(rows),
            model="model",
            dimension=2,
        )
        await self.log.publish(sealed(event, id=f"event-{self.written}", workspace="w"))

    async def likeness(self, *chunks: str) -> dict[str, float]:
        await self.cache.refresh(SPACE)
        return await self.reader.similarities(SPACE, chunks, ASKED)


A = chunk_id("a", 0)
B = chunk_id("b", 0)
NONE = chunk_id("none", 0)
ID_A = chunk_vector_id("a", 0)
ID_B = chunk_vector_id("b", 0)
ID_NONE = chunk_vector_id("none", 0)


async def test_a_vector_is_fetched_when_it_is_compared_for_the_second_time() -> None:
    harness = Harness()
    await harness.put("a", EAST)
    await harness.put("b", NORTH)
    for _ in range(4):
        assert await harness.likeness(A, NONE) == {A: 1.0}
    assert await harness.likeness(A, B) == {A: 1.0, B: 0.0}
    assert harness.vectors.compared == [sorted([ID_A, ID_NONE]), [ID_B]]
    assert harness.vectors.fetched == [sorted([ID_A, ID_NONE])]


async def test_vectors_that_the_store_has_in_memory_are_compared_there_and_never_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(whole_vectors, "MAX_ROWS", 1)
    harness = Harness()
    await harness.put("a", EAST)
    await harness.put("b", NORTH)
    await harness.cache.refresh(SPACE)
    await harness.reader.renew(SPACE)
    assert harness.vectors.is_warm
    for _ in range(3):
        assert await harness.likeness(A, B) == {A: 1.0, B: 0.0}
    assert harness.vectors.compared == [sorted([ID_A, ID_B])] * 3
    assert harness.vectors.fetched == []


async def test_what_is_indexed_anew_is_compared_anew_and_nothing_else() -> None:
    harness = Harness()
    await harness.put("a", EAST)
    await harness.put("b", NORTH)
    for _ in range(2):
        assert await harness.likeness(A, B, NONE) == {A: 1.0, B: 0.0}
    await harness.put("a", NORTH)
    for _ in range(3):
        assert await harness.likeness(A, B, NONE) == {A: 0.0, B: 0.0}
    await harness.put("none", EAST)
    for _ in range(3):
        assert await harness.likeness(A, B, NONE) == {A: 0.0, B: 0.0, NONE: 1.0}
    assert harness.vectors.compared[1:] == harness.vectors.fetched[1:] == [[ID_A], [ID_NONE]]


@pytest.mark.parametrize("chunks", [(), ("no chunk's id",)])
async def test_nothing_to_compare_asks_nobody(chunks: tuple[str, ...]) -> None:
    harness = Harness()
    assert await harness.likeness(*chunks) == {}
    assert harness.vectors.compared == harness.vectors.fetched == []


async def test_without_room_the_store_always_compares() -> None:
    harness = Harness(max_bytes=0)
    await harness.put("a", EAST)
    for _ in range(3):
        assert await harness.likeness(A) == {A: 1.0}
    assert harness.vectors.compared == [[ID_A]] * 3
    assert harness.vectors.fetched == []


async def test_where_there_is_no_room_for_all_the_store_compares_every_second_time_at_least() -> (
    None
):
    harness = Harness(max_bytes=600)  # one vector
    await harness.put("a", EAST)
    await harness.put("b", NORTH)
    for _ in range(4):
        assert await harness.likeness(A) == {A: 1.0}
        assert await harness.likeness(B) == {B: 0.0}
    assert harness.vectors.compared == [[ID_A], [ID_B]] * 2
    assert harness.vectors.fetched == [[ID_A], [ID_B], [ID_A]]
