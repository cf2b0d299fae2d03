"""The tables of a collection in a SQLite file: one of rows, an index of their ids, one of blocks
with their vectors (`blocks.py`).

The catalog names the model of each collection, and holds its checkpoint. Workspaces have small
numbers. A table for all collections tells which slots were written last (`changes.py`).
"""

import sqlite3
from dataclasses import dataclass

from runtime.stores.port import Checkpoint
from runtime.stores.sqlite.sorted_runs import SortedRuns

FORMAT = 7
"""The version of what is written, in the header of the file (`user_version`): 0 where all blocks
have single precision; 3 where large workspaces had a third table; up to 4 where rows stood in a
tree in the order of their ids; up to 5 where writes were not recorded (`changes.py`); up to 6 where
rows were not packed, which are read as they are (`runtime/stores/packed_texts.py`). What is of a
lower one is brought to this one (`older_formats.py`).
"""

CATALOG = "collections"
WORKSPACES = "workspaces"
CHANGES = "changes"

_SHARED_TABLES = (
    f"CREATE TABLE IF NOT EXISTS {CATALOG} "
    "(name TEXT PRIMARY KEY, model TEXT NOT NULL, sequence INTEGER, log TEXT)",
    f"CREATE TABLE IF NOT EXISTS {WORKSPACES} "
    "(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    # Numbers rise for ever, since the latest are never removed.
    f"CREATE TABLE IF NOT EXISTS {CHANGES} (number INTEGER PRIMARY KEY, "
    "name TEXT NOT NULL, space INTEGER NOT NULL, slots BLOB NOT NULL)",
)

# Names of tables are made by `collection_names`; every value is a parameter.
# ruff: noqa: S608


@dataclass(frozen=True)
class VectorTable:
    """One collection: the name of its table of rows, and the numbers of a vector."""

    name: str
    dimension: int

    @property
    def blocks(self) -> str:
        """Return the name of the table with the vectors."""
        return f"{self.name}_blocks"

    @property
    def slots(self) -> str:
        """Return the name of the index that finds rows by their slots."""
        return f"{self.name}_slots"

    @property
    def ids(self) -> SortedRuns:
        """Return the index that finds slots by ids."""
        return SortedRuns(self.name)


def space_of(connection: sqlite3.Connection, workspace: str, *, make: bool = False) -> int:
    """Return the number of a workspace; 0, which none has, where it is not there."""
    sql = f"SELECT number FROM {WORKSPACES} WHERE name = ?"
    if record := connection.execute(sql, (workspace,)).fetchone():
        return record[0]
    if not make:
        return 0
    sql = f"INSERT INTO {WORKSPACES} (name) VALUES (?) RETURNING number"
    return connection.execute(sql, (workspace,)).fetchall()[0][0]


def make(connection: sqlite3.Connection, table: VectorTable, model: str) -> None:
    """Make the tables of a collection, unless they are there."""
    for statement in (*_SHARED_TABLES, *table.ids.statements().values()):
        connection.execute(statement)
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {table.name} (space INTEGER NOT NULL, slot INTEGER NOT NULL, "
        "id TEXT NOT NULL, text TEXT NOT NULL, text_hash TEXT NOT NULL, names TEXT NOT NULL, "
        "document_id TEXT NOT NULL, file_path TEXT NOT NULL, version INTEGER NOT NULL, "
        "position INTEGER NOT NULL)"
    )
    connection.execute(
        f"CREATE UNIQUE INDEX IF NOT EXISTS {table.slots} ON {table.name} (space, slot)"
    )
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {table.blocks} (workspace TEXT NOT NULL, "
        "number INTEGER NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY (workspace, number))"
    )
    connection.execute(
        f"INSERT OR IGNORE INTO {CATALOG} (name, model) VALUES (?, ?)", (table.name, model)
    )
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def drop(connection: sqlite3.Connection, table: VectorTable) -> None:
    """Remove the tables of a collection."""
    for name in (table.blocks, *table.ids.statements(), table.name):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute(f"DELETE FROM {CATALOG} WHERE name = ?", (table.name,))


def checkpoint_of(connection: sqlite3.Connection, table: VectorTable) -> Checkpoint | None:
    """Return the checkpoint of a collection, None before the first."""
    sql = f"SELECT sequence, log FROM {CATALOG} WHERE name = ? AND sequence IS NOT NULL"
    record = connection.execute(sql, (table.name,)).fetchone()
    return Checkpoint(*record) if record else None


def put_checkpoint(
    connection: sqlite3.Connection, table: VectorTable, checkpoint: Checkpoint
) -> None:
    """Store the checkpoint of a collection, unless one stands there with a greater sequence."""
    connection.execute(
        f"UPDATE {CATALOG} SET sequence = ?, log = ? "
        "WHERE name = ? AND coalesce(sequence < ?, true)",
        (checkpoint.sequence, checkpoint.log, table.name, checkpoint.sequence),
    )
