"""The numbers of a graph are read once questions have read a part of it; then questions read texts
alone, and each sees what is so.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from contracts.events import GraphMerged
from contracts.graph import Entity, Partition, Relation
from contracts.values import EntityRevision, RelationRevision
from runtime.bus.memory import MemoryLog
from runtime.bus.port import Message
from runtime.stores.graph.memory import MemoryGraph
from services.query.retrieval.caches import invalidation, whole_graph
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.invalidation import ARRAYS, ProjectionCache
from services.query.retrieval.port import EntitySupports
from services.query.retrieval.ranking import RankedRelations, rank_relations
from tests.support.events import sealed

SPACE = Partition("w", 1)
NAMES = [f"n{number:02}" for number in range(40)]
PAIRS = [*pairwise(NAMES)] + [("n00", neighbour) for neighbour in NAMES[2:9]]
LIMIT = 5
"""Relations of an entity that are read: the hub n00 has more."""
TEXTS = {"entities", "relations"}
"""Reads that are left where the numbers of the graph are in memory."""
CHANGES = {"nodes", *TEXTS}
"""The same where something has changed."""


class CountingGraph(MemoryGraph):
    """Counts its calls; `meanwhile` happens once, after the first page of entities."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = Counter[str]()
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        self.keys: list[Any] = []
        """Names and pairs whose texts were read."""

    def __getattribute__(self, name: str) -> Any:
        if name in {
            "entities",
            "relations",
            "relation_summaries",
            "neighbourhood",
            "degrees",
            "scan_relations",
            "nodes",
        }:
            self.calls[name] += 1
        return super().__getattribute__(name)

    async def entities(self, partition: Partition, names: Any) -> dict[str, Entity]:
        self.keys += names
        return await super().entities(partition, names)

    async def relations(self, partition: Partition, pairs: Any) -> dict[Any, Relation]:
        self.keys += pairs
        return await super().relations(partition, pairs)

    async def scan_entities(
        self, partition: Partition, after: str = "", limit: int = 1000
    ) -> list[Entity]:
        self.calls["scan_entities"] += 1
        page = await super().scan_entities(partition, after, limit)
        if self.meanwhile:
            happens, self.meanwhile = self.meanwhile, None
            await happens()
        return page


class Harness:
    """A graph that changes as the merger changes it, and questions about it."""

    def __init__(self, max_bytes: int = 2**20) -> None:
        self.graph = CountingGraph()
        self.log = MemoryLog()
        self.cache = ProjectionCache(self.log, max_bytes)
        self.reader = CachedGraph(self.graph, self.cache)
        self.revision = 0

    async def put(
        self, *names: str, pairs: list[tuple[str, str]] | None = None, is_gone: bool = False
    ) -> None:
        self.revision += 1
        entities = [
            Entity(
                name,
                self.revision,
                description=f"{name} {self.revision}",
                source_ids=tuple(f"c{number}" for number in range(self.revision % 4)),
                support=self.revision,
                is_gone=is_gone,
            )
            for name in names
        ]
        relations = [
            Relation(*pair, self.revision, weight=float(self.revision), is_gone=is_gone)
            for pair in pairs or ()
        ]
        await self.graph.put(SPACE, entities, relations)
        event = GraphMerged(
            chunks=(),
            entities=tuple(EntityRevision(name=name, revision=self.revision) for name in names),
            relations=tuple(
                RelationRevision(source=a, target=b, revision=self.revision) for a, b in pairs or ()
            ),
        )
        await self.log.publish(
            sealed(event, id=f"event-{self.revision}", workspace=SPACE.workspace)
        )

    async def ask(self, *names: str) -> None:
        """Read as a question does, and compare with what the store has now."""
        await self.cache.refresh(SPACE)
        calls = self.graph.calls.copy()
        answers = await self._read(self.reader, names)
        self.reads = sorted((self.graph.calls - calls).keys())
        assert answers == await self._read(self.graph, names)

    async def _read(self, graph: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
        ranked = await self._ranked(graph, names)
        return (
            ranked,
            await self._supports(graph, names),
            await graph.nodes(SPACE, names),
            await graph.neighbourhood(SPACE, names, limit=LIMIT),
            await graph.entities(SPACE, names),
            await graph.relations(SPACE, ranked.pairs),
        )

    async def _ranked(self, graph: Any, names: tuple[str, ...]) -> RankedRelations:
        """Return what the reader says, or rank what the store has."""
        if isinstance(graph, CachedGraph):
            return await graph.ranked_relations(SPACE, names, limit=LIMIT, besides=PAIRS[:3])
        by_name = await graph.relation_summaries(SPACE, names, limit=len(PAIRS))
        ties = [tie for summaries in by_name.values() for tie in summaries]
        degrees = await graph.degrees(SPACE, NAMES)
        count = len({tie.key for tie in ties}.union(PAIRS[:3]))
        return RankedRelations(rank_relations(ties, degrees, LIMIT), count)

    async def _supports(self, graph: Any, names: tuple[str, ...]) -> list[tuple[int, list[str]]]:
        """Return what the reader says, or what the nodes of the store do."""
        if isinstance(graph, CachedGraph):
            supports = await graph.supports(SPACE, names)
        else:
            supports = EntitySupports.of_nodes(names, await graph.nodes(SPACE, names))
        chunks = [list(supports.chunks_of(place)) for place in range(len(names))]
        return list(zip(supports.counts.tolist(), chunks, strict=True))

    async def settle(self) -> None:
        """Wait for what reads the graph beside the questions."""
        for misses in self.reader._whole._misses.values():  # pyright: ignore[reportPrivateUsage]
            if misses.attempt:
                await misses.attempt


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_graph, "MIN_MISSES", 10)
    monkeypatch.setattr(whole_graph, "PAGE_SIZE", 7)


