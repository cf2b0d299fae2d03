"""The vectors of a collection, in blocks: the entries of some rows one after another, so that a
search reads them as one array.

Each workspace has its blocks. The row of slot `n` stands in block `n // BLOCK_ROWS` at place
`n % BLOCK_ROWS`, and slots have no gaps (`slotted_rows.py`). All entries of a block have one
precision (`entries.py`), which its length tells. A new block has half precision if its first
vectors are exact in it, and is written anew in single precision once one comes that is not. Blocks
of the first version of the file are all in single precision.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.stores.sqlite.lists import json_list
from runtime.stores.vectors.comparison import Numbers, VectorRows
from runtime.stores.vectors.sqlite.entries import entry_bytes, from_bytes, is_half, to_bytes
from runtime.stores.vectors.sqlite.schema import VectorTable

BLOCK_ROWS = 8
"""A block that is new is written as noughts first, so that with larger ones small writes take more.
"""

BLOCKS_TOGETHER = 64
"""Blocks that a search compares at once: 0.4 MB where vectors have 384 numbers."""

# The only names in SQL text are those of `VectorTable`; every value is a parameter.
# ruff: noqa: S608


class _Block(NamedTuple):
    """Where a block stands, and its precision."""

    row: int
    half: bool


def write(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: Sequence[int],
    vectors: Numbers,
) -> None:
    """Write vectors to their slots. Blocks that are missing are made."""
    order = sorted(range(len(slots)), key=slots.__getitem__)
    for number, group in groupby(order, key=lambda place: slots[place] // BLOCK_ROWS):
        places = list(group)
        half = is_half(vectors[places])
        block = _block(connection, table, workspace, number, half=half)
        if block.half and not half:
            block = _widen(connection, table, block)
        size = entry_bytes(table.dimension, half=block.half)
        with connection.blobopen(table.blocks, "vectors", block.row) as content:
            for place, entry in zip(
                places, to_bytes(vectors[places], half=block.half), strict=True
            ):
                content.seek(slots[place] % BLOCK_ROWS * size)
                content.write(entry)


def read_all(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, count: int
) -> Iterator[VectorRows]:
    """Yield the entries of slots 0 to `count` in their order, some blocks at once."""
    cursor = connection.execute(_contents(table), (workspace,))
    rows_left = count
    while records := cursor.fetchmany(BLOCKS_TOGETHER):
        for _, alike in groupby((content for (content,) in records), key=len):
            entries = _entries(list(alike), table).at(slice(rows_left))
            yield entries
            rows_left -= len(entries)


def read_some(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: NDArray[np.int64] | Sequence[int],
) -> Iterator[tuple[NDArray[np.int64], VectorRows]]:
    """Yield the entries of these slots, which have blocks, some at once, with their slots."""
    ordered = np.unique(np.array(slots, np.int64))
    sql = (
        f"SELECT number, vectors FROM json_each(?) CROSS JOIN {table.blocks} "
        "ON workspace = ? AND number = value"
    )
    numbers = json_list(np.unique(ordered // BLOCK_ROWS).tolist())
    cursor = connection.execute(sql, (numbers, workspace))
    while records := cursor.fetchmany(BLOCKS_TOGETHER):
        for _, group in groupby(records, key=lambda record: len(record[1])):
            numbers_here, contents = zip(*group, strict=True)
            start, end = np.searchsorted(
                ordered // BLOCK_ROWS, [numbers_here[0], numbers_here[-1] + 1]
            )
            here = ordered[start:end]
            places = np.searchsorted(numbers_here, here // BLOCK_ROWS) * BLOCK_ROWS
            yield here, _entries(contents, table).at(places + here % BLOCK_ROWS)


def vectors_at(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, slots: Sequence[int]
) -> Numbers:
    """Return the vectors of these slots, each given once, in their order."""
    vectors = np.empty((len(slots), table.dimension), np.float32)
    order = np.argsort(slots)
    first = 0
    for slots_here, entries in read_some(connection, table, workspace, slots):
        vectors[order[first : first + len(slots_here)]] = entries.vectors()
        first += len(slots_here)
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
        block = _block(connection, table, workspace, full_blocks, half=True)
        size = entry_bytes(table.dimension, half=block.half)
        with connection.blobopen(table.blocks, "vectors", block.row) as content:
            content.seek(entries_left * size)
            content.write(bytes(len(content) - content.tell()))


def _block(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    number: int,
    *,
    half: bool,
) -> _Block:
    """Return a block; where it is missing, made of noughts in the given precision."""
    sql = f"SELECT rowid, length(vectors) FROM {table.blocks} WHERE workspace = ? AND number = ?"
    if record := connection.execute(sql, (workspace, number)).fetchone():
        row, size = record
        return _Block(row, _has_half(table, size))
    sql = f"INSERT INTO {table.blocks} VALUES (?, ?, zeroblob(?)) RETURNING rowid"
    values = (workspace, number, _block_bytes(table, half=half))
    return _Block(connection.execute(sql, values).fetchall()[0][0], half)


def _widen(connection: sqlite3.Connection, table: VectorTable, block: _Block) -> _Block:
    """Write a block anew in single precision."""
    sql = f"SELECT vectors FROM {table.blocks} WHERE rowid = ?"
    (content,) = connection.execute(sql, (block.row,)).fetchone()
    wide = b"".join(to_bytes(_entries([content], table).vectors(), half=False))
    connection.execute(f"UPDATE {table.blocks} SET vectors = ? WHERE rowid = ?", (wide, block.row))
    return _Block(block.row, half=False)


def _contents(table: VectorTable) -> str:
    """Return the query of all blocks of a workspace in their order."""
    return f"SELECT vectors FROM {table.blocks} WHERE workspace = ? ORDER BY number"


def _entries(contents: Sequence[bytes], table: VectorTable) -> VectorRows:
    """Return the entries of blocks that have one precision, at least one."""
    half = _has_half(table, len(contents[0]))
    return from_bytes(b"".join(contents), table.dimension, half=half)


def _has_half(table: VectorTable, size: int) -> bool:
    return size == _block_bytes(table, half=True)


def _block_bytes(table: VectorTable, *, half: bool) -> int:
    return BLOCK_ROWS * entry_bytes(table.dimension, half=half)
