"""The vectors of a collection, in blocks: the numbers of some rows one after another, so that a
search reads them as one array.

Each workspace has its blocks. The row of slot `n` stands in block `n // BLOCK_ROWS` at place
`n % BLOCK_ROWS`, and slots have no gaps (`slotted_rows.py`). An entry is the vector as it was
given, in single precision, and one number more: 1 through its length, 0 where that is zero.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from runtime.stores.sqlite.lists import json_list
from runtime.stores.vectors.sqlite.tables import VectorTable

Entries = NDArray[np.float32]
"""Rows × (dimension + 1)."""

BLOCK_ROWS = 8
"""A block that is new is written as noughts first, so that with larger ones small writes take more.
"""

BLOCKS_TOGETHER = 64
"""Blocks that a search compares at once: 0.8 MB where vectors have 384 numbers."""

# The only names in SQL text are those of `VectorTable`; every value is a parameter.
# ruff: noqa: S608


def to_entries(vectors: Sequence[Sequence[float]]) -> Entries:
    """Return vectors, at least one, with 1 through their lengths."""
    matrix = np.array(vectors, dtype=np.float32)
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return np.hstack([matrix, factors.astype(np.float32)])


def write(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: Sequence[int],
    entries: Entries,
) -> None:
    """Write entries to their slots. Blocks that are missing are made."""
    entry_bytes = _entry_bytes(table)
    order = sorted(range(len(slots)), key=slots.__getitem__)
    for number, places in groupby(order, key=lambda place: slots[place] // BLOCK_ROWS):
        block_row = _block_row(connection, table, workspace, number)
        with connection.blobopen(table.blocks, "vectors", block_row) as block:
            for place in places:
                block.seek(slots[place] % BLOCK_ROWS * entry_bytes)
                block.write(entries[place].tobytes())


def read_all(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, count: int
) -> Iterator[tuple[NDArray[np.int64], Entries]]:
    """Yield the entries of slots 0 to `count`, some blocks at once, with their slots."""
    sql = f"SELECT vectors FROM {table.blocks} WHERE workspace = ? ORDER BY number"
    cursor = connection.execute(sql, (workspace,))
    first = 0
    while records := cursor.fetchmany(BLOCKS_TOGETHER):
        entries = _entries(b"".join(numbers for (numbers,) in records), table)[: count - first]
        yield np.arange(first, first + len(entries)), entries
        first += len(entries)


def read_some(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, slots: Iterable[int]
) -> Iterator[tuple[NDArray[np.int64], Entries]]:
    """Yield the entries of these slots, block by block, with their slots."""
    ordered = np.unique(np.fromiter(slots, np.int64))
    numbers = ordered // BLOCK_ROWS
    sql = (
        f"SELECT number, vectors FROM json_each(?) CROSS JOIN {table.blocks} "
        "ON workspace = ? AND number = value"
    )
    parameters = (json_list(np.unique(numbers).tolist()), workspace)
    for number, content in connection.execute(sql, parameters):
        start, end = np.searchsorted(numbers, [number, number + 1])
        here = ordered[start:end]
        yield here, _entries(content, table)[here % BLOCK_ROWS]


def vectors_at(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, slots: Sequence[int]
) -> NDArray[np.float32]:
    """Return the vectors of these slots, each given once, in their order."""
    vectors = np.empty((len(slots), table.dimension), np.float32)
    place_of_slot = {slot: place for place, slot in enumerate(slots)}
    for slots_here, entries in read_some(connection, table, workspace, slots):
        places = [place_of_slot[slot] for slot in slots_here.tolist()]
        vectors[places] = entries[:, :-1]
    return vectors


def cut(connection: sqlite3.Connection, table: VectorTable, workspace: str, count: int) -> None:
    """Remove all blocks but those of the first `count` slots, and overwrite what follows these."""
    full_blocks, entries_left = divmod(count, BLOCK_ROWS)
    first_unused = full_blocks + bool(entries_left)
    connection.execute(
        f"DELETE FROM {table.blocks} WHERE workspace = ? AND number >= ?",
        (workspace, first_unused),
    )
    if entries_left:
        block_row = _block_row(connection, table, workspace, full_blocks)
        with connection.blobopen(table.blocks, "vectors", block_row) as block:
            block.seek(entries_left * _entry_bytes(table))
            block.write(bytes(len(block) - block.tell()))


def _block_row(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, number: int
) -> int:
    """Return the row of a block, made of noughts where it is missing."""
    sql = f"SELECT rowid FROM {table.blocks} WHERE workspace = ? AND number = ?"
    if record := connection.execute(sql, (workspace, number)).fetchone():
        return record[0]
    sql = f"INSERT INTO {table.blocks} VALUES (?, ?, zeroblob(?)) RETURNING rowid"
    values = (workspace, number, BLOCK_ROWS * _entry_bytes(table))
    return connection.execute(sql, values).fetchall()[0][0]


def _entries(content: bytes, table: VectorTable) -> Entries:
    return np.frombuffer(content, np.float32).reshape(-1, table.dimension + 1)


def _entry_bytes(table: VectorTable) -> int:
    return 4 * (table.dimension + 1)
