"""The tables of one model's collections: found in the catalog once, made where they are to be
written.
"""

import re
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

import asyncpg

from contracts.graph import VectorKind
from runtime.errors import ConfigurationError
from runtime.stores.postgres.database import Connection, Database
from runtime.stores.postgres.failures import NotPrepared
from runtime.stores.vectors.collection_names import of_generation
from runtime.stores.vectors.model_collections import ModelCollections
from runtime.stores.vectors.postgres.statements import VectorTable

T = TypeVar("T")
Call = Callable[[VectorTable], Awaitable[T]]

OLDEST_EXTENSION = (0, 8)
"""The first pgvector that goes on looking in its index until enough rows fit."""

NO_EXTENSION = (
    "PostgreSQL lacks the extension pgvector: install it on the server, and let an administrator "
    "run CREATE EXTENSION vector in this database"
)


class Tables:
    """The collections of one model in one database. A table is looked for once and then taken as
    given; a call that finds it gone looks again, once.
    """

    def __init__(self, database: Database, model: str, dimension: int) -> None:
        self.of_model = ModelCollections(self, model, dimension)
        self._database = database
        self._extension = ""
        self._open: set[str] = set()

    async def use(
        self,
        generation: int,
        kind: VectorKind,
        call: Call[T],
        *,
        create: bool = False,
        write: bool = False,
    ) -> T | None:
        """Return the result of the call. A missing table is made, or the result is None.

        Raises ModelChanged, OutdatedVectors for a write, and Unavailable.
        """
        for _ in range(2):
            table = await self.open(generation, kind, create=create, write=write)
            if table is None:
                return None
            try:
                return await call(table)
            except NotPrepared:
                self._open.discard(table.name)
                self.of_model.forget(generation)
        if create:
            raise NotPrepared(f"the {kind} of generation {generation} are dropped while written")
        return None

    async def open(
        self, generation: int, kind: VectorKind, *, create: bool, write: bool = False
    ) -> VectorTable | None:
        """Return the table, None when there is none and none is to be made."""
        name = self.of_model.name(generation, kind)
        if name in self._open and not (write and self.of_model.is_older(generation)):
            return self._table(name)
        names = await self.of_model.look(generation, write=create or write)
        name = self.of_model.name(generation, kind)
        if name not in names and not create:
            return None
        if name not in names:
            await self._make([name])
        await self._find_extension()
        self._open.add(name)
        return self._table(name)

    async def make(self, generation: int) -> None:
        """Make the tables of a generation that are missing. Raises ModelChanged and
        OutdatedVectors.
        """
        await self.of_model.look(generation, write=True)
        await self._make(await self.of_model.missing(generation))

    async def names(self) -> Collection[str]:
        """Return the names of all tables."""
        return await self._database.names()

    async def model_of_collection(self, name: str) -> str:
        """Return the model that a table names."""
        records = await self._database.fetch(
            "SELECT obj_description(to_regclass($1), 'pg_class') AS comment",
            f"{self._database.schema}.{name}",
        )
        return records[0]["comment"] or ""

    async def drop(self, generation: int) -> None:
        """Remove the generation's tables, of all models."""
        for name in of_generation(await self.names(), generation):
            self._open.discard(name)
            await self._database.execute(f"DROP TABLE IF EXISTS {self._database.schema}.{name}")

    def _table(self, name: str) -> VectorTable:
        return VectorTable(name, self._database.schema, self._extension, self.of_model.dimension)

    async def _make(self, names: Collection[str]) -> None:
        await self._find_extension(make=True)
        model = self.of_model.model_text
        await self._database.declare({name: self._table(name).make(model) for name in names})

    async def _find_extension(self, *, make: bool = False) -> None:
        """Look where pgvector is. Raises ConfigurationError when the database has none, or too old
        a one.
        """
        if self._extension:
            return
        records = await self._database.fetch(_EXTENSION)
        if not records and make:
            await self._database.run(_make_extension)
            records = await self._database.fetch(_EXTENSION)
        if not records:
            raise ConfigurationError(NO_EXTENSION)
        numbers = tuple(map(int, re.findall(r"\d+", records[0]["extversion"])[:2]))
        if numbers < OLDEST_EXTENSION:
            raise ConfigurationError(
                f"pgvector is {records[0]['extversion']} here, 0.8 or newer is needed: "
                "run ALTER EXTENSION vector UPDATE"
            )
        self._extension = f'"{records[0]["nspname"]}"'


_EXTENSION = (
    "SELECT n.nspname, e.extversion FROM pg_extension e "
    "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)


async def _make_extension(connection: Connection) -> None:
    """Install the extension in this database; of two at once the slower finds it there."""
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (asyncpg.UniqueViolationError, asyncpg.DuplicateObjectError):
        return
    except (
        asyncpg.InsufficientPrivilegeError,
        asyncpg.FeatureNotSupportedError,
        asyncpg.UndefinedFileError,
    ):
        raise ConfigurationError(NO_EXTENSION) from None
