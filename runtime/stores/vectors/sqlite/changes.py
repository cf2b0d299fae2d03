"""Which slots were written last, of all collections of a file: who has what stands in the file in
memory reads these and nothing else.

Each write has a number, greater than those before it. Only the latest are there.
"""

import sqlite3
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from runtime.stores.vectors.sqlite.schema import CHANGES, VectorTable

LATEST = 4096
"""Writes that are there at least: of what was read before them all is read anew."""
REMOVED_TOGETHER = 512
"""Writes, about, that are removed at once."""

# The only name in SQL text is a constant; every value is a parameter.
# ruff: noqa: S608


def record(
    connection: sqlite3.Connection, table: VectorTable, space: int, slots: Collection[int]
) -> None:
    """Record that these slots of a workspace were written."""
    sql = f"INSERT INTO {CHANGES} (name, space, slots) VALUES (?, ?, ?) RETURNING number"
    content = np.array(list(slots), np.uint32).tobytes()
    number = connection.execute(sql, (table.name, space, content)).fetchall()[0][0]
    if number % REMOVED_TOGETHER == 0:
        connection.execute(f"DELETE FROM {CHANGES} WHERE number <= ?", (number - LATEST,))


def last_number(connection: sqlite3.Connection) -> int:
    """Return the number of the last write, 0 before the first."""
    sql = f"SELECT coalesce(max(number), 0) FROM {CHANGES}"
    return connection.execute(sql).fetchone()[0]


def slots_since(
    connection: sqlite3.Connection, table: VectorTable, space: int, number: int
) -> NDArray[np.int64] | None:
    """Return the slots that were written after the write of this number, in their order; None where
    the writes after it are not all there.
    """
    (first,) = connection.execute(f"SELECT min(number) FROM {CHANGES}").fetchone()
    if number and (first is None or first > number + 1):
        return None
    sql = f"SELECT slots FROM {CHANGES} WHERE number > ? AND name = ? AND space = ?"
    records = connection.execute(sql, (number, table.name, space))
    contents = b"".join(content for (content,) in records)
    return np.unique(np.frombuffer(contents, np.uint32)).astype(np.int64)
