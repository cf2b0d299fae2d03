"""The collections of one model in a SQLite file: found in its catalog once, made where they are to
be written, brought to this format where they are used.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TypeVar

from contracts.graph import VectorKind
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.sqlite.file import SqliteFile
from runtime.stores.vectors.collection_names import of_generation
from runtime.stores.vectors.model_collections import ModelCollections
from runtime.stores.vectors.sqlite import older_formats, schema
from runtime.stores.vectors.sqlite.schema import CATALOG, FORMAT, VectorTable

T = TypeVar("T")

_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = ?"
_NAMES = (
    "SELECT name, user_version FROM sqlite_master CROSS JOIN pragma_user_version "
    "WHERE type = 'table'"
)

# Names of tables are made by `collection_names`; every value is a parameter.
# ruff: noqa: S608


class NotPrepared(Unavailable):
    """The collection is not there: looking for it again may help."""


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

    async def read(
        self, generation: int, kind: VectorKind, call: Call[T], *, is_mapped: bool = False
    ) -> T | None:
        """Return the result of a call that only reads, None where the collection is missing.
        `is_mapped`: see `SqliteFile.query`.

        Raises ModelChanged and Unavailable.
        """
        for _ in range(2):
            table = await self._find(generation, kind)
            if table is None:
                return None
            try:
                return await self._file.query(_with_table(table, call), is_mapped=is_mapped)
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
                return await self._file.transact(_with_table(table, call))
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
        await self._bring_to_this_format()
        for name in of_generation(await self.names(), generation):
            table = VectorTable(name, 0)
            self._open.discard(name)
            await self._file.transact(partial(schema.drop, table=table))

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
            if name in names:
                await self._bring_to_this_format()
            else:
                await self._make([name])
            self._open.add(name)
        return VectorTable(name, self.of_model.dimension)

    async def _bring_to_this_format(self) -> None:
        """Move what is of an older format, or wait until others have done so."""
        (record,) = await self._file.read("PRAGMA user_version")
        if record[0] < FORMAT and await self.names():
            await self._file.transact(older_formats.begin)
        while await self._file.query(older_formats.is_left):
            await self._file.transact(older_formats.move_some)

    def _forget(self, table: VectorTable, generation: int) -> None:
        self._open.discard(table.name)
        self.of_model.forget(generation)

    async def _make(self, names: Iterable[str]) -> None:
        model = self.of_model.model_text
        tables = [VectorTable(name, self.of_model.dimension) for name in names]

        def work(connection: sqlite3.Connection) -> None:
            for table in tables:
                schema.make(connection, table, model)

        if tables:
            await self._bring_to_this_format()
            await self._file.transact(work)


def _with_table(table: VectorTable, call: Call[T]) -> Callable[[sqlite3.Connection], T]:
    """Return a call that first looks, in its transaction, whether the collection is there."""

    def work(connection: sqlite3.Connection) -> T:
        if connection.execute(_EXISTS, (table.name,)).fetchone() is None:
            raise NotPrepared(f"{table.name} is not there")
        return call(connection, table)

    return work
