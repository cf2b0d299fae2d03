"""The names a query service keeps: fresh, bounded, and of one workspace only."""

import asyncio
from typing import Any

import pytest

from contracts.events import GraphMerged
from contracts.graph import Entity, Generations, Partition
from contracts.values import EntityRevision
from runtime.errors import Unavailable
from runtime.stores.graph.memory import MemoryGraph
from services.query.adapters.aliases import RowAliases
from services.query.partitions import Partitions
from services.query.question import Keywords, Question
from services.query.retrieval.caches import invalidation, name_indexes
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.retrieval.linking import link_entities
from services.query.retrieval.multihop.walk import walk
from services.query.retrieval.name_index import NameIndex
from tests.support.events import entity, sealed
from tests.support.querying import QueryHarness
from tests.support.waiting import PATIENCE

PARTITIONS = Partitions.of("w", Generations())


class CountingGraph(MemoryGraph):
    """Counts scans, fails when told to, and waits where it is to be slow."""

    def __init__(self) -> None:
        super().__init__()
        self.scans = 0
        self.down = False
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000
    ) -> list[tuple[str, str]]:
        self.scans += not after
        await self.may_go_on.wait()
        if self.down:
            raise Unavailable("the graph store is down")
        return await super().scan_names(partition, after, limit)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def harness_and_indexes(
    max_wait: float = PATIENCE,
) -> tuple[QueryHarness, CountingGraph, NameIndexes, Clock]:
    graph = CountingGraph()
    clock = Clock()
    harness = QueryHarness(graph=graph)
    await harness.index("one", "Ada Marsh sails.", says=(([entity("Ada Marsh", "person")], []),))
    aliases = RowAliases(harness.rows)
    names = NameIndexes(graph, harness.documents, aliases, clock=clock, max_wait=max_wait)
    return harness, graph, names, clock


async def test_names_are_read_once_while_nothing_changes() -> None:
    _, graph, names, clock = await harness_and_indexes()
    first = await names.of(PARTITIONS)
    assert first.by_name("ada marsh") == ("Ada Marsh",) and first.by_surname("marsh") == (
        "Ada Marsh",
    )
    clock.now += 50
    assert await names.of(PARTITIONS) is first and graph.scans == 1


async def test_an_index_stays_while_the_names_are_the_same() -> None:
    harness, graph, names, clock = await harness_and_indexes()
    first = await names.of(PARTITIONS)
    await harness.index(
        "two", "Ada Marsh rows.", says=(([entity("Ada Marsh", "person")], []),), version=5000
    )
    clock.now += name_indexes.MAX_AGE + 1
    assert await names.of(PARTITIONS) is first and graph.scans == 2


async def test_a_new_document_is_known_at_the_next_question() -> None:
    harness, _, names, clock = await harness_and_indexes()
    await names.of(PARTITIONS)
    await harness.index(
        "two", "Otto Brandt rows.", says=(([entity("Otto Brandt", "person")], []),), version=5000
    )
    clock.now += 1
    assert (await names.of(PARTITIONS)).by_name("otto brandt") == ("Otto Brandt",)


async def test_edits_that_no_document_shows_are_seen_after_a_while() -> None:
    harness, _, names, clock = await harness_and_indexes()
    await names.of(PARTITIONS)
    await harness.graph.put(PARTITIONS.graph, [Entity("Renamed", 1)], [])
    assert (await names.of(PARTITIONS)).by_name("renamed") == ()
    clock.now += name_indexes.MAX_AGE + 1
    assert (await names.of(PARTITIONS)).by_name("renamed") == ("Renamed",)


async def test_a_long_build_is_followed_by_a_rest_and_nobody_waits_for_it() -> None:
    harness, graph, names, clock = await harness_and_indexes(max_wait=0.01)
    await names.renew(PARTITIONS)
    await harness.index(
        "two", "Otto Brandt rows.", says=(([entity("Otto Brandt", "person")], []),), version=5000
    )
    clock.now += 1
    graph.may_go_on.clear()
    assert (await names.of(PARTITIONS)).by_name("otto brandt") == ()
    clock.now += 8
    graph.may_go_on.set()
    await names.close()
    assert graph.scans == 2


async def test_questions_that_come_together_share_one_build() -> None:
    _, graph, names, _ = await harness_and_indexes()
    result = await asyncio.gather(*(names.of(PARTITIONS) for _ in range(20)))
    assert graph.scans == 1 and len({id(index) for index in result}) == 1


async def test_a_store_that_is_down_fails_the_first_question_and_later_ones_take_what_there_is() -> (  # noqa: E501
    None
):
    harness, graph, names, clock = await harness_and_indexes()
    graph.down = True
    with pytest.raises(Unavailable):
        await names.of(PARTITIONS)
    graph.down = False
    clock.now += 1
    assert len(await names.of(PARTITIONS)) == 1
    graph.down = True
    await harness.index(
        "two", "Otto Brandt rows.", says=(([entity("Otto Brandt", "person")], []),), version=5000
    )
    clock.now += 1
    assert len(await names.of(PARTITIONS)) == 1


