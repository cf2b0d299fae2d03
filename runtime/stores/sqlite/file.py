"""One SQLite file (WAL) that several processes read and write at once: its connections,
transactions and errors.

One connection writes, another reads, each in a thread of its own, so that no reader waits for a
writer. Every transaction is one step of the writing thread: it begins and ends there, so a caller
that is cancelled leaves none open and a busy event loop never holds up the other processes. Writes
of several tasks that wait share one (`commits.py`).
"""

import asyncio
import math
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.sqlite.commits import GroupCommits, Outcome, Work, transaction
from runtime.stores.sqlite.key_filters import FilteringConnection
from runtime.stores.sqlite.mapping import FileMapping

Parameters = tuple[Any, ...]
T = TypeVar("T")

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

PAGE_BYTES = 512
"""Bytes of a page, of files that are new. A row that is changed costs one page in the log of the
file (WAL), and a vector of 384 numbers fills three of them but for a few bytes.
"""

IDLE = 5.0
"""Seconds after the last write of any process until the WAL is copied into the file and emptied, if
it is worth it.
"""
LARGE = 4 * 1024 * 1024
"""Bytes of a WAL that is worth it: what changes often is better copied seldom."""

WAL_BYTES = 64 * 1024 * 1024
"""Bytes of a WAL that is copied into the file while there is work. A page that changes often is
copied once each time: seldom.
"""

LOWERED = "lowered"
"""Name of the function, in SQL, that returns a text in lower case, and NULL for anything else."""

WRITE_CACHE_KIB = 8192
"""Kibibytes of pages that the writing connection caches. A transaction that changes more than fit
would write some of them twice.
"""
READ_CACHE_KIB = 2048
"""The same of the reading connection, which forgets them at each write of another."""