@pytest.fixture
async def harness() -> Harness:
    result = Harness()
    await result.put(*NAMES, pairs=PAIRS)
    return result


async def whole(harness: Harness) -> Harness:
    """Ask until the graph is read whole."""
    await harness.ask(*NAMES[:9])
    assert "scan_entities" not in harness.graph.calls
    await harness.ask(*NAMES[9:12])
    await harness.settle()
    return harness


async def test_no_question_reads_a_graph_that_was_read_whole(harness: Harness) -> None:
    await whole(harness)
    scans = harness.graph.calls["scan_entities"]
    assert scans
    for name in NAMES:
        await harness.ask(name)
        assert TEXTS.issuperset(harness.reads)
        await harness.ask(name)
        assert harness.reads == []
    await harness.cache.refresh(SPACE)
    calls_before = harness.graph.calls.copy()
    assert await harness.reader.entities(SPACE, ["missing"]) == {}
    assert [*await harness.reader.nodes(SPACE, ["missing", "n01"])] == ["n01"]
    assert harness.graph.calls == calls_before
    assert harness.graph.calls["scan_entities"] == scans


async def test_what_changes_afterwards_is_read_again_and_nothing_else(harness: Harness) -> None:
    await whole(harness)
    await harness.ask("n30")
    for change in (["n20", "new"], ["n20", "n05"]):
        pair = (min(change), max(change))
        await harness.put(*change, pairs=[pair])
        await harness.cache.refresh(SPACE)
        harness.graph.keys.clear()
        await harness.reader.nodes(SPACE, ["n30"])
        assert {*harness.graph.keys} == {*change, pair}
        await harness.ask(*change)
        assert CHANGES.issuperset(harness.reads)
    await harness.put("n21", pairs=[("n20", "n21"), ("n21", "n22")], is_gone=True)
    await harness.ask("n20", "n21", "n22")
    assert CHANGES.issuperset(harness.reads)


async def test_a_change_that_is_seen_while_the_graph_is_read_ends_the_reading(
    harness: Harness,
) -> None:
    async def change() -> None:
        await harness.put("n01", pairs=[("n01", "n02")])
        await harness.cache.refresh(SPACE)

    harness.graph.meanwhile = change
    await whole(harness)
    assert harness.graph.calls["scan_entities"] == 1
    await harness.ask("n30")
    assert "neighbourhood" in harness.reads
    # It begins again when as much was read one by one as it cost.
    await harness.ask(*NAMES[12:24])
    await harness.settle()
    await harness.ask("n38")
    assert TEXTS.issuperset(harness.reads)
    await harness.ask(*NAMES)


async def test_a_change_that_is_seen_only_afterwards_is_not_hidden(harness: Harness) -> None:
    async def change() -> None:
        await harness.put("n01", "n35", pairs=[("n01", "n02"), ("n01", "n35")])

    harness.graph.meanwhile = change
    await whole(harness)
    await harness.ask(*NAMES)


async def test_a_graph_that_takes_more_than_its_part_is_read_once_in_part() -> None:
    harness = Harness(max_bytes=12_000)
    await harness.put(*NAMES, pairs=PAIRS)
    await harness.ask(*NAMES[:12])
    await harness.settle()
    scans = harness.graph.calls["scan_entities"]
    assert scans * 7 < len(NAMES) + 7
    for _ in range(3):
        await harness.ask(*NAMES)
        await harness.settle()
    assert (harness.graph.calls["scan_entities"], harness.graph.calls["scan_relations"]) == (
        scans,
        0,
    )


async def test_a_reading_is_cancelled_with_the_service(harness: Harness) -> None:
    await harness.ask(*NAMES[:12])
    await harness.reader.close()
    assert harness.graph.calls["scan_relations"] == 0


@pytest.mark.parametrize("is_renewed", [True, False], ids=["unasked", "by the questions"])
async def test_a_graph_is_read_before_the_first_question_and_moves_with_the_log(
    is_renewed: bool,
) -> None:
    harness = Harness()
    await harness.put(*NAMES, pairs=PAIRS)
    await harness.cache.refresh(SPACE)
    await harness.reader.renew(SPACE)
    chance = random.Random(5)
    for _ in range(30):
        names = chance.sample(NAMES, k=2)
        pair = (min(names), max(names))
        is_gone = chance.random() < 0.4
        await harness.put(*names[: chance.randint(0, 2)], pairs=[pair], is_gone=is_gone)
        if is_renewed:
            await harness.cache.refresh(SPACE)
            await harness.reader.renew(SPACE)
        asked = [*names, *chance.sample(NAMES, k=4)]
        await harness.ask(*asked)
        assert (TEXTS if is_renewed else CHANGES).issuperset(harness.reads)
    assert harness.graph.calls["scan_relations"] == pages_of_relations(harness)


