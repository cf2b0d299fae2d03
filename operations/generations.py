"""Generations of projections: up to where they hold the log, and which of them go."""

from collections.abc import Sequence
from functools import reduce

from contracts.graph import Partition, Projection
from contracts.partitions import LogPosition
from operations.checkpoints import drop_others
from operations.digest import Stores
from runtime.bus.port import LiveGenerations, Log
from runtime.stores.documents.port import Rows, Table

TABLES: dict[Projection, tuple[str, ...]] = {
    "status": ("documents", "chunks", "supersessions", "costs", "cost_sums"),
    "graph": ("chunk_contributions", "folded", "mentions", "edits", "summaries", "graph_extents"),
    "vectors": ("vector_extents",),
}
"""Tables of the document store that belong to a projection."""


async def drop_unused(
    pointers: LiveGenerations, stores: Stores, targets: Sequence[Projection]
) -> None:
    """Remove every generation of these projections that is neither live nor was before the last
    switch.
    """
    generations, _ = await pointers.read()
    for target in targets:
        kept_generations = generations[target].kept_generations
        for partition in await _partitions(target, stores.rows):
            if partition.generation not in kept_generations:
                await _drop_tables(target, partition, stores.rows)
        await drop_others(target, list(kept_generations), stores)
        if target == "graph":
            for partition in await stores.graph.partitions():
                if partition.generation not in kept_generations:
                    await stores.graph.drop(partition)
                    await stores.graph.drop_checkpoint(partition.generation)
        if target == "vectors":
            for generation in await stores.vectors.generations():
                if generation not in kept_generations:
                    await stores.vectors.drop(generation)


async def common_position(log: Log, stored: Sequence[int | Sequence[int]]) -> LogPosition:
    """Return the place in the log up to which everything is that all of these have, as stored."""
    count = len((await log.end()).sequences)
    positions = [LogPosition.of_stored(position, count) for position in stored]
    return reduce(LogPosition.common, positions)


async def _partitions(target: Projection, rows: Rows) -> set[Partition]:
    return {partition for name in TABLES[target] for partition in await rows.partitions(name)}


async def _drop_tables(target: Projection, partition: Partition, rows: Rows) -> None:
    for name in TABLES[target]:
        await rows.drop(Table(name, partition))
