"""What was paid for once to answer questions, in the document store. No generation replaces it."""

from contextlib import AbstractAsyncContextManager

from contracts.graph import Partition
from runtime.concurrency.key_locks import KeyLocks
from runtime.stores.documents.port import Row, Rows, Table


class RowCache:
    """Rows of one table by cache key, per workspace."""

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows, self._table, self._locks = rows, table, KeyLocks()

    async def get(self, workspace: str, key: str) -> Row | None:
        """The row, if there is one."""
        return (await self._rows.get(self._of(workspace), [key])).get(key)

    async def put(self, workspace: str, key: str, row: Row) -> None:
        """It now stands there, whatever stood there before."""
        await self._rows.put(self._of(workspace), {key: row})

    def alone(self, workspace: str, key: str) -> AbstractAsyncContextManager[None]:
        """For as long as it is held, nobody else of this process holds it."""
        return self._locks.hold([f"{workspace} {key}"])

    def _of(self, workspace: str) -> Table:
        return Table(self._table, Partition(workspace, 0))