class SqliteFile:
    """The file `path`, opened at the first call and made with its folder when missing.

    `timeout`: seconds that a write waits for the other processes, and as long for the other tasks
    of this one. `wal_bytes`: of a WAL that is copied into the file; `idle_wal_bytes`: of one that
    is not worth it once nobody writes. A reader looks each page up in the WAL, for every 2 MB of
    it once. Every method raises `Unavailable` when the file cannot be read or written now,
    ConfigurationError when it is no SQLite database or damaged.
    """

    def __init__(
        self,
        path: Path,
        *,
        timeout: float,
        wal_bytes: int = WAL_BYTES,
        idle_wal_bytes: int = LARGE,
    ) -> None:
        self._path = path
        self._timeout = timeout
        self._wal_bytes = wal_bytes
        self._idle_wal_bytes = idle_wal_bytes
        self._opening = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._commits = GroupCommits(self._writing, self._commit)
        self._open: tuple[_Connection, _Connection] | None = None
        self._idle: asyncio.Task[None] | None = None
        self._mapping = FileMapping(path)

    async def read(self, sql: str, parameters: Parameters = ()) -> list[Parameters]:
        """Return the rows of a query."""
        with _translated(self._path):
            reader, _ = await self._connections()
            return await reader.run(
                partial(
                    self._read, lambda connection: connection.execute(sql, parameters).fetchall()
                )
            )

    async def query(self, work: Callable[[sqlite3.Connection], T], *, is_mapped: bool = False) -> T:
        """Run `work`, which only reads, in the reading thread: all its queries see one state.

        `is_mapped`: the file is mapped into memory, for what reads very many pages.
        """
        with _translated(self._path):
            reader, _ = await self._connections()
            if is_mapped:
                self._mapping.keep(reader.run)
            return await reader.run(
                partial(self._read, partial(_in_one_state, work=work), is_mapped=is_mapped)
            )

    async def transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` inside of one transaction, in the writing thread, and return what it returns
        once that is committed.
        """
        with _translated(self._path):
            _, writer = await self._connections()
            try:
                result = await self._commits.run(work, self._timeout)
            except TimeoutError as error:
                raise Unavailable(f"{self._path.name} was busy for {self._timeout} s") from error
        if self._idle is None:
            self._idle = asyncio.create_task(self._empty_wal_when_idle(writer))
        return result

    async def close(self) -> None:
        """Close both connections."""
        async with self._opening:
            if self._idle is not None:
                self._idle.cancel()
            self._mapping.close()
            connections = self._open or ()
            self._open = None
            for connection in connections:
                await connection.close()

    def _read(
        self,
        work: Callable[[sqlite3.Connection], T],
        connection: sqlite3.Connection,
        *,
        is_mapped: bool = False,
    ) -> T:
        """Run `work`, in the reading thread."""
        self._mapping.prepare(connection, is_wanted=is_mapped)
        return work(connection)

    async def _commit(self, works: Sequence[Work]) -> list[Outcome]:
        _, writer = await self._connections()
        return await writer.run(partial(transaction, works=works))

    async def _connections(self) -> tuple["_Connection", "_Connection"]:
        """Return the reading and the writing connection."""
        if self._open is not None:
            return self._open
        async with self._opening:
            if self._open is None:
                await asyncio.to_thread(self._path.parent.mkdir, parents=True, exist_ok=True)
                connect = partial(_connect, self._path, self._timeout, self._wal_bytes)
                writer = await _Connection.opened(partial(connect, WRITE_CACHE_KIB))
                try:
                    reader = await _Connection.opened(partial(connect, READ_CACHE_KIB))
                    self._open = (reader, writer)
                except BaseException:
                    await writer.close()
                    raise
            return self._open

    async def _empty_wal_when_idle(self, writer: "_Connection") -> None:
        """Wait until no process has written for a while, then empty a WAL that is worth it, which
        would stay as large.

        While others write, a copy would be of pages that are about to change again.
        """
        wal = self._path.with_name(f"{self._path.name}-wal")
        seconds_left = IDLE
        while seconds_left > 0:
            await asyncio.sleep(min(seconds_left, IDLE))
            seconds_left = IDLE - await asyncio.to_thread(_seconds_since_write, wal)
        self._idle = None
        # Whatever keeps it from being emptied, the next checkpoint comes.
        with suppress(sqlite3.Error, OSError):
            async with self._writing:
                if wal.stat().st_size > self._idle_wal_bytes:
                    await writer.run(partial(_empty_wal, timeout=self._timeout))
                await writer.run(_forget_pages)


class _Connection:
    """A connection and the one thread that uses it."""

    def __init__(self, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._thread = thread

    @classmethod
    async def opened(cls, connect: Callable[[], sqlite3.Connection]) -> "_Connection":
        """Return a new connection, set up."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite")
        loop = asyncio.get_running_loop()
        try:
            return cls(await loop.run_in_executor(thread, connect), thread)
        except BaseException:
            thread.shutdown(wait=False)
            raise

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `work` returns, in one step of the thread."""
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, work, self._connection
        )

    async def close(self) -> None:
        """Close the connection and end the thread, after what it has begun."""
        await self.run(sqlite3.Connection.close)
        self._thread.shutdown(wait=False)


def _connect(path: Path, timeout: float, wal_bytes: int, cache_kib: int) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=FilteringConnection,
    )
    try:
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        _enter_wal(connection, time.monotonic() + timeout)
        settings = (
            "synchronous=FULL",
            f"cache_size=-{cache_kib}",
            "mmap_size=0",
            f"wal_autocheckpoint={wal_bytes // PAGE_BYTES}",
            f"journal_size_limit={wal_bytes}",
        )
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
        # SQLite's own `lower` knows no letters but those of ASCII.
        connection.create_function(LOWERED, 1, _lowered, deterministic=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _in_one_state(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        connection.execute("ROLLBACK")


def _lowered(value: object) -> str | None:
    return value.lower() if isinstance(value, str) else None


def _enter_wal(connection: sqlite3.Connection, end: float) -> None:
    """Set WAL mode. Of several processes that do so to a new file SQLite refuses all but one
    without waiting.
    """
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
        time.sleep(0.02)


def _empty_wal(connection: sqlite3.Connection, timeout: float) -> None:
    """Copy the WAL into the file and empty it, unless another process reads or writes."""
    connection.execute(
        "PRAGMA wal_checkpoint(PASSIVE)"
    )  # the long part, beside which others may write
    connection.execute("PRAGMA busy_timeout=0")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.execute(f"PRAGMA busy_timeout={1000 * timeout:.0f}")


def _forget_pages(connection: sqlite3.Connection) -> None:
    """Free the pages that the connection caches."""
    connection.execute("PRAGMA shrink_memory")


def _seconds_since_write(wal: Path) -> float:
    """Return the age of what any process wrote last; infinite where there is no WAL."""
    try:
        return time.time() - wal.stat().st_mtime
    except OSError:
        return math.inf


@contextmanager
def _translated(path: Path) -> Generator[None, None, None]:
    """Translate SQLite's errors to `Unavailable` or ConfigurationError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise Unavailable(f"{path.name} cannot be used now: {error}") from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in _DAMAGED:
            raise ConfigurationError(
                f"{path.name} is damaged or no SQLite database: {error}"
            ) from error
        raise
    except OSError as error:
        raise ConfigurationError(
            f"the folder of {path.name} cannot be made: {error.strerror}"
        ) from error
