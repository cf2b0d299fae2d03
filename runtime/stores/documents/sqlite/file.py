"""One SQLite file (WAL) that several processes read and write at once: its connections, transactions and errors.

One connection writes, another reads, so that no reader waits for a writer. Every write is one step of the writing
connection's thread: it begins and ends its transaction there, so a caller that is cancelled leaves none open and a
busy event loop never holds up the other processes.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiosqlite

from runtime.errors import ConfigurationError, Unavailable

Parameters = tuple[Any, ...]

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_WAL_BYTES_KEPT = 64 * 1024 * 1024


class _Connection(sqlite3.Connection):
    """A connection whose `executemany` is one whole transaction."""

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Run the statement once for each of `parameters`, or leave everything as it was."""
        # IMMEDIATE waits for its turn at the beginning; a reader that turns writer later would be refused at once.
        self.execute("BEGIN IMMEDIATE")
        try:
            cursor = super().executemany(sql, parameters)
            self.execute("COMMIT")
        finally:
            if self.in_transaction:
                self.execute("ROLLBACK")
        return cursor


class SqliteFile:
    """The file `path`, opened at the first call and made with its folder when missing.

    `timeout`: seconds that a write waits for the other processes, and as long for the other tasks of this one.
    Every method raises `Unavailable` when the file cannot be read or written now, ConfigurationError when it is
    no SQLite database or damaged.
    """

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._open: tuple[aiosqlite.Connection, aiosqlite.Connection] | None = None

    async def read(self, sql: str, parameters: Parameters = ()) -> list[Parameters]:
        """Return the rows of a query."""
        with _translated(self._path):
            reader, _ = await self._connections()
            return await _fetched(reader, sql, parameters)

    async def write(self, sql: str, parameters: Parameters = ()) -> list[Parameters]:
        """Run one statement, a transaction of its own, and return its rows."""
        with _translated(self._path):
            _, writer = await self._connections()
            async with self._turn():
                return await _fetched(writer, sql, parameters)

    async def write_all(self, sql: str, parameters: Sequence[Parameters]) -> None:
        """Run one statement for each of `parameters`, all in one transaction."""
        with _translated(self._path):
            _, writer = await self._connections()
            async with self._turn():
                await writer.executemany(sql, parameters)

    async def close(self) -> None:
        """Close both connections."""
        async with self._opening:
            connections, self._open = self._open or (), None
            for connection in connections:
                await connection.close()

    async def _connections(self) -> tuple[aiosqlite.Connection, aiosqlite.Connection]:
        """Return the reading and the writing connection."""
        async with self._opening:
            if self._open is None:
                await asyncio.to_thread(self._path.parent.mkdir, parents=True, exist_ok=True)
                writer = await self._connected()
                try:
                    self._open = (await self._connected(), writer)
                except BaseException:
                    await writer.close()
                    raise
            return self._open

    async def _connected(self) -> aiosqlite.Connection:
        """Return a new connection, set up."""
        connection = await aiosqlite.connect(
            self._path, timeout=self._timeout, isolation_level=None, factory=_Connection
        )
        try:
            await self._enter_wal(connection)
            await _fetched(connection, "PRAGMA synchronous=FULL")
            await _fetched(connection, f"PRAGMA journal_size_limit={_WAL_BYTES_KEPT}")
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _enter_wal(self, connection: aiosqlite.Connection) -> None:
        """Set WAL mode. Of several processes that do so to a new file SQLite refuses all but one without waiting."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout
        while True:
            try:
                await _fetched(connection, "PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError:
                if loop.time() > end:
                    raise
            await asyncio.sleep(0.02)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None, None]:
        """Hold the right to write, one task at a time, so that a waiting task can give up."""
        try:
            async with asyncio.timeout(self._timeout):
                await self._writing.acquire()
        except TimeoutError as error:
            raise Unavailable(f"{self._path.name} was busy for {self._timeout} s") from error
        try:
            yield
        finally:
            self._writing.release()


async def _fetched(connection: aiosqlite.Connection, sql: str, parameters: Parameters = ()) -> list[Parameters]:
    """Return all rows of a statement, in one step of the connection's thread."""
    return [tuple(row) for row in await connection.execute_fetchall(sql, parameters)]


@contextmanager
def _translated(path: Path) -> Generator[None, None, None]:
    """Translate SQLite's errors to `Unavailable` or ConfigurationError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise Unavailable(f"{path.name} cannot be used now: {error}") from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in _DAMAGED:
            raise ConfigurationError(f"{path.name} is damaged or no SQLite database: {error}") from error
        raise
    except OSError as error:
        raise ConfigurationError(f"the folder of {path.name} cannot be made: {error.strerror}") from error
