"""A write-behind cache: rows that were paid for are kept in memory while the store does not take
them.

A store that is locked, full or away for a while costs no result: the caller goes on with it, it is
found again in this process, and it is written with the next row that the store takes. What is lost
with the process is in the log by then, or is paid for again.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import structlog

from runtime.concurrency.shared_calls import SharedCalls
from runtime.errors import Unavailable
from runtime.stores.documents.port import Row, Rows, Table

logger = structlog.get_logger(__name__)

MOST = 1000
"""Rows that are kept in memory. Then nothing more is to be paid for until the store takes them."""

READS = 100
"""Reads that go together in one."""

RETRY = 5.0
"""Seconds until a store that took nothing is asked again: each try may wait as long as a lock is
waited for.
"""


class WriteBehind:
    """Rows of caches over a store. Keys are never given another value, so it does not matter when
    they are written.
    """

    def __init__(self, rows: Rows, max_rows: int = MOST) -> None:
        self._rows = rows
        self._most = max_rows
        self._reads = SharedCalls(self._stored, READS)
        self._kept: dict[Table, dict[str, Row]] = {}
        self._not_before = 0.0
        self._writing = asyncio.Lock()

    async def ready(self) -> None:
        """Check before paid work that a row can be kept. Raises `Unavailable` while no further row
        can be kept.
        """
        if self._count() >= self._most:
            async with self._writing:
                await self._write()

    async def get(self, table: Table, keys: Sequence[str]) -> dict[str, Row]:
        """Return the rows that are stored or kept. Raises `Unavailable` when a row must be read and
        cannot be.

        One read of a table is under way at a time, and the next one is of all keys that were asked
        for meanwhile: whoever has many documents in hand asks for one row at a time.
        """
        pending = {key: row for key, row in self._kept.get(table, {}).items() if key in keys}
        missing_keys = [key for key in keys if key not in pending]
        return (
            {**await self._reads.ask(table, missing_keys), **pending} if missing_keys else pending
        )

    async def _stored(
        self, table: Table, keys_of_each: Sequence[Sequence[str]]
    ) -> list[dict[str, Row]]:
        """Return the stored rows among the keys of each reader."""
        rows = await self._rows.get(table, list(dict.fromkeys(chain.from_iterable(keys_of_each))))
        return [{key: rows[key] for key in keys if key in rows} for keys in keys_of_each]

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` whose row is stored or kept. Raises `Unavailable`."""
        return (self._kept.get(table, {}).keys() & set(keys)) | await self._rows.existing(
            table, keys
        )

    def keep(self, table: Table, rows: Mapping[str, Row]) -> bool:
        """Keep the rows for the next `put`; `get` finds them from now on. Returns False when none
        more can be kept.
        """
        if self._count() >= self._most:
            return False
        self._kept.setdefault(table, {}).update(rows)
        return True

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Write the rows, or keep them for later while the store takes none.

        One write is under way at a time, and the next one takes all rows that came meanwhile.
        """
        self._kept.setdefault(table, {}).update(rows)
        async with self._writing:
            pending = self._kept.get(table, {})
            if time.monotonic() < self._not_before or not any(key in pending for key in rows):
                return
            try:
                await self._write()
            except Unavailable as error:
                self._not_before = time.monotonic() + RETRY
                logger.warning(
                    "what was paid for is kept in memory", rows=self._count(), error=str(error)
                )

    async def _write(self) -> None:
        """Write all rows that are kept. Raises `Unavailable`."""
        for table in list(self._kept):
            rows = dict(self._kept.get(table, {}))
            await self._rows.put(table, rows)
            pending = self._kept.get(table, {})
            for key in rows:
                pending.pop(key, None)
            if not pending:
                self._kept.pop(table, None)
        self._not_before = 0.0

    def _count(self) -> int:
        return sum(map(len, self._kept.values()))
