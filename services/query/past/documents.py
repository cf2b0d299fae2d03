"""Reads documents and passages as they were at a place of the log, into stores in memory."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from cachetools import TTLCache

from contracts.events import Event
from contracts.graph import Partition
from runtime.bus.codec import decode
from runtime.bus.port import Delivery, Log
from runtime.errors import NewerVersion, Poison
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.lookup.documents import StoredDocuments
from services.query.past import reading
from services.query.past.reading import KEPT_SECONDS, Past
from services.query.past.sizes import ANY_TYPE
from services.query.past.state import REVISION
from services.query.past.stored_present import GENERATIONS
from services.query.past.turns import PastTurns
from services.query.replay import StatusReplay

EVENTS_AT_ONCE = 50
"""Events that are handled before other requests get their turn."""

MAX_KEPT = 2
"""Pasts whose documents are kept for further requests."""


async def read_documents(log: Log, workspace: str, sequence: int, rows: Rows) -> None:
    """Fill the rows of documents and chunks from the log, as the status projection does."""
    replay = StatusReplay(rows)
    batch: list[Delivery[Event]] = []
    async with aclosing(log.history(workspace, None, ANY_TYPE)) as messages:
        async for message in messages:
            if message.sequence > sequence:
                break
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except (NewerVersion, Poison):
                continue
            batch.append(Delivery(envelope, message.sequence, 1, message.published_at))
            if len(batch) == EVENTS_AT_ONCE:
                await replay.take(batch, GENERATIONS)
                batch = []
                await asyncio.sleep(0)
    await replay.take(batch, GENERATIONS)
    await replay.finish(GENERATIONS)


@dataclass
class MemoryPastDocuments:
    """`PastDocuments` in memory: of a large past from the present, else from the log."""

    log: Log
    past: Past
    _cache: TTLCache[tuple[str, int], Rows] = field(
        default_factory=lambda: TTLCache(MAX_KEPT, KEPT_SECONDS)
    )
    _turns: PastTurns = field(default_factory=PastTurns)

    async def at(self, workspace: str, sequence: int) -> StoredDocuments:
        """See `PastDocuments.at`."""
        key = (workspace, sequence)
        async with self._turns.of_workspace(workspace):
            rows = self._cache.get(key)
            if rows is None:
                rows = await self._rows(workspace, sequence)
                self._cache[key] = rows
        return StoredDocuments(
            RowDocuments(rows), RowPassages(rows), Partition(workspace, REVISION)
        )

    async def _rows(self, workspace: str, sequence: int) -> Rows:
        size = await self.past.size(workspace, sequence)
        if size > reading.MAX_BYTES:
            present_state, _ = await self.past.of_present(workspace, sequence)
            return present_state.rows
        rows = MemoryRows()
        async with self._turns.of_size(workspace, size):
            await read_documents(self.log, workspace, sequence, rows)
        return rows
