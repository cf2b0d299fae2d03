"""Where in the log an answer stands, read from what the status projection has acknowledged and settled."""

import asyncio
import time

from contracts.graph import Space
from runtime.bus.port import Log
from services.query.ports import Documents

FRESH = 0.5
"""Seconds for which a position is not asked for again. It is a lower bound, so an old one is still true."""

MOST_KNOWN = 1000
"""Workspaces whose position is remembered; a caller may name any."""

PACE = 0.1
"""Seconds between two looks of a request that waits."""


class LogPositions:
    """`Positions` over the bus and the documents."""

    def __init__(self, log: Log, documents: Documents) -> None:
        self._log, self._documents = log, documents
        self._known: dict[Space, tuple[float, int]] = {}

    async def of(self, space: Space) -> int:
        """See `Positions.of`."""
        looked, position = self._known.get(space, (-FRESH, 0))
        if time.monotonic() - looked < FRESH:
            return position
        return await self._look(space)

    async def reach(self, space: Space, position: int, seconds: float) -> int:
        """See `Positions.reach`."""
        end = time.monotonic() + seconds
        while True:
            reached = await self._look(space)
            if reached >= position or time.monotonic() >= end:
                return reached
            await asyncio.sleep(PACE)

    async def _look(self, space: Space) -> int:
        # In this order: what the projection has acknowledged when we ask, the documents show when we look.
        folded = await self._log.handled("query-status", workspace=space.workspace)
        oldest = await self._documents.unsettled(space)
        position = folded if oldest is None else min(folded, oldest - 1)
        position = max(position, self._known.get(space, (0.0, 0))[1])
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[space] = (time.monotonic(), position)
        return position
