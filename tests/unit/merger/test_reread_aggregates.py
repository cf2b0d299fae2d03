"""A hub that is read anew, with summaries of it in the store: reading comes to an end, and it says
the same as ever.
"""

from collections.abc import Collection

import pytest

from contracts.events import DescriptionSummarized
from contracts.graph import Generations, Partition
from knowledge.descriptions import LEVELS, SummaryLimits
from runtime.errors import Retryable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Row, Table
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import MIN_CONTRIBUTIONS, AggregateCache
from services.merger.describing import MAX_READS
from services.merger.domain.incremental_aggregate import IncrementalAggregate
from services.merger.handler import on_entities_extracted
from services.merger.port import MergeDependencies
from tests.support.events import delivered
from tests.support.merging import SPACE, Merger
from tests.support.summarizing import Harness, says

COUNTS = [40, 100, 200, 400]


class CountingRows(MemoryRows):
    """Counts how often summaries are read."""

    reads = 0

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        self.reads += table.name == "summaries"
        return await super().get(table, keys)


async def leaves_summarised(count: int, share: float = 1.0) -> tuple[Harness, CountingRows]:
    """A hub of so many descriptions, of whose groups on the lowest level that share has a
    summary.
    """
    rows = CountingRows()
    harness = Harness(Merger(rows, hubs=AggregateCache()))
    summaries = await harness.condense(*await harness.says(count))
    await harness.keep(*summaries[: max(1, round(share * len(summaries)))])
    return harness, rows


async def hub_settled(count: int) -> tuple[Harness, CountingRows]:
    """A hub of so many descriptions that lacks nothing."""
    rows = CountingRows()
    harness = Harness(Merger(rows, hubs=AggregateCache()))
    await harness.settle(await harness.says(count))
    return harness, rows


async def ends(merger: Merger, rows: CountingRows, number: int) -> None:
    """One more document is merged, with a look per level at most."""
    before = rows.reads
    await merger.merge(says(number))
    assert 1 <= rows.reads - before <= LEVELS + 2


@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize("count", COUNTS)
async def test_a_restarted_merger_reads_a_hub_whose_leaves_are_summarised(
    count: int, share: float
) -> None:
    harness, rows = await leaves_summarised(count, share)
    restarted_merger = harness.merger.replica(MIN_CONTRIBUTIONS)
    await ends(restarted_merger, rows, count)
    assert (await restarted_merger.entities())["A"].support == count + 1
    harness.merger = restarted_merger
    assert await harness.condense(*await harness.says(count + 2, count + 1)), (
        "the summariser reads it too, and goes on"
    )


@pytest.mark.parametrize("count", COUNTS)
async def test_a_restarted_merger_reads_a_hub_that_lacks_nothing(count: int) -> None:
    harness, rows = await hub_settled(count)
    text = await harness.description()
    restarted_merger = harness.merger.replica(MIN_CONTRIBUTIONS)
    await ends(restarted_merger, rows, 0)
    assert (await restarted_merger.entities())["A"].description == text
    await ends(restarted_merger, rows, count)


@pytest.mark.parametrize("count", [100, 400])
async def test_a_hub_that_finds_no_room_in_memory_is_read_at_each_document(count: int) -> None:
    harness, rows = await hub_settled(count)
    forgetful = Merger(rows, harness.merger.graph, AggregateCache(max_bytes=0))
    for number in range(3):
        await ends(forgetful, rows, count + number)


@pytest.mark.parametrize("count", [100, 400])
async def test_replicas_that_take_turns_read_each_others_hub(count: int) -> None:
    harness, rows = await hub_settled(count)
    replica = harness.merger.replica(MIN_CONTRIBUTIONS)
    for number in range(2):
        await ends(replica, rows, count + 2 * number)
        await ends(harness.merger, rows, count + 2 * number + 1)
    assert await replica.picture() == await harness.merger.picture()


@pytest.mark.parametrize("summaries_first", [True, False])
@pytest.mark.parametrize("count", [100, 400])
async def test_a_rebuild_reads_the_summaries_of_the_log(count: int, summaries_first: bool) -> None:
    harness, rows = await hub_settled(count)
    live = await harness.merger.picture()
    anew = Partition("w", 2)
    rebuilt = Harness(Merger(rows, harness.merger.graph, AggregateCache()))
    generations = Generations(graph=2)
    events = [delivered(says(number), number + 1) for number in range(count)]
    steps: list[DescriptionSummarized] = harness.summaries
    if summaries_first:
        await rebuilt.keep(*steps, generations=generations)
    for start in range(0, count, 64):
        await on_entities_extracted(
            events[start : start + 64], generations, dependencies=rebuilt.merger.dependencies
        )
    if not summaries_first:
        await rebuilt.keep(*steps, generations=generations)
    assert await rebuilt.merger.picture(anew) == live


class ChangingSummaries(RowSummaries):
    """Summaries that somebody changes whenever they are read."""

    hub: IncrementalAggregate | None = None

    async def get(self, partition: Partition, hashes: Collection[str]) -> dict[str, str]:
        if self.hub:
            self.hub.revision += 1
        return await super().get(partition, hashes)


async def test_summaries_that_change_at_every_look_give_the_others_a_turn() -> None:
    rows = CountingRows()
    hubs = AggregateCache()
    summaries = ChangingSummaries(rows)
    dependencies = MergeDependencies(
        RowContributions(rows), summaries, Merger().graph, SummaryLimits(), hubs
    )
    batch = [delivered(says(number), number + 1) for number in range(40)]
    await on_entities_extracted(batch, Generations(), dependencies=dependencies)
    (summaries.hub,) = hubs.get(SPACE, [("A",)]).values()
    before = rows.reads
    with pytest.raises(Retryable, match="change faster"):
        await on_entities_extracted(
            [delivered(says(40), 41)], Generations(), dependencies=dependencies
        )
    assert rows.reads - before == MAX_READS
