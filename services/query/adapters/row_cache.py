"""Cache of model results in the document store, independent of generations."""

from contextlib import AbstractAsyncContextManager

from contracts.graph import Partition
from runtime.concurrency.key_locks import KeyLocks
from runtime.stores.documents.port import Row, Rows, Table


class RowCache:
    """Rows of one table by cache key, per workspace."""

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows, self._table, self._locks = rows, table, KeyLocks()

    async def get(self, workspace: str, key: str) -> Row | None:
        """Return the row, or None."""
        return (await self._rows.get(self._of(workspace), [key])).get(key)

    async def put(self, workspace: str, key: str, row: Row) -> None:
        """Write the row and replace an existing one."""
        await self._rows.put(self._of(workspace), {key: row})

    def alone(self, workspace: str, key: str) -> AbstractAsyncContextManager[None]:
        """Return a lock for this key, exclusive within this process."""
        return self._locks.hold([f"{workspace} {key}"])

    def _of(self, workspace: str) -> Table:
        return Table(self._table, Partition(workspace, 0))
