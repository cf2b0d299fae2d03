"""Maps a SQLite file into memory while searches read it, and some seconds more: they come one after
another, and to map it for each of them costs a page fault for every few pages, again and again.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

MAPPED_BYTES = 256 * 1024 * 1024
"""Bytes of the file that are mapped at most. A query that reads very many pages takes a quarter of
the CPU so (decision 220).
"""

IDLE = 2.0
"""Seconds after the last query that wanted the file mapped until it is no longer: what is mapped
counts as memory of the process.
"""

Run = Callable[[Callable[[sqlite3.Connection], None]], Awaitable[None]]
"""Runs a step in the thread of a connection."""


class FileMapping:
    """The mapping of one file by the connection that reads it. All but `keep` and `close` is done
    in the thread of the connection.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        """Bytes of the file when it was last mapped; 0 where it is not."""
        self._wanted_at = 0.0
        self._end: asyncio.Task[None] | None = None

    def keep(self, run: Run) -> None:
        """Have the file mapped no longer once nobody has asked for it for a while."""
        self._wanted_at = time.monotonic()
        if self._end is None:
            self._end = asyncio.create_task(self._unmap_when_idle(run))

    def prepare(self, connection: sqlite3.Connection, *, is_wanted: bool) -> None:
        """Map the file if that is wanted, before a query begins; and do not read of a mapping what
        is no longer in the file, which would end the process.
        """
        if not is_wanted and not self._size:
            return
        size = self._path.stat().st_size
        if size < self._size:
            self._unmap(connection)
        if is_wanted:
            connection.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
            self._size = size

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._end is not None:
            self._end.cancel()
            self._end = None

    async def _unmap_when_idle(self, run: Run) -> None:
        seconds_left = IDLE
        while seconds_left > 0:
            await asyncio.sleep(seconds_left)
            seconds_left = self._wanted_at + IDLE - time.monotonic()
        self._end = None
        with suppress(sqlite3.Error):
            await run(self._unmap)

    def _unmap(self, connection: sqlite3.Connection) -> None:
        # It is unmapped at once unless a page is in use, and then at the next change of the file.
        connection.execute("PRAGMA mmap_size=0")
        self._size = 0
