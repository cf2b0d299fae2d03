"""Cache of model results in the document store, independent of generations."""

import asyncio
from contextlib import AbstractAsyncContextManager

import structlog

from contracts.graph import Partition
from runtime.concurrency.key_locks import KeyLocks
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind

logger = structlog.get_logger(__name__)


class RowCache:
    """Rows of one table by cache key, per workspace."""

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows = rows
        self._table = table
        self._locks = KeyLocks()
        self._behind = WriteBehind(rows)
        self._writes = set[asyncio.Task[None]]()

    async def get(self, workspace: str, key: str) -> Row | None:
        """Return the row, or None."""
        return (await self._behind.get(self._of(workspace), [key])).get(key)

    async def put(self, workspace: str, key: str, row: Row) -> None:
        """Write the row and replace an existing one."""
        await self._rows.put(self._of(workspace), {key: row})

    def put_soon(self, workspace: str, key: str, row: Row) -> None:
        """Write the row beside what the caller does next, with others that come meanwhile; `get`
        finds it at once.

        For keys that are never given another value. What is not written when the process ends is
        lost.
        """
        table = self._of(workspace)
        if not self._behind.keep(table, {key: row}):
            logger.warning("a result is not remembered", table=self._table)
            return
        task = asyncio.create_task(self._behind.put(table, {key: row}))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def close(self) -> None:
        """Return when nothing is being written."""
        await asyncio.gather(*self._writes, return_exceptions=True)

    def alone(self, workspace: str, key: str) -> AbstractAsyncContextManager[None]:
        """Return a lock for this key, exclusive within this process."""
        return self._locks.hold([f"{workspace} {key}"])

    def _of(self, workspace: str) -> Table:
        return Table(self._table, Partition(workspace, 0))
