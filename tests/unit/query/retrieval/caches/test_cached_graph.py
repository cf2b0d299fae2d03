"""The graph that questions keep: nothing is read twice, nothing that the log has overtaken is
shown.
"""

import asyncio
from typing import Any

import pytest

from contracts.events import GraphMerged
from contracts.graph import Entity, Partition, Relation
from contracts.values import EntityRevision, RelationRevision
from runtime.bus.memory import MemoryLog
from runtime.errors import Unavailable
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.graph.port import Neighbourhood
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.invalidation import MAX_EVENTS, ProjectionCache
from services.query.retrieval.ranking import RankedRelations
from tests.support.events import sealed

SPACE = Partition("w", 1)
OTHER = Partition("other", 1)
MEGABYTE = 2**20


class CountingGraph(MemoryGraph):
    """Counts what it is asked for; `meanwhile` happens in the middle of a read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.around: list[str] = []
        self.meanwhile: Any = None

    async def neighbourhood(self, partition: Partition, names: Any, *, limit: int) -> Neighbourhood:
        self.around += sorted(names)
        return await super().neighbourhood(partition, names, limit=limit)

    async def entities(self, partition: Partition, names: Any) -> dict[str, Entity]:
        self.read += sorted(names)
        result = await super().entities(partition, names)
        if self.meanwhile:
            await self.meanwhile()
        return result


class Harness:
    """A graph that changes as the merger changes it: first the store, then the log."""

    def __init__(self, max_bytes: int = MEGABYTE) -> None:
        self.graph = CountingGraph()
        self.log = MemoryLog()
        self.cache = ProjectionCache(self.log, max_bytes)
        self.reader = CachedGraph(self.graph, self.cache)
        self.revision = 0

    async def put(
        self, *names: str, pairs: tuple[tuple[str, str], ...] = (), partition: Partition = SPACE
    ) -> None:
        self.revision += 1
        entities = [
            Entity(name, self.revision, description=f"{name} {self.revision}") for name in names
        ]
        relations = [Relation(*pair, self.revision, weight=1.0) for pair in pairs]
        await self.graph.put(partition, entities, relations)
        event = GraphMerged(
            chunks=(),
            entities=tuple(EntityRevision(name=name, revision=self.revision) for name in names),
            relations=tuple(
                RelationRevision(source=a, target=b, revision=self.revision) for a, b in pairs
            ),
        )
        await self.log.publish(
            sealed(event, id=f"event-{self.revision}", workspace=partition.workspace)
        )

    async def descriptions_of(self, *names: str, partition: Partition = SPACE) -> list[str]:
        await self.cache.refresh(partition)
        result = await self.reader.entities(partition, names)
        return [result[name].description for name in names if name in result]


@pytest.fixture
def harness() -> Harness:
    return Harness()


async def test_what_is_known_is_not_read_again_also_that_nothing_is_there(harness: Harness) -> None:
    await harness.put("a", "b")
    for _ in range(2):
        assert await harness.descriptions_of("a", "missing") == ["a 1"]
    assert harness.graph.read == ["a", "missing"]
    assert await harness.descriptions_of("a", "b") == ["a 1", "b 1"]
    assert harness.graph.read == ["a", "missing", "b"]


async def test_what_the_log_says_has_changed_is_read_again_and_nothing_else(
    harness: Harness,
) -> None:
    await harness.put("a", "b", pairs=(("a", "b"),))
    assert await harness.descriptions_of("a", "b", "c") == ["a 1", "b 1"]
    await harness.put("a", "c")
    assert await harness.descriptions_of("a", "b", "c") == ["a 2", "b 1", "c 2"]
    assert harness.graph.read == ["a", "b", "c", "a", "c"]


async def test_relations_and_their_summaries_follow_the_log(harness: Harness) -> None:
    await harness.put("a", "b", pairs=(("a", "b"),))
    await harness.cache.refresh(SPACE)
    assert await harness.reader.ranked_relations(SPACE, ["a", "c"], limit=9) == RankedRelations(
        [("a", "b")], 1
    )
    assert set(await harness.reader.relations(SPACE, [("a", "b"), ("a", "c")])) == {("a", "b")}
    await harness.put(pairs=(("a", "c"),))
    await harness.cache.refresh(SPACE)
    assert await harness.reader.ranked_relations(
        SPACE, ["a", "c"], limit=9, besides=[("a", "c"), ("b", "c")]
    ) == RankedRelations([("a", "b"), ("a", "c")], 3)
    assert set(await harness.reader.relations(SPACE, [("a", "b"), ("a", "c")])) == {
        ("a", "b"),
        ("a", "c"),
    }


async def around(harness: Harness, *names: str, limit: int = 2) -> Neighbourhood:
    """What the cache returns, which is what the store returns."""
    await harness.cache.refresh(SPACE)
    result = await harness.reader.neighbourhood(SPACE, names, limit=limit)
    count = len(harness.graph.around)
    from_store = await harness.graph.neighbourhood(SPACE, names, limit=limit)
    del harness.graph.around[count:]
    assert (result.nodes, result.relation_summaries, result.degrees) == (
        from_store.nodes,
        from_store.relation_summaries,
        from_store.degrees,
    )
    return result


async def test_neighbours_are_read_once_and_follow_the_log(harness: Harness) -> None:
    hub = [("a", neighbour) for neighbour in "bcdefg"]
    await harness.put(*"abcdefg", pairs=(*hub, ("b", "g")))
    for _ in range(2):
        await around(harness, "a", "b", "missing")
    assert harness.graph.around == ["a", "b", "missing"]
    await around(harness, "b", "g")
    assert harness.graph.around == ["a", "b", "missing", "g"]
    await harness.put("c", pairs=(("b", "f"),))
    await around(harness, "a", "b", "c", "g")
    assert harness.graph.around[4:] == ["b", "c"]


async def test_an_entity_that_is_gone_is_no_neighbour(harness: Harness) -> None:
    await harness.put("a", "b", "c", pairs=(("a", "b"), ("a", "c")))
    await around(harness, "a")
    harness.revision += 1
    await harness.graph.put(SPACE, [Entity("b", harness.revision, is_gone=True)], [])
    removal = GraphMerged(
        chunks=(), entities=(EntityRevision(name="b", revision=harness.revision),), relations=()
    )
    await harness.log.publish(sealed(removal, id="gone", workspace="w"))
    result = await around(harness, "a", "b")
    assert set(result.nodes) == {"a", "c"} and result.degrees["a"] == 2


async def test_after_very_many_changes_everything_is_read_again(harness: Harness) -> None:
    await harness.put("a", "b")
    await harness.descriptions_of("a", "b")
    for _ in range(MAX_EVENTS + 1):
        await harness.put("a")
    assert await harness.descriptions_of("a", "b") == [f"a {MAX_EVENTS + 2}", "b 1"]
    assert harness.graph.read == ["a", "b", "a", "b"]
    assert await harness.descriptions_of("a", "b") == [f"a {MAX_EVENTS + 2}", "b 1"]
    assert harness.graph.read == ["a", "b", "a", "b"]


async def test_what_nobody_finds_any_more_takes_no_bytes(harness: Harness) -> None:
    await harness.put("a", "b")
    await harness.put("a", partition=OTHER)
    await harness.descriptions_of("a", "b")
    size = harness.cache.size
    await harness.cache.refresh(OTHER)
    await harness.reader.entities(OTHER, ["a"])
    of_other = harness.cache.size - size
    assert size > 0 and of_other > 0
    for _ in range(MAX_EVENTS + 1):
        await harness.put("a")
    await harness.cache.refresh(SPACE)
    assert harness.cache.size == of_other


async def test_a_batch_of_documents_costs_what_it_changed_alone(harness: Harness) -> None:
    await harness.put("a", "b")
    await harness.descriptions_of("a", "b")
    for _ in range(MAX_EVENTS - 1):
        await harness.put("a")
    assert await harness.descriptions_of("a", "b") == [f"a {MAX_EVENTS}", "b 1"]
    assert harness.graph.read == ["a", "b", "a"]


async def test_what_changes_while_it_is_read_is_not_kept(harness: Harness) -> None:
    await harness.put("a")

    async def change() -> None:
        harness.graph.meanwhile = None
        await harness.put("a")
        await harness.cache.refresh(SPACE)

    await harness.descriptions_of("other")
    harness.graph.meanwhile = change
    assert await harness.descriptions_of("a") == ["a 1"]
    assert await harness.descriptions_of("a") == ["a 2"]


async def test_partitions_know_nothing_of_each_other(harness: Harness) -> None:
    await harness.put("a")
    await harness.put("a", partition=OTHER)
    await harness.put("a", partition=Partition("w", 2))
    assert await harness.descriptions_of("a") == ["a 1"]
    assert await harness.descriptions_of("a", partition=OTHER) == ["a 2"]
    assert await harness.descriptions_of("a", partition=Partition("w", 2)) == ["a 3"]


async def test_a_log_that_does_not_answer_costs_the_memory_and_no_question(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.put("a")
    await harness.descriptions_of("a")

    async def silent(*_: Any) -> None:
        raise Unavailable("the bus does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(harness.log, "following", silent)
        patch.setattr(harness.log, "last", silent)
        await harness.put("a")
        assert await harness.descriptions_of("a") == ["a 2"]
    assert await harness.descriptions_of("a") == ["a 2"]
    assert await harness.descriptions_of("a") == ["a 2"]
    assert harness.graph.read == ["a", "a", "a"]


async def test_questions_that_come_together_share_a_read_of_the_log(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.put("a")
    await harness.descriptions_of("a")
    reads = 0
    following = harness.log.following

    async def slowly(after: int, subject: str) -> Any:
        nonlocal reads
        reads += 1
        for _ in range(3):
            await asyncio.sleep(0)
        return await following(after, subject)

    monkeypatch.setattr(harness.log, "following", slowly)
    await asyncio.gather(*(harness.cache.refresh(SPACE) for _ in range(50)))
    assert 1 <= reads <= 2


async def test_no_more_is_kept_than_there_is_room_for(harness: Harness) -> None:
    small_harness = Harness(max_bytes=2000)
    names = [f"name {number}" for number in range(20)]
    await small_harness.put(*names)
    for name in names:
        assert await small_harness.descriptions_of(name) == [f"{name} 1"]
    assert await small_harness.descriptions_of(names[-1]) == [f"{names[-1]} 1"]
    assert small_harness.graph.read == names
    assert await small_harness.descriptions_of(names[0]) == [f"{names[0]} 1"]
    assert small_harness.graph.read == [*names, names[0]]


async def test_without_room_everything_is_read(harness: Harness) -> None:
    without_room = Harness(max_bytes=0)
    await without_room.put("a")
    assert (
        await without_room.descriptions_of("a")
        == await without_room.descriptions_of("a")
        == ["a 1"]
    )
    assert without_room.graph.read == ["a", "a"]
