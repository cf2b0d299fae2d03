"""What the merger remembers of hubs: it spares reads and never changes what is read."""

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any

import pytest

from contracts.events import DocumentDeleted, EntitiesExtracted
from contracts.graph import Generations, Partition
from knowledge.contributions import contributions
from knowledge.descriptions import SummaryLimits
from runtime.errors import Unavailable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import MOST_NOTES, Row, Table
from services.merger.aggregate_cache import MIN_CONTRIBUTIONS, AggregateCache
from services.merger.domain.compact_aggregate import CompactAggregate
from services.merger.domain.incremental_aggregate import EMPTY, OVERHEAD, IncrementalAggregate
from services.merger.domain.packed_contributions import PackedContributions
from services.merger.domain.small_aggregate import FewContributions, SmallAggregate
from services.merger.handler import on_entities_extracted, on_extents
from tests.support.events import chunked, delivered, document, entity, extracted, relation
from tests.support.merging import Merger

SPACE = Partition("w", 1)
KEY = ("A",)


class CountingRows(MemoryRows):
    """Counts the rows that are read, and fails once at a counting when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.fail = 0, ""

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        result = await super().get(table, keys)
        self.read += len(result)
        return result

    async def find(self, *arguments: Any, **options: Any) -> list[tuple[str, Row]]:
        result = await super().find(*arguments, **options)
        self.read += len(result)
        return result

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        result = await super().under(table, prefixes)
        self.read += len(result)
        return result

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        fail, self.fail = self.fail, ""
        if fail == "before":
            raise Unavailable("killed")
        new_rows = await super().append(table, notes, rows)
        if fail == "after":
            raise Unavailable("killed")
        return new_rows


def says(number: int, version: int = 1) -> EntitiesExtracted:
    """Chunk `number` names A and how it is tied to B."""
    of = document(f"d{number}", version, file_path=f"{number}.txt")
    tie = relation("A", "B", f"tie {number}", f"k{number}", weight=0.1)
    return extracted(of, 0, [entity("A", "t", f"text {number} in {version}")], [tie])


async def hub_of(count: int) -> tuple[Merger, CountingRows]:
    """A merger, with the memory that the service has, whose A and tie to B so many chunks name."""
    rows = CountingRows()
    merger = Merger(rows, hubs=AggregateCache())
    for start in range(0, count, 50):
        await merger.merge(*(says(number) for number in range(start, min(start + 50, count))))
    return merger, rows


async def read_by(merger: Merger, rows: CountingRows, *events: EntitiesExtracted) -> int:
    """Rows that merging these takes."""
    before = rows.read
    await merger.merge(*events)
    return rows.read - before


async def same_as_read_whole(merger: Merger) -> bool:
    """Whether the graph is what a merger without memory makes of the same store."""
    result = await merger.picture()
    fresh_merger = Merger(merger.rows, hubs=AggregateCache(min_contributions=10**6))
    await fresh_merger.merge(says(0, 50))
    await merger.merge(says(0, 50))
    return await merger.picture() == await fresh_merger.picture() and result != {}


async def test_a_further_chunk_reads_as_little_of_a_large_hub_as_of_a_small_one() -> None:
    costs: list[tuple[int, int]] = []
    for count in (100, 1500):
        merger, rows = await hub_of(count)
        cost_of_one = await read_by(merger, rows, says(5000))
        costs.append(
            (
                cost_of_one,
                await read_by(merger, rows, *(says(number) for number in range(6000, 6050))),
            )
        )
    assert costs[0] == costs[1]
    assert costs[0][0] < 30
    assert await same_as_read_whole(merger)


async def test_a_process_that_knows_nothing_reads_a_hub_once() -> None:
    merger, rows = await hub_of(500)
    replica = merger.replica(MIN_CONTRIBUTIONS)
    assert await read_by(replica, rows, says(5000)) > 500
    assert await read_by(replica, rows, says(5001)) < 30


@pytest.mark.parametrize("count", [4, 100, 1500])
async def test_whoever_finds_that_another_has_counted_reads_what_that_one_merged(
    count: int,
) -> None:
    merger, rows = await hub_of(count)
    replica = merger.replica(MIN_CONTRIBUTIONS)
    await replica.merge(says(5000))
    for number in range(5001, 5041, 2):
        assert await read_by(merger, rows, says(number)) < 10
        assert await read_by(replica, rows, says(number + 1)) < 10
    assert (await merger.entities())["A"].support == count + 41
    assert await same_as_read_whole(merger)


async def test_whoever_was_long_away_reads_everything_once() -> None:
    merger, rows = await hub_of(100)
    replica = merger.replica(MIN_CONTRIBUTIONS)
    for number in range(5000, 5000 + MOST_NOTES + 1):
        await replica.merge(says(number))
    assert await read_by(merger, rows, says(6000)) > 200
    assert await read_by(merger, rows, says(6001)) < 10
    assert await same_as_read_whole(merger)


async def test_a_further_chunk_reads_no_earlier_chunk_of_a_name_that_few_name() -> None:
    merger, rows = await hub_of(5)
    before_it = await read_by(merger, rows, says(5000))
    rows.fail = "after"
    with pytest.raises(Unavailable):
        await merger.merge(says(3, 2))
    await merger.merge(says(3, 2))
    assert before_it == await read_by(merger, rows, says(4, 2)) < 10
    deletion: Any = delivered(DocumentDeleted(document_id="d2"), 900)
    await on_extents([deletion], Generations(), dependencies=merger.dependencies)
    assert (await merger.entities())["A"].support == 5
    assert await same_as_read_whole(merger)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_batch_that_failed_at_its_counting_counts_once_when_it_comes_again(
    when: str,
) -> None:
    merger, rows = await hub_of(100)
    rows.fail = when
    with pytest.raises(Unavailable):
        await merger.merge(says(5000), says(3, 2))
    for _ in range(2):
        await merger.merge(says(5000), says(3, 2))
        assert (await merger.entities())["A"].support == 101
        assert await same_as_read_whole(merger)


@pytest.mark.parametrize(("count", "kind"), [(100, IncrementalAggregate), (300, CompactAggregate)])
async def test_what_is_deleted_leaves_a_remembered_hub(count: int, kind: type) -> None:
    merger, rows = await hub_of(count)
    assert isinstance(merger.hubs.get(SPACE, [KEY])[KEY], kind)
    before = rows.read
    batch: list[Any] = [
        delivered(DocumentDeleted(document_id=f"d{number}"), 900 + number) for number in range(3)
    ]
    await on_extents(batch, Generations(), dependencies=merger.dependencies)
    assert rows.read - before < 60
    ada = (await merger.entities())["A"]
    tie = (await merger.relations())["A", "B"]
    assert (ada.support, tie.support) == (count - 3, count - 3)
    assert round(tie.weight, 6) == round(0.1 * (count - 3), 6)
    assert "k2" not in tie.keywords
    await on_extents(
        [delivered(chunked(document("d9", 800), "x"), 800)],
        Generations(),
        dependencies=merger.dependencies,
    )
    assert await same_as_read_whole(merger)


async def test_generations_and_workspaces_have_hubs_of_their_own() -> None:
    merger, _ = await hub_of(60)
    events = [delivered(says(number), number + 1) for number in range(40)]
    await on_entities_extracted(events, Generations(graph=2), dependencies=merger.dependencies)
    await merger.merge(*(says(number) for number in range(35)), workspace="other")
    await merger.merge(says(5000))
    supports = [
        (await merger.entities(partition))["A"].support
        for partition in (SPACE, Partition("w", 2), Partition("other", 1))
    ]
    assert supports == [61, 40, 35]


def hub(name: str, count: int) -> IncrementalAggregate:
    """A hub of so many contributions."""
    aggregate = IncrementalAggregate((name,), SummaryLimits())
    for number in range(count):
        aggregate.put(contributions(extracted(document(f"d{number}"), 0, [entity(name)])))
    return aggregate


def test_what_was_used_longest_ago_is_forgotten_when_there_is_no_room() -> None:
    hubs = AggregateCache(max_bytes=2 * (2 * EMPTY + 13 * OVERHEAD))
    hubs.put(SPACE, [hub("A", 5), hub("B", 5)])
    hubs.put(SPACE, hubs.get(SPACE, [("A",)]).values())
    hubs.put(SPACE, [hub("C", 5)])
    assert set(hubs.get(SPACE, [("A",), ("B",), ("C",)])) == {("A",), ("C",)}
    hubs.put(SPACE, [hub("D", 30)])
    assert hubs.get(SPACE, [("A",), ("B",), ("C",), ("D",)]) == {}


@pytest.mark.parametrize(("count", "max_bytes"), [(20, 130_000), (300, 600_000)])
async def test_of_hubs_for_which_there_is_no_room_the_contributions_are_kept(
    count: int, max_bytes: int
) -> None:
    rows = CountingRows()
    merger = Merger(rows, hubs=AggregateCache(max_bytes))
    names = [f"N{number}" for number in range(8)]

    def named_in(chunk: int) -> EntitiesExtracted:
        entities = [entity(name, "t", f"{name} in {chunk}") for name in names]
        return extracted(document(f"d{chunk}", file_path=f"{chunk}.txt"), 0, entities)

    for chunk in range(count):
        await merger.merge(named_in(chunk))
    cached = merger.hubs.get(SPACE, [(name,) for name in names])
    assert {PackedContributions} < {type(one) for one in cached.values()}
    for chunk in range(count, count + 9):
        assert await read_by(merger, rows, named_in(chunk)) < 40
    assert (await merger.entities())["N3"].support == count + 9
    assert await same_as_read_whole(merger)


def test_an_older_hub_never_takes_the_place_of_a_newer_one() -> None:
    hubs = AggregateCache()
    newer_hub = hub("A", 3)
    older_hub = hub("A", 2)
    newer_hub.revision, older_hub.revision = 7, 6
    hubs.put(SPACE, [newer_hub])
    hubs.put(SPACE, [older_hub])
    assert hubs.get(SPACE, [KEY]) == {KEY: newer_hub}


def few(name: str, count: int) -> FewContributions:
    """So many contributions to an entity."""
    of_name = (
        contributions(extracted(document(f"d{number}"), 0, [entity(name)]))
        for number in range(count)
    )
    return SmallAggregate((name,), chain.from_iterable(of_name), SummaryLimits()).few


def test_keys_of_few_chunks_take_an_eighth_at_most() -> None:
    size = few("N00", 3).size
    hubs = AggregateCache(max_bytes=80 * size)
    names = [f"N{number:02}" for number in range(50)]
    hubs.put(SPACE, [few(name, 3) for name in names])
    assert set(hubs.get(SPACE, [(name,) for name in names])) == {(name,) for name in names[-10:]}


def test_a_key_that_one_chunk_names_is_not_cached() -> None:
    hubs = AggregateCache()
    hubs.put(SPACE, [few("A", 1), few("B", 2)])
    assert list(hubs.get(SPACE, [("A",), ("B",)])) == [("B",)]
