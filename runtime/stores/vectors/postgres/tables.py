"""The tables of one model's collections: found in the catalog once, made where they are to be
written.
"""

import re
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

import asyncpg

from contracts.graph import VECTOR_KINDS, EmbeddingModel, VectorKind
from contracts.ids import VECTOR_FORMAT
from runtime.errors import ConfigurationError
from runtime.stores.postgres.database import Connection, Database
from runtime.stores.postgres.failures import NotPrepared
from runtime.stores.vectors import collection_names
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
        self._database = database
        self._model = model
        self._dimension = dimension
        self._model_key = collection_names.model_key(model, dimension)
        self._extension = ""
        self._open: set[str] = set()
        self._outdated: dict[int, int] = {}

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
                self._outdated.pop(generation, None)
        if create:
            raise NotPrepared(f"the {kind} of generation {generation} are dropped while written")
        return None

    async def open(
        self, generation: int, kind: VectorKind, *, create: bool, write: bool = False
    ) -> VectorTable | None:
        """Return the table, None when there is none and none is to be made."""
        name = self._name(generation, kind)
        if name in self._open and not (write and generation in self._outdated):
            return self._table(name)
        names = await self._database.names()
        await self._refuse_another_model(generation, names)
        self._note_format(generation, names)
        if (create or write) and generation in self._outdated:
            raise collection_names.outdated(generation)
        name = self._name(generation, kind)
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
        names = await self._database.names()
        await self._refuse_another_model(generation, names)
        self._note_format(generation, names)
        if generation in self._outdated:
            raise collection_names.outdated(generation)
        await self._make(await self.missing(generation))

    async def missing(self, generation: int) -> list[str]:
        """Return the names of the generation's tables that are not there."""
        names = [self._name(generation, kind) for kind in VECTOR_KINDS]
        return await self._database.missing(names)

    async def outdated(self, generation: int) -> bool:
        """Return whether the generation has tables of our model in an older format only."""
        self._note_format(generation, await self._database.names())
        return generation in self._outdated

    async def model_of(self, generation: int) -> EmbeddingModel | None:
        """Return the model whose tables the generation has, ours if it has them; None when it has
        none.
        """
        names = await self._database.names()
        other_table = collection_names.of_another_model(names, generation, self._model_key)
        if other_table:
            return EmbeddingModel.named(await self._comment(other_table))
        places = [place for place in map(collection_names.parse_collection_name, names) if place]
        has_ours = any(
            (place.generation, place.model_key) == (generation, self._model_key) for place in places
        )
        return EmbeddingModel(self._model, self._dimension) if has_ours else None

    async def generations(self) -> set[int]:
        """Return every generation that has tables, of any model."""
        places = map(collection_names.parse_collection_name, await self._database.names())
        return {place.generation for place in places if place}

    async def drop(self, generation: int) -> None:
        """Remove the generation's tables, of all models."""
        for name in await self._database.names():
            place = collection_names.parse_collection_name(name)
            if place and place.generation == generation:
                self._open.discard(name)
                await self._database.execute(f"DROP TABLE IF EXISTS {self._database.schema}.{name}")

    def _table(self, name: str) -> VectorTable:
        return VectorTable(name, self._database.schema, self._extension, self._dimension)

    def _name(self, generation: int, kind: VectorKind) -> str:
        format = self._outdated.get(generation, VECTOR_FORMAT)
        return collection_names.collection_name(
            generation, kind, self._model, self._dimension, format
        )

    def _note_format(self, generation: int, names: Collection[str]) -> None:
        """Note the format of the generation's tables, where it is an older one."""
        self._outdated.pop(generation, None)
        format = collection_names.older_format(names, generation, self._model_key)
        if format is not None:
            self._outdated[generation] = format

    async def _refuse_another_model(self, generation: int, names: Collection[str]) -> None:
        other_table = collection_names.of_another_model(names, generation, self._model_key)
        if other_table:
            ours = collection_names.model_text(self._model, self._dimension)
            comment = await self._comment(other_table)
            raise collection_names.model_changed(generation, comment, ours)

    async def _comment(self, name: str) -> str:
        """Return the model that a table names."""
        records = await self._database.fetch(
            "SELECT obj_description(to_regclass($1), 'pg_class') AS comment",
            f"{self._database.schema}.{name}",
        )
        return records[0]["comment"] or ""

    async def _make(self, names: Collection[str]) -> None:
        await self._find_extension(make=True)
        model = collection_names.model_text(self._model, self._dimension)
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
