"""The tables of one model's collections in a SQLite file: found in its catalog once, made where
they are to be written.

A collection is two tables: one of rows, one of blocks with their vectors (`blocks.py`). The catalog
names the model of each collection, and holds its checkpoint.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from contracts.graph import VectorKind
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.port import Checkpoint
from runtime.stores.sqlite.file import SqliteFile
from runtime.stores.vectors.collection_names import of_generation
from runtime.stores.vectors.model_collections import ModelCollections

T = TypeVar("T")

CATALOG = "collections"
_MAKE_CATALOG = (
    f"CREATE TABLE IF NOT EXISTS {CATALOG} "
    "(name TEXT PRIMARY KEY, model TEXT NOT NULL, sequence INTEGER, log TEXT)"
)
_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = ?"
_NAMES = (
    "SELECT name, user_version FROM sqlite_master CROSS JOIN pragma_user_version "
    "WHERE type = 'table'"
)

FORMAT = 4
"""The version of what is written, in the header of the file (`user_version`): 0 where all blocks
have single precision; 3 where large workspaces had a third table, which the next write drops. Files
of lower ones are read, and written in this one.
"""

_DROPPED_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%\\_sketches' ESCAPE '\\'"
)

# Names of tables are made by `collection_names`; every value is a parameter.
# ruff: noqa: S608


class NotPrepared(Unavailable):
    """The collection is not there: looking for it again may help."""


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


Call = Callable[[sqlite3.Connection, VectorTable], T]
"""What is done with a collection in one transaction."""


class Tables:
    """The collections of one model in one file. A collection is looked for once and then taken as
    given; a call that finds it gone looks again, once.
    """

    def __init__(self, file: SqliteFile, model: str, dimension: int) -> None:
        self.of_model = ModelCollections(self, model, dimension)
        self._file = file
        self._open: set[str] = set()

    async def read(self, generation: int, kind: VectorKind, call: Call[T]) -> T | None:
        """Return the result of a call that only reads, None where the collection is missing.

        Raises ModelChanged and Unavailable.
        """
        for _ in range(2):
            table = await self._find(generation, kind)
            if table is None:
                return None
            try:
                return await self._file.query(_with_table(table, call))
            except NotPrepared:
                self._forget(table, generation)
        return None

    async def write(
        self, generation: int, kind: VectorKind, call: Call[T], *, create: bool = False
    ) -> T | None:
        """Return the result of a call that writes. A missing collection is made, or the result is
        None.

        Raises ModelChanged, OutdatedVectors and Unavailable.
        """
        for _ in range(2):
            table = await self._find(generation, kind, create=create, write=True)
            if table is None:
                return None
            try:
                return await self._file.transact(_in_this_format(_with_table(table, call)))
            except NotPrepared:
                self._forget(table, generation)
        if create:
            raise NotPrepared(f"the {kind} of generation {generation} are dropped while written")
        return None

    async def make(self, generation: int) -> None:
        """Make the collections of a generation that are missing. Raises ModelChanged and
        OutdatedVectors.
        """
        await self.of_model.look(generation, write=True)
        await self._make(await self.of_model.missing(generation))

    async def names(self) -> Collection[str]:
        """Return the names of all tables. Raises ConfigurationError where they are of a newer
        format.
        """
        records = await self._file.read(_NAMES)
        if records and records[0][1] > FORMAT:
            raise ConfigurationError(
                f"the file of the vectors is of format {records[0][1]}, and this program reads up "
                f"to {FORMAT}: use the newer version that wrote it, or make the vectors anew by "
                "`lightstream rebuild vectors --fresh`"
            )
        return {name for name, _ in records}

    async def model_of_collection(self, name: str) -> str:
        """Return the model that the catalog names for a collection."""
        sql = f"SELECT model FROM {CATALOG} WHERE name = ?"
        records = await self._file.read(sql, (name,))
        return records[0][0] if records else ""

    async def drop(self, generation: int) -> None:
        """Remove the generation's collections, of all models, each in one transaction."""
        for name in of_generation(await self.names(), generation):
            table = VectorTable(name, 0)
            self._open.discard(name)
            await self._file.transact(_in_this_format(partial(_drop, table=table)))

    async def _find(
        self, generation: int, kind: VectorKind, *, create: bool = False, write: bool = False
    ) -> VectorTable | None:
        """Return the collection, None when there is none and none is to be made."""
        name = self.of_model.name(generation, kind)
        if name not in self._open or (write and self.of_model.is_older(generation)):
            names = await self.of_model.look(generation, write=write)
            name = self.of_model.name(generation, kind)
            if name not in names and not create:
                return None
            if name not in names:
                await self._make([name])
            self._open.add(name)
        return VectorTable(name, self.of_model.dimension)

    def _forget(self, table: VectorTable, generation: int) -> None:
        self._open.discard(table.name)
        self.of_model.forget(generation)

    async def _make(self, names: Iterable[str]) -> None:
        model = self.of_model.model_text
        tables = [VectorTable(name, self.of_model.dimension) for name in names]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_MAKE_CATALOG)
            for table in tables:
                _make(connection, table, model)

        if tables:
            await self._file.transact(work)


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


def _with_table(table: VectorTable, call: Call[T]) -> Callable[[sqlite3.Connection], T]:
    """Return a call that first looks, in its transaction, whether the collection is there."""

    def work(connection: sqlite3.Connection) -> T:
        if connection.execute(_EXISTS, (table.name,)).fetchone() is None:
            raise NotPrepared(f"{table.name} is not there")
        return call(connection, table)

    return work


def _in_this_format(call: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
    """Return a call that first brings the file to this format, in its transaction: an older program
    cannot read it then.
    """

    def work(connection: sqlite3.Connection) -> T:
        (format,) = connection.execute("PRAGMA user_version").fetchone()
        if format < FORMAT:
            for (name,) in connection.execute(_DROPPED_TABLES).fetchall():
                connection.execute(f"DROP TABLE {name}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        return call(connection)

    return work


def _make(connection: sqlite3.Connection, table: VectorTable, model: str) -> None:
    """Make the two tables of a collection, unless they are there."""
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {table.name} (workspace TEXT NOT NULL, id TEXT NOT NULL, "
        "slot INTEGER NOT NULL, text TEXT NOT NULL, text_hash TEXT NOT NULL, names TEXT NOT NULL, "
        "document_id TEXT NOT NULL, file_path TEXT NOT NULL, version INTEGER NOT NULL, "
        "position INTEGER NOT NULL, PRIMARY KEY (workspace, id))"
    )
    connection.execute(
        f"CREATE UNIQUE INDEX IF NOT EXISTS {table.slots} ON {table.name} (workspace, slot)"
    )
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {table.blocks} (workspace TEXT NOT NULL, "
        "number INTEGER NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY (workspace, number))"
    )
    connection.execute(
        f"INSERT OR IGNORE INTO {CATALOG} (name, model) VALUES (?, ?)", (table.name, model)
    )


def _drop(connection: sqlite3.Connection, table: VectorTable) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {table.blocks}")
    connection.execute(f"DROP TABLE IF EXISTS {table.name}")
    connection.execute(f"DELETE FROM {CATALOG} WHERE name = ?", (table.name,))
