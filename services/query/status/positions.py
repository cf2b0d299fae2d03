"""Positions up to which answers are complete, from what the status projection has handled and settled."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from contracts.graph import Partition
from runtime.bus.port import Log
from services.query.status.port import Documents

CACHE_SECONDS = 0.5
"""Seconds for which a position is not asked for again. It is a lower bound, so an old one is still true."""

MAX_CACHED = 1000
"""Workspaces whose position is remembered; a caller may name any."""

POLL_SECONDS = 0.1
"""Seconds between two looks of a request that waits."""

MAX_CLOCK_SKEW = 5_000_000
"""Microseconds by which the clocks of publishers may be ahead of ours."""


def _now() -> int:
    return time.time_ns() // 1000


@dataclass(frozen=True)
class _LogEnd:
    """The newest event that a workspace had in the log at a time."""

    sequence: int
    at: int


@dataclass
class _CachedPosition:
    read_at: float
    position: int
    mark: _LogEnd


@dataclass
class LogPositions:
    """`Positions` over the bus and the documents. `now`: microseconds since 1970."""

    log: Log
    documents: Documents
    now: Callable[[], int] = _now

    def __post_init__(self) -> None:
        self._known: dict[Partition, _CachedPosition] = {}

    async def of(self, partition: Partition) -> int:
        """See `Positions.of`."""
        known = self._known.get(partition)
        if known and time.monotonic() - known.read_at < CACHE_SECONDS:
            return known.position
        mark = await self._newest(partition)
        # While documents come without a pause the newest is never folded: what was the newest a while ago is.
        marks = [mark] if known is None else [mark, known.mark]
        folded, oldest = await self._progress(partition)
        reached = [one.at for one in marks if one.sequence <= folded]
        position = max(reached, default=0)
        if oldest is not None:
            position = min(position, oldest - 1)
        return self._remember(partition, position, mark if reached or known is None else known.mark)

    async def wait_for(self, partition: Partition, position: int, seconds: float) -> int:
        """See `Positions.reach`. Whatever the caller knows of was in the log when it asked, whatever clocks say."""
        end = time.monotonic() + seconds
        mark = await self._newest(partition)
        while True:
            folded, oldest = await self._progress(partition)
            settled = mark.sequence <= folded and (oldest is None or oldest > position)
            if settled and position <= self.now() + MAX_CLOCK_SKEW:
                return max(position, await self.of(partition))
            if time.monotonic() >= end:
                return min(position - 1, await self.of(partition))
            await asyncio.sleep(POLL_SECONDS)

    async def _newest(self, partition: Partition) -> _LogEnd:
        at = self.now()
        return _LogEnd(await self.log.last(partition.workspace), at)

    async def _progress(self, partition: Partition) -> tuple[int, int | None]:
        # In this order: what the projection has handled when we ask, the documents show when we look.
        folded = await self.log.handled("query-status", workspace=partition.workspace)
        return folded, await self.documents.oldest_unsettled(partition)

    def _remember(self, partition: Partition, position: int, mark: _LogEnd) -> int:
        if partition in self._known:
            position = max(position, self._known[partition].position)
        elif len(self._known) >= MAX_CACHED:
            self._known.clear()
        self._known[partition] = _CachedPosition(time.monotonic(), position, mark)
        return position
