"""Caches what models were paid for in the document store, so that nothing is paid for twice. A
rebuild does not replace it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

from contracts.graph import Partition
from contracts.ids import origin_of
from runtime.concurrency.key_locks import KeyLocks
from runtime.metrics.instruments import count_lookups
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind

R = TypeVar("R")


class PaidResults(Generic[R]):
    """Results by key, per workspace, in the table `name` of generation 0.

    Workspaces share nothing: no tenant learns what another has paid for. A branch, which is of the
    same tenant, finds what its origin has.
    """

    def __init__(
        self,
        rows: Rows,
        name: str,
        row_of: Callable[[R], Row],
        result_of: Callable[[Row], R],
    ) -> None:
        self._rows = WriteBehind(rows)
        self._locks = KeyLocks()
        self._name = name
        self._row_of = row_of
        self._result_of = result_of

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, R]:
        """Return the cached results among `keys`."""
        wanted_keys = list(dict.fromkeys(keys))
        rows = await self._rows.get(self._table(workspace), wanted_keys)
        if (origin := origin_of(workspace)) and len(rows) < len(wanted_keys):
            missing_keys = [key for key in wanted_keys if key not in rows]
            rows = {**rows, **await self._rows.get(self._table(origin), missing_keys)}
        count_lookups(self._name, hits=len(rows))
        return {key: self._result_of(row) for key, row in rows.items()}

    async def once(
        self, workspace: str, key: str, make: Callable[[], Awaitable[R]]
    ) -> tuple[R, bool]:
        """Return the cached result, or else call `make` and cache its result; and whether it was
        cached before.

        If another call of this process is making it, its result is awaited. While the store refuses
        writes, this process keeps it in memory. Raises what `make` raises.
        """
        async with self._locks.hold([f"{workspace} {key}"]):
            cached_results = await self.get(workspace, [key])
            if key in cached_results:
                return cached_results[key], True
            count_lookups(self._name, misses=1)
            await self._rows.ready()
            result = await make()
            await self.put(workspace, key, result)
            return result, False

    async def put(self, workspace: str, key: str, result: R) -> None:
        """Cache one result. Repeats do nothing. While the store refuses writes, this process keeps
        it in memory.
        """
        await self._rows.put(self._table(workspace), {key: self._row_of(result)})

    async def existing(self, workspace: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that have a result, of this workspace or its origin."""
        keys_there = set(await self._rows.existing(self._table(workspace), keys))
        if origin := origin_of(workspace):
            keys_there |= set(await self._rows.existing(self._table(origin), keys))
        return keys_there

    async def put_missing(self, workspace: str, results: Mapping[str, R]) -> None:
        """Cache those of many results that are not cached."""
        table = self._table(workspace)
        existing_keys = await self._rows.existing(table, results)
        missing_results = {
            key: self._row_of(result) for key, result in results.items() if key not in existing_keys
        }
        await self._rows.put(table, missing_results)

    def _table(self, workspace: str) -> Table:
        return Table(self._name, Partition(workspace, 0))
