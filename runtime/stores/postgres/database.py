"""Calls of one PostgreSQL database: each within a time limit, tried again after conflicts, its
errors translated.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import asyncpg

from runtime.errors import Unavailable
from runtime.retries import Backoff
from runtime.stores.postgres.address import parse_address
from runtime.stores.postgres.failures import ERRORS, UNUSABLE_AFTER, translated, tries_of
from runtime.stores.postgres.pools import SharedPool, joined_pool

T = TypeVar("T")
Record = Any
"""A row that the server returned, by names and positions of its columns."""

POOL_SIZE = 10
"""Connections of one process, unless it is told another number."""

DDL_LOCK = 0x4C53
"""The advisory lock of whoever makes tables: two that make one at once would have the slower
fail.
"""

ANALYZED_AFTER = 5000
"""Rows written into a table by one process, after which it is analyzed."""

ANALYZED_BELOW = 100_000
"""Rows of a table from which on the server's own autovacuum is soon enough."""

BETWEEN_TRIES = Backoff(first=0.005, longest=0.25, spread=1.0)
"""Between two tries of work that conflicted with another writer's."""


class Connection(Protocol):
    """What our statements use of a connection."""

    async def fetch(self, query: str, *values: Any) -> list[Record]: ...
    async def fetchval(self, query: str, *values: Any) -> Any: ...
    async def execute(self, query: str, *values: Any) -> str: ...


Work = Callable[[Connection], Awaitable[T]]
"""Statements over one connection."""


class Database:
    """One database over the connections that all stores of a process share. `timeout` bounds, in
    seconds, one call with all its retries.

    Raises ConfigurationError when the URL is none, or when the server refuses the user before it
    ever served it; `Unavailable` when it does not answer.
    """

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE, timeout: float = 30.0) -> None:
        self._address = parse_address(url)
        self.schema = self._address.schema
        self._size = pool_size
        self._timeout = timeout
        self._shared: SharedPool | None = None
        self._written: Counter[str] = Counter()

    async def run(self, work: Work[T], *, repeatable: bool = True, is_long: bool = False) -> T:
        """Return the result of work over one connection. `repeatable`: doing it twice is the same
        as once, so that it may be tried again after a lost connection. `is_long`: it takes as long
        as it takes.
        """
        tries = 0

        def again(error: Exception) -> bool:
            nonlocal tries
            tries += 1
            return isinstance(error, ERRORS) and tries < tries_of(error, repeatable=repeatable)

        try:
            async with asyncio.timeout(None if is_long else self._timeout):
                return await BETWEEN_TRIES.retry(lambda: self._attempt(work), again)
        except TimeoutError as error:
            raise Unavailable(
                f"PostgreSQL at {self._address.server} did not answer within {self._timeout:g} s: "
                "see whether it runs, and whether its network lets this machine in"
            ) from error
        except ERRORS as error:
            has_answered = self._shared is not None and self._shared.has_answered
            server = self._address.server
            raise translated(error, server, has_answered=has_answered) from None

    async def transact(self, work: Work[T], *, repeatable: bool = True) -> T:
        """Return the result of work in one transaction."""

        async def whole(connection: Connection) -> T:
            await connection.execute("BEGIN")
            result = await work(connection)
            await connection.execute("COMMIT")
            return result

        return await self.run(whole, repeatable=repeatable)

    async def fetch(self, query: str, *values: Any) -> list[Record]:
        """Return the rows of one statement."""
        return await self.run(lambda connection: connection.fetch(query, *values))

    async def execute(self, query: str, *values: Any) -> int:
        """Run one statement; return how many rows it touched."""
        tag = await self.run(lambda connection: connection.execute(query, *values))
        count = tag.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def ping(self) -> None:
        """Return when the server answers a query, else raise `Unavailable`."""
        await self.fetch("SELECT 1")

    async def names(self) -> set[str]:
        """Return the names of all tables and indexes in our schema."""
        return await self.run(self._names)

    async def declare(self, statements: Mapping[str, str]) -> None:
        """Make the tables and indexes, by their names, that are missing. Repeats change nothing."""
        if await self.missing(statements):
            await self.transact(lambda connection: self._declare(connection, statements))

    async def missing(self, names: Mapping[str, str] | Sequence[str]) -> list[str]:
        """Return those of the names that no table and no index of our schema has."""
        existing = await self.names()
        return [name for name in names if name not in existing]

    async def note_written(self, table: str, rows: int) -> None:
        """Have the server look at a table that grows fast: without statistics of a table that was
        filled a moment ago its planner takes the wrong way through it.
        """
        self._written[table] += rows
        if self._written[table] < ANALYZED_AFTER:
            return
        self._written[table] = 0
        with suppress(Unavailable):
            records = await self.fetch(
                "SELECT reltuples FROM pg_class WHERE oid = to_regclass($1)",
                f"{self.schema}.{table}",
            )
            if records and records[0]["reltuples"] < ANALYZED_BELOW:
                await self.execute(f"ANALYZE {self.schema}.{table}")

    async def close(self) -> None:
        """Leave the connections to the other stores; the last one ends them."""
        shared = self._shared
        self._shared = None
        if shared is not None:
            await shared.leave()

    async def _attempt(self, work: Work[T]) -> T:
        if self._shared is None:
            self._shared = joined_pool(self._address.dsn, self._size)
        connection = await self._shared.acquire()
        try:
            return await _finished(connection, work)
        finally:
            await self._shared.release(connection)

    async def _names(self, connection: Connection) -> set[str]:
        records = await connection.fetch(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = $1",
            self.schema,
        )
        return {record["relname"] for record in records}

    async def _declare(self, connection: Connection, statements: Mapping[str, str]) -> None:
        await connection.execute("SELECT pg_advisory_xact_lock($1)", DDL_LOCK)
        # Not IF NOT EXISTS alone: that asks for the right to make schemas where it is there.
        if not await connection.fetchval(
            "SELECT count(*) FROM pg_namespace WHERE nspname = $1", self.schema
        ):
            await connection.execute(f"CREATE SCHEMA {self.schema}")
        existing = await self._names(connection)
        for name, statement in statements.items():
            if name not in existing:
                await connection.execute(statement)


async def _finished(connection: Any, work: Work[T]) -> T:
    """Return the result of the work. A connection in the midst of something is never used again."""
    try:
        return await work(connection)
    except asyncpg.PostgresError as error:
        if isinstance(error, UNUSABLE_AFTER):
            connection.terminate()
        else:
            await _roll_back(connection)
        raise
    except BaseException:
        connection.terminate()
        raise


async def _roll_back(connection: Any) -> None:
    """End the transaction, if one is open."""
    try:
        if connection.is_in_transaction():
            await connection.execute("ROLLBACK")
    except BaseException:
        connection.terminate()
        raise