async def test_workspaces_and_generations_have_names_of_their_own() -> None:
    harness, _, names, _ = await harness_and_indexes()
    await harness.graph.put(Partition("w", 2), [Entity("Rebuilt", 1)], [])
    await harness.graph.put(Partition("v", 1), [Entity("Theirs", 1)], [])
    assert len(await names.of(PARTITIONS)) == 1
    assert (await names.of(Partitions.of("w", Generations(graph=2)))).by_name("rebuilt") == (
        "Rebuilt",
    )
    theirs = await names.of(Partitions.of("v", Generations()))
    assert theirs.by_name("theirs") == ("Theirs",) and theirs.by_name("ada marsh") == ()


async def test_a_workspace_of_too_many_names_keeps_none_and_questions_are_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, _, names, _ = await harness_and_indexes()
    monkeypatch.setattr(name_indexes, "MAX_NAMES", 0)
    assert len(await names.of(PARTITIONS)) == 0
    deps: Any = harness.deps(entity_names=names)
    result = await walk(
        Question("Where does Ada Marsh sail?", "walk"), Keywords(), PARTITIONS, deps
    )
    assert result.info["linked"] == [{"said": "Ada Marsh", "entities": ["Ada Marsh"], "by": "name"}]
    assert result.chunk_ids[0] == "one-chunk-000"


async def test_what_was_not_asked_for_the_longest_is_forgotten_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, graph, names, clock = await harness_and_indexes()
    monkeypatch.setattr(name_indexes, "MAX_ALTOGETHER", 1)
    await harness.graph.put(Partition("v", 1), [Entity("Theirs", 1)], [])
    await names.of(PARTITIONS)
    await names.of(Partitions.of("v", Generations()))
    clock.now += 1
    scans = graph.scans
    assert (
        link_entities("Is Ada Marsh there?", await names.of(PARTITIONS))
        and graph.scans == scans + 1
    )


class Followed:
    """A graph whose changes are in the log, and its names."""

    def __init__(self) -> None:
        self.harness = QueryHarness(graph=CountingGraph())
        self.cache = ProjectionCache(self.harness.log, 2**20)
        self.reader = CachedGraph(self.harness.graph, self.cache)
        aliases = RowAliases(self.harness.rows)
        self.clock = Clock()
        self.names = NameIndexes(
            self.harness.graph,
            self.harness.documents,
            aliases,
            self.cache,
            clock=self.clock,
            max_wait=PATIENCE,
        )
        self.revision = 0

    async def put(self, **types: str) -> None:
        """Have entities of these types; without one, no more."""
        self.revision += 1
        entities = [
            Entity(name.replace("_", " "), self.revision, type, is_gone=not type)
            for name, type in types.items()
        ]
        await self.harness.graph.put(PARTITIONS.graph, entities, [])
        named = tuple(EntityRevision(name=each.name, revision=each.revision) for each in entities)
        event = GraphMerged(chunks=(), entities=named, relations=())
        await self.harness.log.publish(sealed(event, id=f"e{self.revision}", workspace="w"))

    async def renewed(self) -> NameIndex:
        await self.cache.refresh(PARTITIONS.graph)
        await self.names.renew(PARTITIONS)
        return await self.names.of(PARTITIONS)


async def test_names_that_the_log_says_have_changed_are_read_alone() -> None:
    followed = Followed()
    await followed.put(Ada_Marsh="person", Otto_Brandt="person", Marsh="place")
    index = await followed.renewed()
    assert index.by_surname("brandt") == ("Otto Brandt",)
    await followed.put(Otto_Brandt="organization", Eva_Brandt="person", Ada_Marsh="")
    assert await followed.renewed() is index
    graph: Any = followed.harness.graph
    assert graph.scans == 1
    assert index.by_surname("brandt") == ("Eva Brandt",) and index.by_name("ada marsh") == ()
    assert index.by_name("otto brandt") == ("Otto Brandt",) and len(index) == 3


async def test_names_of_a_graph_that_is_cached_whole_are_read_of_no_store() -> None:
    followed = Followed()
    graph: Any = followed.harness.graph
    await followed.put(Ada_Marsh="person", Otto_Brandt="place")
    await followed.cache.refresh(PARTITIONS.graph)
    await followed.reader.renew(PARTITIONS.graph)
    index = await followed.renewed()
    assert (len(index), index.by_surname("marsh"), graph.scans) == (2, ("Ada Marsh",), 0)
    await followed.put(Otto_Brandt="person")
    assert (await followed.renewed()).by_surname("brandt") == ("Otto Brandt",)
    assert graph.scans == 0


async def test_names_are_read_anew_after_more_events_than_are_followed() -> None:
    followed = Followed()
    await followed.put(Ada_Marsh="person")
    index = await followed.renewed()
    for number in range(invalidation.MAX_EVENTS + 1):
        await followed.put(**{f"Port_Elm_{number}": "place"})
    followed.clock.now += 1
    assert await followed.renewed() is not index
    assert len(await followed.renewed()) == invalidation.MAX_EVENTS + 2


async def test_a_workspace_that_grows_beyond_the_limit_is_not_followed_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(name_indexes, "MAX_NAMES", 2)
    followed = Followed()
    await followed.put(Ada_Marsh="person", Otto_Brandt="person")
    assert len(await followed.renewed()) == 2
    await followed.put(Eva_Brandt="person")
    assert len(await followed.renewed()) == 0
    graph: Any = followed.harness.graph
    scans = graph.scans
    await followed.put(Eva_Marsh="person")
    assert len(await followed.renewed()) == 0 and graph.scans == scans
