"""The merger over stores in memory: any order, any repetition, any crash, the same graph."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contracts.events import EntitiesExtracted
from contracts.graph import UNKNOWN_TYPE, Generations, Partition
from contracts.values import EntityRevision
from runtime.errors import Unavailable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Change, Row, Table
from runtime.stores.graph.memory import MemoryGraph
from tests.support.events import delivered, document, entity, extracted, reference, relation
from tests.support.merging import Merger


def story(seed: int, chunks: int = 12) -> list[EntitiesExtracted]:
    """Chunks of three documents in one or two versions that speak of the same few things."""
    r = Random(seed)

    def one(of: str, version: int, order: int) -> EntitiesExtracted:
        names = r.sample("ABCDE", r.randint(0, 4))
        entities = [
            entity(name, r.choice(["x", "y"]), f"{name} {r.randint(0, 3)}") for name in names[:3]
        ]
        ties = [
            relation(a, b, f"{a}{b} {r.randint(0, 2)}", r.choice("kl")) for a, b in pairwise(names)
        ]
        return extracted(document(of, version), order, entities, ties)

    return [
        one(f"d{n % 3}", r.choice([1, 1, 2]) + 10 * (n % 3), r.randint(0, 3)) for n in range(chunks)
    ]


def consistent(events: Sequence[EntitiesExtracted]) -> list[EntitiesExtracted]:
    """One event for each version of a chunk: what a version says is said once and for all."""
    return list({(event.chunk.id, event.document.version): event for event in events}.values())


async def straight(events: Sequence[EntitiesExtracted]) -> dict[Any, Any]:
    """The graph of the newest version of each chunk alone, merged one by one."""
    newest_by_chunk: dict[str, EntitiesExtracted] = {}
    for event in sorted(events, key=lambda e: e.document.version):
        newest_by_chunk[event.chunk.id] = event
    merger = Merger()
    for event in newest_by_chunk.values():
        await merger.merge(event)
    return await merger.picture()


@settings(max_examples=120)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
@example(0, Random(1))
async def test_any_order_any_repetition_and_any_batches_give_the_same_graph(
    seed: int, r: Random
) -> None:
    events = consistent(story(seed))
    arrivals = r.sample(events, len(events)) + r.choices(events, k=r.randint(0, 6))
    r.shuffle(arrivals)
    merger = Merger()
    while arrivals:
        size = r.randint(1, 6)
        await merger.merge(*arrivals[:size])
        del arrivals[:size]
    assert await merger.picture() == await straight(events)


class Shuffling(MemoryRows):
    """Rows that let other tasks run around every call and between two rows, as a server would."""

    def __init__(self, r: Random) -> None:
        super().__init__()
        self._random = r

    async def pause(self) -> None:
        for _ in range(self._random.randint(0, 5)):
            await asyncio.sleep(0)

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        for key in self._random.sample(sorted(rows), len(rows)):
            await self.pause()
            await super().put_newer(table, {key: rows[key]}, field)
        await self.pause()

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        await self.pause()
        return await super().append(table, notes, rows)

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        await self.pause()
        rows = await super().update(table, keys, change)
        await self.pause()
        return rows

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        await self.pause()
        result = await super().get(table, keys)
        await self.pause()
        return result

    async def find(self, table: Table, where: Any, **options: Any) -> list[tuple[str, Row]]:
        await self.pause()
        result = await super().find(table, where, **options)
        await self.pause()
        return result


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
async def test_replicas_that_merge_at_the_same_time_lose_nothing(seed: int, r: Random) -> None:
    events = consistent(story(seed))
    merger = Merger(rows=Shuffling(r))
    arrivals = r.sample(events, len(events))
    await asyncio.gather(*(merger.replica().merge(*arrivals[n::3]) for n in range(3)))
    assert await merger.picture() == await straight(events)


async def test_a_missing_end_is_unknown_until_a_chunk_describes_it() -> None:
    merger = Merger()
    await merger.merge(extracted(document(), 0, [entity("A")], [relation("A", "B", "A founded B")]))
    end = (await merger.entities())["B"]
    assert (end.type, end.description) == (UNKNOWN_TYPE, "A founded B")
    await merger.merge(extracted(document(), 1, [entity("B", "company", "B makes bells")]))
    end = (await merger.entities())["B"]
    assert (end.type, end.description) == ("company", "B makes bells")


async def test_a_new_version_takes_back_what_it_no_longer_says() -> None:
    merger = Merger()
    old_extraction = extracted(
        document("d", 1), 0, [entity("A"), entity("B")], [relation("A", "B")]
    )
    await merger.merge(
        old_extraction, extracted(document("e", 2), 0, [entity("A", "thing", "A stays")])
    )
    await merger.merge(extracted(document("d", 3), 0, [entity("C")]))
    assert set(await merger.entities()) == {"A", "C"}
    assert (await merger.entities())["A"].description == "A stays"
    assert await merger.relations() == {}


async def test_what_was_taken_back_leaves_a_tombstone_that_late_writers_cannot_undo() -> None:
    merger = Merger()
    await merger.merge(extracted(document("d", 1), 0, [entity("A")]))
    before = (await merger.entities())["A"]
    await merger.merge(extracted(document("d", 2), 0, [entity("B")]))
    await merger.graph.put(Partition("w", 1), [before], [])
    assert set(await merger.entities()) == {"B"}


async def test_the_index_is_told_of_what_was_taken_back() -> None:
    merger = Merger()
    await merger.merge(extracted(document("d", 1), 0, [entity("A")]))
    ((event,),) = await merger.merge(extracted(document("d", 2), 0, [entity("B")]))
    assert {entity.name for entity in event.entities} == {"A", "B"}


@pytest.mark.parametrize("entities", [[entity("A"), entity("B")], []])
async def test_an_older_version_that_arrives_late_changes_nothing(entities: list[Any]) -> None:
    merger = Merger()
    await merger.merge(
        extracted(document("d", 2), 0, [entity("A", "new", "new")] if entities else [])
    )
    before = await merger.picture()
    await merger.merge(extracted(document("d", 1), 0, [entity("A", "old", "old"), entity("B")]))
    assert await merger.picture() == before


async def test_an_older_version_never_returns_where_the_newer_one_says_nothing_at_all() -> None:
    merger = Merger()
    await merger.merge(extracted(document("d", 2), 0))
    await merger.merge(extracted(document("d", 1), 0, [entity("A")]))
    assert await merger.picture() == {}


async def test_an_event_names_its_chunk_and_each_key_with_its_revision() -> None:
    merger = Merger()
    event = extracted(document(), 0, [entity("A")], [relation("B", "A")])
    ((result,),) = await merger.merge(event)
    assert (result.document, result.chunks) == (event.document, (reference("d", 0),))
    assert result.entities == (
        EntityRevision(name="A", revision=1),
        EntityRevision(name="B", revision=1),
    )
    assert [(r.source, r.target, r.revision) for r in result.relations] == [("A", "B", 1)]


async def test_a_chunk_that_says_nothing_still_gives_an_event() -> None:
    ((event,),) = await Merger().merge(extracted(document(), 0))
    assert (event.chunks, event.entities, event.relations) == ((reference("d", 0),), (), ())


async def test_a_key_that_many_chunks_of_a_batch_name_is_folded_once() -> None:
    merger = Merger()
    events = await merger.merge(
        *(extracted(document(), order, [entity("A")]) for order in range(5))
    )
    assert {entity.revision for (event,) in events for entity in event.entities} == {1}
    assert (await merger.entities())["A"].support == 5


async def test_workspaces_and_generations_never_mix() -> None:
    merger = Merger()
    event = extracted(document(), 0, [entity("A")])
    await merger.handle(
        [delivered(event, 1, workspace="one"), delivered(event, 2, workspace="two")]
    )
    await merger.handle([delivered(event, 1, workspace="one")], Generations(graph=2))
    for partition in (Partition("one", 1), Partition("two", 1), Partition("one", 2)):
        assert (await merger.entities(partition))["A"].support == 1


class Failing:
    """Raises at one call of the store behind it, before or after the call took effect."""

    def __init__(self, store: Any, at: int, *, after: bool) -> None:
        self._store, self._at, self._after, self.calls = store, at, after, 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == self._at and not self._after:
                raise Unavailable("killed")
            result = await method(*args, **kwargs)
            if self.calls == self._at:
                raise Unavailable("killed")
            return result

        return call


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 6))
async def test_a_crash_at_any_step_and_a_second_delivery_end_the_same(at: int, after: bool) -> None:
    old_extraction = extracted(
        document("d", 1), 0, [entity("A"), entity("B")], [relation("A", "B")]
    )
    new_extraction = extracted(
        document("d", 2), 0, [entity("B", "y", "new"), entity("C")], [relation("C", "B")]
    )
    rows = MemoryRows()
    graph = MemoryGraph()
    await Merger(rows, graph).merge(old_extraction)
    failing_rows = Failing(rows, at, after=after)
    try:
        await Merger(failing_rows, graph).merge(new_extraction)  # type: ignore[arg-type]
    except Unavailable:
        pass
    else:
        assert failing_rows.calls < at
    merger = Merger(rows, graph)
    ((event,),) = await merger.merge(new_extraction)
    assert await merger.picture() == await straight([old_extraction, new_extraction])
    assert {entity.name for entity in event.entities} == {"A", "B", "C"}
