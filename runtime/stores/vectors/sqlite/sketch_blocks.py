"""The sketches of a workspace with many rows, in blocks in the order of their slots.

Small workspaces have none: a search compares all rows as fast. The write with which a workspace
gets large makes those of all its rows, and from then on each write keeps them true, until only half
as many rows are left.
"""

import sqlite3
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from runtime.stores.vectors.sqlite import blocks
from runtime.stores.vectors.sqlite.entries import Matrix
from runtime.stores.vectors.sqlite.sketches import Codes, sketch_bytes, sketches_of
from runtime.stores.vectors.sqlite.tables import VectorTable

LEAST_ROWS = 65_536
"""Rows of a workspace that has sketches. Fewer are compared in the time that choosing among them
takes.
"""

BLOCK_ROWS = 256
"""A block that is new is written as noughts first."""

# The only names in SQL text are those of `VectorTable`; every value is a parameter.
# ruff: noqa: S608


def write(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    count: int,
    slots: Sequence[int],
    vectors: Matrix,
) -> None:
    """Have the sketches of a workspace with `count` rows where it has any or needs some, after
    these vectors were written to their slots.
    """
    if _exist(connection, table, workspace):
        _write(connection, table, workspace, np.array(slots), sketches_of(vectors))
    elif count >= LEAST_ROWS:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {table.sketches} (workspace TEXT NOT NULL, "
            "number INTEGER NOT NULL, sketches BLOB NOT NULL, PRIMARY KEY (workspace, number))"
        )
        for all_slots, entries in blocks.read_all(connection, table, workspace, count):
            _write(connection, table, workspace, all_slots, sketches_of(entries.vectors()))


def cut(connection: sqlite3.Connection, table: VectorTable, workspace: str, count: int) -> None:
    """Remove the sketches of all slots but the first `count`, or all where few rows are left."""
    if not _exist(connection, table, workspace):
        return
    full_blocks, sketches_left = divmod(count if count >= LEAST_ROWS // 2 else 0, BLOCK_ROWS)
    connection.execute(
        f"DELETE FROM {table.sketches} WHERE workspace = ? AND number >= ?",
        (workspace, full_blocks + bool(sketches_left)),
    )
    if sketches_left:
        row = _block(connection, table, workspace, full_blocks)
        with connection.blobopen(table.sketches, "sketches", row) as content:
            content.seek(sketches_left * sketch_bytes(table.dimension))
            content.write(bytes(len(content) - content.tell()))


def read(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, count: int
) -> Codes | None:
    """Return the sketches of a workspace with `count` rows by slot, None where it has none."""
    if count < LEAST_ROWS or not _exist(connection, table, workspace):
        return None
    codes = np.empty((count, 2, sketch_bytes(table.dimension) // 16), np.uint64)
    content = codes.reshape(-1).view(np.uint8)
    start = 0
    for (block,) in connection.execute(
        f"SELECT sketches FROM {table.sketches} WHERE workspace = ? ORDER BY number", (workspace,)
    ):
        part = content[start : start + len(block)]
        part[:] = np.frombuffer(block, np.uint8, len(part))
        start += len(block)
    return codes


def _exist(connection: sqlite3.Connection, table: VectorTable, workspace: str) -> bool:
    """Return whether the workspace has sketches: then each of its rows has one."""
    sql = "SELECT 1 FROM sqlite_master WHERE name = ?"
    if connection.execute(sql, (table.sketches,)).fetchone() is None:
        return False
    sql = f"SELECT 1 FROM {table.sketches} WHERE workspace = ? LIMIT 1"
    return connection.execute(sql, (workspace,)).fetchone() is not None


def _write(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: NDArray[np.int64],
    codes: Codes,
) -> None:
    """Write sketches to their slots. Blocks that are missing are made."""
    size = sketch_bytes(table.dimension)
    order = np.argsort(slots, kind="stable").tolist()
    for number, group in groupby(order, key=lambda place: int(slots[place]) // BLOCK_ROWS):
        row = _block(connection, table, workspace, number)
        with connection.blobopen(table.sketches, "sketches", row) as content:
            for place in group:
                content.seek(int(slots[place]) % BLOCK_ROWS * size)
                content.write(codes[place].tobytes())


def _block(connection: sqlite3.Connection, table: VectorTable, workspace: str, number: int) -> int:
    """Return the row of a block; where it is missing, made of noughts."""
    sql = f"SELECT rowid FROM {table.sketches} WHERE workspace = ? AND number = ?"
    if record := connection.execute(sql, (workspace, number)).fetchone():
        return record[0]
    sql = f"INSERT INTO {table.sketches} VALUES (?, ?, zeroblob(?)) RETURNING rowid"
    values = (workspace, number, BLOCK_ROWS * sketch_bytes(table.dimension))
    return connection.execute(sql, values).fetchall()[0][0]
