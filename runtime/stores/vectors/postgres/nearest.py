"""How the nearest rows are found: by comparing with every row of a small workspace, by an index in
a large one.

Comparing is exact, and takes 50 ms for 10,000 rows. The index holds vectors in half precision; what
it finds is ordered by the exact similarity.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import structlog

from runtime.errors import Unavailable
from runtime.stores.postgres.database import Connection, Database, Record
from runtime.stores.vectors.postgres.statements import INDEXED_DIMENSIONS, VectorTable

logger = structlog.get_logger(__name__)

EXACT_BELOW = 20_000
"""Rows of a workspace from which on an index is made and asked."""

LOOKED_AGAIN = 60.0
"""Seconds for which the size of a workspace, and whether there is an index, are taken as given."""

CANDIDATES = 200
"""Rows that the index is asked for beyond twice those that are wanted."""

MOST_LOOKED_AT = 1000
"""What the index keeps in view at once, at most."""

_VALID_INDEX = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"


class Nearest:
    """Finds the nearest rows, and makes the index of a table once a workspace in it is large."""

    def __init__(self, database: Database, exact_below: int = EXACT_BELOW) -> None:
        self._database = database
        self._exact_below = exact_below
        self._large: dict[tuple[str, str], tuple[float, bool]] = {}
        self._written: Counter[str] = Counter()
        self._making: dict[str, asyncio.Task[None]] = {}

    async def search(
        self, table: VectorTable, workspace: str, direction: Sequence[float], limit: int
    ) -> list[Record]:
        """Return the nearest rows of a workspace, by id, names and score."""
        if not await self._asks_index(table, workspace):
            return await self._database.fetch(table.nearest(), workspace, direction, limit)
        candidates = 2 * limit + CANDIDATES

        async def work(connection: Connection) -> list[Record]:
            await connection.execute(
                "SELECT set_config('hnsw.ef_search', $1, true), "
                "set_config('hnsw.iterative_scan', 'strict_order', true)",
                str(min(candidates, MOST_LOOKED_AT)),
            )
            return await connection.fetch(
                table.nearest_by_index(), workspace, direction, limit, candidates
            )

        return await self._database.transact(work)

    async def note_written(self, table: VectorTable, workspace: str, rows: int) -> None:
        """Have the index made, in the background, when the workspace has become large."""
        self._written[table.name] += rows
        if 10 * self._written[table.name] < self._exact_below or table.name in self._making:
            return
        self._written[table.name] = 0
        if table.dimension > INDEXED_DIMENSIONS or not await self._is_large(table, workspace):
            return
        if not await self._has_index(table):
            task = asyncio.create_task(self._make(table))
            self._making[table.name] = task
            task.add_done_callback(lambda _: self._making.pop(table.name, None))

    async def close(self) -> None:
        """Give up what is being made: the next writer begins it anew."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _asks_index(self, table: VectorTable, workspace: str) -> bool:
        """Return whether the workspace is large and its table has a whole index."""
        checked_at, answer = self._large.get((table.name, workspace), (0.0, False))
        if checked_at and time.monotonic() - checked_at < LOOKED_AGAIN:
            return answer
        answer = await self._is_large(table, workspace) and await self._has_index(table)
        self._large[table.name, workspace] = (time.monotonic(), answer)
        return answer

    async def _is_large(self, table: VectorTable, workspace: str) -> bool:
        records = await self._database.fetch(table.count_to(), workspace, self._exact_below)
        return records[0]["number"] >= self._exact_below

    async def _has_index(self, table: VectorTable) -> bool:
        records = await self._database.fetch(_VALID_INDEX, f"{table.schema}.{table.index}")
        return bool(records) and records[0]["indisvalid"]

    async def _make(self, table: VectorTable) -> None:
        """Make the index; one process at a time does, and nobody waits for it."""

        async def work(connection: Connection) -> None:
            key = f"{table.schema}.{table.index}"
            if not await connection.fetchval("SELECT pg_try_advisory_lock(hashtext($1))", key):
                return
            try:
                if await connection.fetchval(_VALID_INDEX, key):
                    return
                # What a maker left who was stopped halfway.
                await connection.execute(f"DROP INDEX IF EXISTS {key}")
                await connection.execute(table.make_index())
            finally:
                await connection.fetchval("SELECT pg_advisory_unlock(hashtext($1))", key)

        started_at = time.monotonic()
        with suppress(Unavailable):
            await self._database.run(work, repeatable=False, is_long=True)
            self._large.clear()
            seconds = round(time.monotonic() - started_at, 1)
            logger.info("an index of vectors is made", table=table.name, seconds=seconds)
