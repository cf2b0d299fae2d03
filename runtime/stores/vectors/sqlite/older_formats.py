"""Brings a file of an older format to this one, some thousands of rows a transaction.

The format is recorded first: older programs refuse the file from then on, and what is interrupted
goes on with the next use. Blocks of vectors stay as they are.
"""

import sqlite3
from itertools import groupby

from runtime.stores.sqlite import sorted_runs
from runtime.stores.vectors.sqlite.schema import CATALOG, FORMAT, VectorTable, make, space_of

MOVED_TOGETHER = 2000
"""Rows that are moved in one transaction: other processes wait for its end."""

UNSORTED_FORMAT = 4
"""The last format with rows that are to be moved."""

_OLDER = "older"
"""What the name of a table ends with whose rows are to be moved."""
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%\\_' || ? ESCAPE '\\'"
)
_COLUMNS = "slot, id, text, text_hash, names, document_id, file_path, version, position"

# Names of tables are made by `collection_names`; every value is a parameter.
# ruff: noqa: S608


def begin(connection: sqlite3.Connection) -> None:
    """Record this format, with new tables for what is of an older one: those are renamed."""
    (format,) = connection.execute("PRAGMA user_version").fetchone()
    if format >= FORMAT:
        return
    for (name,) in connection.execute(_TABLES, ("sketches",)).fetchall():
        connection.execute(f"DROP TABLE {name}")
    for name, model in connection.execute(f"SELECT name, model FROM {CATALOG}").fetchall():
        table = VectorTable(name, 0)
        if format <= UNSORTED_FORMAT:
            connection.execute(f"DROP INDEX {table.slots}")
            connection.execute(f"ALTER TABLE {name} RENAME TO {name}_{_OLDER}")
        make(connection, table, model)


def is_left(connection: sqlite3.Connection) -> bool:
    """Return whether anything is left to move, or to make away with."""
    return _next_table(connection) is not None


def move_some(connection: sqlite3.Connection) -> None:
    """Move some rows of an older format, if any are left."""
    older = _next_table(connection)
    if older is None:
        return
    sql = f"SELECT workspace, rowid, {_COLUMNS} FROM {older} ORDER BY rowid LIMIT {MOVED_TOGETHER}"
    rows = connection.execute(sql).fetchall()
    if not rows:
        connection.execute(f"DROP TABLE {older}")
        return
    table = VectorTable(older.removesuffix(f"_{_OLDER}"), 0)
    for workspace, group in groupby(rows, key=lambda row: row[0]):
        values = [row[2:] for row in group]
        space = space_of(connection, workspace, make=True)
        connection.executemany(
            f"INSERT INTO {table.name} (space, {_COLUMNS}) "
            f"VALUES ({space}, {', '.join('?' * len(values[0]))})",
            values,
        )
        slot_of_id = {id: slot for slot, id, *_ in values}
        sorted_runs.add(connection, table.ids, space, slot_of_id)
    connection.execute(f"DELETE FROM {older} WHERE rowid <= ?", (rows[-1][1],))


def _next_table(connection: sqlite3.Connection) -> str | None:
    """Return the name of a table of an older format, None where all is moved."""
    record = connection.execute(_TABLES, (_OLDER,)).fetchone()
    return record[0] if record else None