def pages_of_relations(harness: Harness) -> int:
    """Pages of one reading of all relations, an empty one at the end."""
    return -(-len(PAIRS) // whole_graph.PAGE_SIZE) + 1


@pytest.mark.parametrize("waits", [False, True], ids=["alone", "a question waits"])
async def test_many_events_are_read_only_while_no_question_waits(
    monkeypatch: pytest.MonkeyPatch, harness: Harness, waits: bool
) -> None:
    monkeypatch.setattr(invalidation, "ROWS_PER_EVENT", 1)
    monkeypatch.setattr(invalidation, "MAX_EVENTS_ASKED", invalidation.MAX_EVENTS)
    await harness.cache.refresh(SPACE)
    await harness.reader.renew(SPACE)
    for _ in range(invalidation.MAX_EVENTS + 5):
        await harness.put("n01")
    questions = list[asyncio.Task[None]]()
    history = harness.log.history

    def history_with_question(*arguments: Any) -> AsyncGenerator[Message]:
        if waits:
            questions.append(asyncio.create_task(harness.cache.refresh(SPACE)))
        return delayed(history(*arguments))

    async def delayed(messages: AsyncGenerator[Message]) -> AsyncGenerator[Message]:
        async for message in messages:
            await asyncio.sleep(0)
            yield message

    monkeypatch.setattr(harness.log, "history", history_with_question)
    await harness.cache.refresh(SPACE, is_awaited=False)
    await asyncio.gather(*questions)
    assert (harness.cache.cached(SPACE, ARRAYS, None) is None) == waits
    await harness.ask(*NAMES[:3])


@pytest.mark.parametrize("is_awaited", [False, True], ids=["before a question", "by a question"])
async def test_a_large_graph_is_not_read_anew_after_many_events(
    harness: Harness, is_awaited: bool
) -> None:
    further_names = [f"m{number}" for number in range(3 * 50 * invalidation.ROWS_PER_EVENT)]
    await harness.put(*further_names)
    await harness.cache.refresh(SPACE)
    await harness.reader.renew(SPACE)
    pages = harness.graph.calls["scan_entities"]
    for number in range(3 * 50):
        await harness.put(f"m{number % 30}", "n01", pairs=[("n00", "n01")])
    await harness.cache.refresh(SPACE, is_awaited=is_awaited)
    arrays = harness.cache.cached(SPACE, ARRAYS, None)
    assert arrays is not None and arrays.change_count == 30 + 1 + 1
    await harness.reader.renew(SPACE)
    assert arrays.change_count == 0 and harness.graph.calls["scan_entities"] == pages
    await harness.ask(*NAMES[:3])
    assert TEXTS.issuperset(harness.reads)


async def test_a_graph_that_grows_too_large_is_cached_no_more() -> None:
    harness = Harness(max_bytes=70_000)

    async def put(prefix: str, count: int) -> bool:
        for first in range(0, count, 5):  # less than a quarter of what is there
            await harness.put(*(f"{prefix}{first + number}" for number in range(5)))
            await harness.cache.refresh(SPACE)
            await harness.reader.renew(SPACE)
        return harness.cache.cached(SPACE, ARRAYS, None) is not None

    await harness.put(*NAMES[:25])
    assert [await put("m", 40), await put("k", 80), await put("l", 5)] == [True, False, False]


async def test_what_comes_and_goes_leaves_a_graph_cached() -> None:
    harness = Harness(max_bytes=70_000)
    await harness.put(*NAMES)
    for batch in range(60):
        names = [f"m{batch}-{number}" for number in range(5)]
        for is_gone in (False, True):
            await harness.put(*names, is_gone=is_gone)
            await harness.cache.refresh(SPACE)
            await harness.reader.renew(SPACE)
    await harness.cache.refresh(SPACE)
    await harness.reader.renew(SPACE)
    assert harness.cache.cached(SPACE, ARRAYS, None) is not None


async def test_of_many_changes_a_question_reads_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, harness: Harness
) -> None:
    monkeypatch.setattr(whole_graph, "MAX_CHANGES_OF_QUESTION", 3)
    await whole(harness)
    await harness.put(*NAMES[:4])
    await harness.ask("n30")
    assert "neighbourhood" in harness.reads
    await harness.reader.renew(SPACE)
    await harness.ask("n30", "n31")
    assert TEXTS.issuperset(harness.reads)


async def test_relations_that_come_and_go_leave_nothing_behind(harness: Harness) -> None:
    await whole(harness)
    for number in range(60):
        pair = ("n01", NAMES[20 + number % 15])
        await harness.put(pairs=[pair], is_gone=bool(number % 3))
        await harness.put("n01", is_gone=bool(number % 2))
        await harness.ask("n00", *pair)
        assert CHANGES.issuperset(harness.reads)
