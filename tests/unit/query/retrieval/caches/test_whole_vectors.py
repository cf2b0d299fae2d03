"""All vectors of a kind are read once questions have searched them often; then none is searched by
the store.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest

from contracts.events import VectorsIndexed
from contracts.graph import Hit, Partition, VectorKind, VectorRow
from contracts.ids import chunk_id, chunk_vector_id, entity_vector_id
from contracts.values import ChunkRef
from runtime.bus.memory import MemoryLog
from runtime.stores.vectors.comparison import packed
from runtime.stores.vectors.memory import MemoryVectors
from runtime.stores.vectors.port import VectorPage
from services.query.retrieval.caches import whole_vectors
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.vector_matrix import OVERHEAD, VectorMatrix
from tests.support.events import document, sealed

SPACE = Partition("w", 1)
DIMENSION = 8
RANDOM = np.random.default_rng(0)


class CountingVectors(MemoryVectors):
    """Counts its calls; `meanwhile` happens once, after the first page of a scan."""

    def __init__(self) -> None:
        super().__init__("model", DIMENSION)
        self.calls = Counter[str]()
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    def __getattribute__(self, name: str) -> Any:
        if name in {"search", "likeness", "warm"}:
            self.calls[name] += 1
        return super().__getattribute__(name)

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        self.calls["scan"] += 1
        page = await super().scan_vectors(partition, kind, after, limit)
        if self.meanwhile:
            happens, self.meanwhile = self.meanwhile, None
            await happens()
        return page


def some_vectors(count: int) -> list[Sequence[float]]:
    """Vectors of half precision. A third stand twice, and the last is nothing: equal ones are
    ordered by id.
    """
    vectors = (8 * RANDOM.normal(size=(count - 1, DIMENSION))).round() / 8
    vectors[: count // 3] = vectors[count // 3 : 2 * (count // 3)]
    return [*vectors.tolist(), [0.0] * DIMENSION]


class Harness:
    """Vectors that change as the indexer changes them, and questions that are compared with
    them.
    """

    def __init__(self, max_bytes: int = 2**20) -> None:
        self.vectors = CountingVectors()
        self.log = MemoryLog()
        self.now = 100.0
        self.cache = ProjectionCache(self.log, max_bytes, lambda: self.now)
        self.reader = CachedVectors(self.vectors, self.cache)
        self.written = 0

    async def put(self, kind: VectorKind, names: Sequence[str]) -> None:
        self.written += 1

        def vector_id(name: str) -> str:
            return chunk_vector_id(name, 0) if kind == "chunks" else entity_vector_id(name)

        rows = [
            VectorRow(vector_id(name), name, f"{self.written}", vector=vector, names=(name,))
            for name, vector in zip(names, some_vectors(len(names)), strict=True)
        ]
        await self.vectors.put(SPACE, kind, rows)
        await self.publish("chunks" if kind == "chunks" else "graph")

    async def publish(self, kind: Any) -> None:
        self.written += 1
        event = VectorsIndexed(
            document=document("a"),
            kind=kind,
            chunks=(ChunkRef(id=chunk_id("a", 0), order=0),),
            embedded=1,
            model="model",
            dimension=DIMENSION,
        )
        await self.log.publish(sealed(event, id=f"event-{self.written}", workspace=SPACE.workspace))

    async def ask(self, kind: VectorKind = "entities", top_k: int = 9, **options: Any) -> bool:
        """Search as a question does, compare with the store's hits, and return whether the store
        was searched.
        """
        await self.cache.refresh(SPACE)
        vector = RANDOM.normal(size=DIMENSION).tolist()
        before = self.vectors.calls["search"]
        hits = await self.reader.search(SPACE, kind, vector, top_k=top_k, min_score=0.1, **options)
        was_searched = self.vectors.calls["search"] > before
        assert hits == await self.vectors.search(
            SPACE, kind, vector, top_k=top_k, min_score=0.1, **options
        )
        for misses in self.reader._whole._misses.values():  # pyright: ignore[reportPrivateUsage]
            if misses.attempt:
                await misses.attempt
        return was_searched

    async def asked(self, times: int, **options: Any) -> list[bool]:
        return [await self.ask(**options) for _ in range(times)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_vectors, "MIN_SEARCHES", 3)
    monkeypatch.setattr(whole_vectors, "ROWS_PER_SEARCH", 10)
    monkeypatch.setattr(whole_vectors, "PAGE_SIZE", 7)


NAMES = [f"n{number:02}" for number in range(40)]


@pytest.fixture
async def harness() -> Harness:
    result = Harness()
    await result.put("entities", NAMES)
    return result


async def test_after_some_searches_no_question_is_a_search_of_the_store(harness: Harness) -> None:
    assert await harness.asked(7) == [True] * 4 + [False] * 3
    assert [await harness.ask(top_k=top_k) for top_k in (0, 1, 2, 13, 14, 39, 40, 41, 100)] == [
        False
    ] * 9
    # Another kind is read by itself.
    assert await harness.ask("relations")


async def test_the_first_questions_do_not_pay_for_reading_many_vectors(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_vectors, "ROWS_PER_SEARCH", 2)
    await harness.asked(19)
    assert harness.vectors.calls["scan"] == 0
    # Reading forty costs as much as twenty searches.
    assert await harness.asked(3) == [True, False, False]


async def test_among_many_vectors_the_store_searches_for_every_question(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_vectors, "MAX_ROWS", len(NAMES) - 1)
    await harness.cache.refresh(SPACE)
    await harness.reader.renew(SPACE)
    calls = harness.vectors.calls.copy()
    assert await harness.asked(30) == [True] * 30
    further_calls = harness.vectors.calls - calls
    assert calls["warm"] == 1 and further_calls.keys() == {"search"}


async def test_what_changed_is_searched_by_the_store_until_that_cost_as_much_as_reading(
    harness: Harness,
) -> None:
    await harness.asked(4)
    await harness.put("entities", NAMES)
    assert await harness.asked(6) == [True] * 4 + [False] * 2
    # Passages are no entities.
    await harness.put("chunks", NAMES)
    assert not await harness.ask()


async def test_after_a_change_they_are_read_again_once_things_rest(harness: Harness) -> None:
    async def take_a_while() -> None:
        harness.now += 2.0

    harness.vectors.meanwhile = take_a_while
    await harness.asked(4)
    harness.now += 3600.0
    await harness.put("entities", NAMES)
    assert await harness.asked(2) == [True] * 2
    harness.now += whole_vectors.QUIET_SECONDS
    assert await harness.asked(2) == [True, False]
    # One that took two seconds is not followed by another one for forty.
    harness.vectors.meanwhile = take_a_while
    await harness.put("entities", NAMES)
    await harness.asked(4)
    await harness.put("entities", NAMES)
    assert await harness.ask()
    harness.now += 39.0
    assert await harness.asked(2) == [True] * 2
    harness.now += 1.0
    assert await harness.asked(2) == [True, False]


async def test_vectors_are_read_before_questions_and_of_many_kinds_again_for_those_who_ask(
    harness: Harness,
) -> None:
    async def renewed() -> None:
        await harness.cache.refresh(SPACE)
        await harness.reader.renew(SPACE)

    await harness.put("chunks", NAMES)
    await renewed()
    assert [await harness.ask("chunks"), await harness.ask()] == [False, False]
    for kind in ("chunks", "entities"):
        await harness.put(kind, NAMES)
    await renewed()
    scans = harness.vectors.calls["scan"]
    await renewed()
    assert harness.vectors.calls["scan"] == scans
    assert [await harness.ask("chunks"), await harness.ask()] == [False, True]
    await renewed()
    assert not await harness.ask()


async def test_one_kind_is_read_at_a_time(harness: Harness) -> None:
    running = 0
    peak = 0
    kinds = Counter[str]()
    scan = harness.vectors.scan_vectors

    async def counted(
        partition: Partition, kind: VectorKind, *arguments: Any, **options: Any
    ) -> VectorPage:
        nonlocal running, peak
        running, kinds[kind] = running + 1, kinds[kind] + 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        return await scan(partition, kind, *arguments, **options)

    harness.vectors.scan_vectors = counted
    await harness.put("relations", NAMES)
    await harness.put("chunks", NAMES)
    await harness.cache.refresh(SPACE)
    for kind in ("entities", "relations", "chunks") * 4:
        await harness.reader.search(SPACE, kind, some_vectors(2)[0], top_k=3)
    await harness.ask()  # which waits for what is being read
    assert not any([await harness.ask(kind) for kind in ("chunks", "relations", "entities")])
    assert peak == 1
    assert kinds.keys() == {"entities", "relations", "chunks"}


async def test_a_change_while_they_are_read_is_seen(harness: Harness) -> None:
    async def change() -> None:
        await harness.put("entities", NAMES)
        await harness.cache.refresh(SPACE)

    harness.vectors.meanwhile = change
    assert await harness.asked(8) == [True] * 8
    assert harness.vectors.meanwhile is None
    assert await harness.asked(2) == [False] * 2


async def test_questions_about_some_documents_are_searches_of_the_store(harness: Harness) -> None:
    await harness.put("chunks", NAMES)
    # They would gain nothing from reading all vectors.
    assert await harness.asked(4, kind="chunks", documents=NAMES[:5]) == [True] * 4
    assert harness.vectors.calls["scan"] == 0
    await harness.asked(5, kind="chunks")
    assert await harness.asked(2, kind="chunks", documents=NAMES[:5]) == [True] * 2
    assert not await harness.ask("chunks")


async def test_passages_are_compared_without_the_store(harness: Harness) -> None:
    await harness.put("chunks", NAMES)
    await harness.asked(4, kind="chunks")
    vector = RANDOM.normal(size=DIMENSION).tolist()
    chunks = {chunk_vector_id(name, 0): chunk_id(name, 0) for name in (*NAMES[:9], "none")}
    likeness = await harness.reader.similarities(SPACE, chunks.values(), vector)
    assert harness.vectors.calls["likeness"] == 0
    of_store = await harness.vectors.likeness(SPACE, "chunks", vector, chunks)
    assert likeness == {chunks[id]: score for id, score in of_store.items()}


async def test_too_many_vectors_are_read_once_and_never_cached() -> None:
    harness = Harness(max_bytes=20_000)
    await harness.put("entities", NAMES)
    assert await harness.asked(20) == [True] * 20
    assert harness.vectors.calls["scan"] == 2
    assert await Harness(max_bytes=0).asked(5) == [True] * 5


async def test_vectors_are_cached_in_half_precision() -> None:
    harness = Harness(84_000)
    await harness.put("entities", NAMES)
    assert await harness.asked(9) == [True] * 4 + [False] * 5
    matrix = harness.cache.cached(SPACE, whole_vectors.KIND, "entities")
    numbers = DIMENSION * np.dtype(np.float16).itemsize
    assert isinstance(matrix, VectorMatrix) and matrix.size == len(NAMES) * (numbers + OVERHEAD)


def test_no_rows_are_near_anything() -> None:
    assert (
        VectorMatrix([], [], np.empty((0, DIMENSION), np.float16)).nearest(
            np.ones(DIMENSION, np.float32), 3
        )
        == []
    )


def test_of_equal_rows_those_with_the_first_ids_are_nearest() -> None:
    numbers = (5, 3, 4, 1, 2)
    vectors = packed(np.array([[1.0, n % 2] for n in numbers], np.float32))
    matrix = VectorMatrix([f"ent-{n}" for n in numbers], [(f"{n}",) for n in numbers], vectors)
    assert matrix.nearest(np.array([2.0, 0.0], np.float32), 1) == [Hit("ent-2", ("2",), 1.0)]


@pytest.mark.parametrize("scale", [1.0, 1e-3, 3e-5, 1e4])
def test_vectors_in_half_precision_give_the_hits_of_single_precision(scale: float) -> None:
    exact = (RANDOM.normal(size=(1_027, 384)) * scale).astype(np.float16)
    exact[7], exact[512] = 0, exact[9]
    ids = [f"{n:04}" for n in range(len(exact))]
    names = [()] * len(exact)
    half = packed(exact.astype(np.float32))
    assert (
        half.dtype == np.float16 and packed(np.full((1, 384), 0.1, np.float32)).dtype == np.float32
    )
    for vector in (RANDOM.normal(size=384), exact[9].astype(np.float64), np.zeros(384)):
        hits = VectorMatrix(ids, names, half).nearest(vector.astype(np.float32), 20)
        assert hits == VectorMatrix(ids, names, exact.astype(np.float32)).nearest(
            vector.astype(np.float32), 20
        )
    assert hits[0].id == "0000"
