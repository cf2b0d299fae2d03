"""What of a document store no replay brings back: caches of what was paid for, the hash chains, the
archive.

They are copied row by row into the other store. What is the same there already is not written
again.
"""

from collections.abc import Sequence

from contracts.graph import Partition
from operations.digest import Stores
from operations.retries import retry_outages
from runtime.projections.log_archive import ARCHIVE_KEY, CHAIN_KEY, HOLES_KEY
from runtime.stores.documents.checkpoints import LOG_KEY
from runtime.stores.documents.port import INDEXES, Rows, Table
from runtime.stores.documents.schema import CHECKPOINTS

COPIED = ("embeddings", "keywords", "condensed", "answers", "chain", "archive")
"""Tables of generation 0. `extractions` are not among them: the log has all of them."""

NOTES = (LOG_KEY, CHAIN_KEY, ARCHIVE_KEY, HOLES_KEY)
"""Rows of the checkpoints that say how far the log was seen, chained and archived."""

PAGE = 500


async def copy_tables(source: Rows, to: Rows, names: Sequence[str] = COPIED) -> dict[str, int]:
    """Copy these tables and the notes, and return how many rows were written, by table. Raises
    Unavailable.
    """
    # Read before the rows they speak of: a note never says more than what was copied.
    notes = await retry_outages(lambda: source.get(CHECKPOINTS, NOTES))
    counts = dict.fromkeys(names, 0)
    for name in names:
        for partition in await retry_outages(lambda name=name: source.partitions(name)):
            counts[name] += await _copy(Table(name, partition), source, to)
    await retry_outages(lambda: to.put(CHECKPOINTS, notes))
    return counts


async def _copy(table: Table, source: Rows, to: Rows) -> int:
    count = 0
    after = ""
    while page := dict(await retry_outages(lambda after=after: source.scan(table, after, PAGE))):
        there = await retry_outages(lambda page=page: to.get(table, list(page)))
        new_rows = {key: row for key, row in page.items() if there.get(key) != row}
        await retry_outages(lambda rows_to_put=new_rows: to.put(table, rows_to_put))
        count = count + len(new_rows)
        after = max(page)
    return count


async def empty(stores: Stores) -> None:
    """Remove every row, entity, relation and vector of any generation, and the checkpoints. Raises
    Unavailable.
    """
    for name in (name for name in INDEXES if name not in ("schema", "checkpoints")):
        for partition in await stores.rows.partitions(name):
            await stores.rows.drop(Table(name, partition))
    await stores.rows.delete(CHECKPOINTS, [key for key, _ in await stores.rows.scan(CHECKPOINTS)])
    for partition in await stores.graph.partitions():
        await stores.graph.drop(partition)
        await stores.graph.drop_checkpoint(partition.generation)
    for generation in await stores.vectors.generations():
        await stores.vectors.drop(generation)


async def workspaces(rows: Rows, generation: int) -> list[str]:
    """Return the workspaces with documents in that generation of the status, sorted."""
    partitions: set[Partition] = await rows.partitions("documents")
    return sorted(
        partition.workspace for partition in partitions if partition.generation == generation
    )
