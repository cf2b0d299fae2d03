"""What merging costs the document store: calls and rows, whatever the size of a hub and the number
of replicas.
"""

from collections import Counter
from typing import Any

import pytest

from contracts.events import GraphEdited
from contracts.graph import Generations
from contracts.graph_edits import EditedValues
from runtime.stores.documents.memory import MemoryRows
from services.merger.aggregate_cache import AggregateCache
from services.merger.edits_cache import EditsCache
from services.merger.handler import on_entities_extracted, on_graph_edited
from services.merger.port import MergeDependencies
from tests.support.events import delivered, document, entity, extracted, relation
from tests.support.merging import Merger

READS = ("get", "find", "scan", "under", "update", "append")


class Counting:
    """Counts the calls of a store, and the rows that they return, by table."""

    def __init__(self, rows: MemoryRows) -> None:
        self._rows = rows
        self.calls, self.read = Counter[str](), Counter[str]()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._rows, name)

        async def call(table: Any, *arguments: Any, **options: Any) -> Any:
            result = await method(table, *arguments, **options)
            self.calls[f"{name} {table.name}"] += 1
            if name in READS:
                self.read[table.name] += len(result)
            return result

        return call


class Replica:
    """A process that merges, with caches of its own, over a shared store."""

    def __init__(self, merger: Merger) -> None:
        self.rows = Counting(merger.rows)
        dependencies = Merger(self.rows, merger.graph, AggregateCache()).dependencies  # type: ignore[arg-type]
        edits = EditsCache()
        self.dependencies = MergeDependencies(
            dependencies.contributions,
            dependencies.summaries,
            dependencies.graph,
            dependencies.limits,
            dependencies.cache,
            edits,
        )

    async def merge(self, *numbers: int) -> None:
        batch = [delivered(says(number), number + 1) for number in numbers]
        await on_entities_extracted(batch, Generations(), dependencies=self.dependencies)

    async def cost_of(self, *numbers: int) -> int:
        """Rows that merging these documents in one batch reads."""
        before = self.rows.read.total()
        await self.merge(*numbers)
        return self.rows.read.total() - before


def says(number: int) -> Any:
    """Document `number` names a hub, its tie to another one, and something of its own."""
    of = document(f"d{number}", number + 1, file_path=f"{number}.txt")
    own_entity = entity(f"Own {number}", "t", f"own {number}")
    return extracted(
        of,
        0,
        [entity("Hub", "t", f"text {number}"), own_entity],
        [relation("Hub", "Other", f"tie {number}")],
    )


async def hub_of(count: int, edits: int = 0) -> Merger:
    """A store whose hub so many documents name, and with so many edits of other names."""
    merger = Merger()
    first = Replica(merger)
    for start in range(0, count, 50):
        await first.merge(*range(start, min(start + 50, count)))
    for start in range(0, edits, 500):
        batch: list[Any] = [
            delivered(
                GraphEdited(
                    operation=operation, names=(f"N {n}",), target=target, values=EditedValues()
                ),
                10**6 + n,
            )
            for n in range(start, min(start + 500, edits))
            for operation, target in [
                ("rename_entity", f"M {n}") if n % 2 else ("create_entity", None)
            ]
        ]
        await on_graph_edited(batch, Generations(), dependencies=first.dependencies)
    return merger


@pytest.mark.parametrize("replicas", [1, 4])
async def test_a_chunk_costs_the_same_at_a_small_hub_and_at_a_large_one(replicas: int) -> None:
    costs: list[list[int]] = []
    for count in (100, 3000):
        merger = await hub_of(count)
        mergers = [Replica(merger) for _ in range(replicas)]
        for number, replica in enumerate(mergers):
            await replica.merge(count + number)  # each reads the hub once
        numbers = range(count + replicas, count + 5 * replicas)
        costs.append([await mergers[number % replicas].cost_of(number) for number in numbers])
        assert (await merger.entities())["Hub"].support == count + 5 * replicas
    assert costs[0] == costs[1]
    # The chunk's row written, four counters, a check of bounds and edits; and one row for each
    # chunk merged meanwhile.
    assert max(costs[1]) <= 6 + replicas


async def test_a_chunk_costs_the_same_at_a_renamed_hub_and_at_a_large_one() -> None:
    costs: list[list[int]] = []
    for count in (100, 1500):
        merger = await hub_of(count)
        mergers = [Replica(merger) for _ in range(2)]
        edit: Any = GraphEdited(
            operation="merge_entities", names=("Hub", "Other"), target="Core", values=EditedValues()
        )
        await on_graph_edited(
            [delivered(edit, 10**7)], Generations(), dependencies=mergers[0].dependencies
        )
        for number, replica in enumerate(mergers):
            await replica.merge(count + number)
        numbers = range(count + 2, count + 12)
        costs.append([await mergers[number % 2].cost_of(number) for number in numbers])
        assert (await merger.entities())["Core"].support == count + 12
    assert costs[0] == costs[1]


async def test_a_batch_reads_each_chunk_once() -> None:
    merger = await hub_of(300)
    replica = Replica(merger)
    await replica.merge(300)
    assert await replica.cost_of(*range(301, 365)) == 64 + (64 + 3) + 64


async def test_edits_are_read_when_there_are_new_ones_and_only_these() -> None:
    merger = await hub_of(10, edits=500)
    replica = Replica(merger)
    other_replica = Replica(merger)
    await replica.merge(100)
    await other_replica.merge(101)
    assert replica.rows.read["edits"] == 500
    for number in range(102, 110):
        await replica.merge(number)
    assert replica.rows.read["edits"] == 500
    edit: Any = GraphEdited(
        operation="rename_entity", names=("Own 5",), target="Owned", values=EditedValues()
    )
    await on_graph_edited(
        [delivered(edit, 2 * 10**6)], Generations(), dependencies=other_replica.dependencies
    )
    await replica.merge(110)
    await replica.merge(111)
    assert replica.rows.read["edits"] == 501
    assert "Owned" in await merger.entities()


async def test_many_edits_cost_a_chunk_no_row_more() -> None:
    costs: list[int] = []
    for edits in (10, 2_000):
        replica = Replica(await hub_of(100, edits))
        await replica.merge(100)
        costs.append(await replica.cost_of(101))
    assert costs[0] == costs[1]


async def test_a_batch_takes_few_calls_whatever_its_size() -> None:
    replica = Replica(await hub_of(100))
    await replica.merge(100)
    costs: list[Counter[str]] = []
    for numbers in (range(101, 102), range(102, 166)):
        before = Counter(replica.rows.calls)
        await replica.merge(*numbers)
        costs.append(replica.rows.calls - before)
    assert costs[0] == costs[1]
    assert costs[0].total() <= 6
