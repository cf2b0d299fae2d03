"""Positions up to which answers are complete, from what the status projection has handled and
settled.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from contracts.graph import Partition
from runtime.bus.port import Log
from services.query.status.port import Documents

CACHE_SECONDS = 0.5
"""Seconds for which a position is cached. A position is a lower bound, so an old one is still
correct.
"""

MAX_CACHED = 1000
"""Most workspaces with a cached position, because a caller may name any workspace."""

POLL_SECONDS = 0.1
"""Seconds between two checks of a waiting request."""

MAX_CLOCK_SKEW = 5_000_000
"""Microseconds by which the clocks of publishers may be ahead of ours."""


def _now() -> int:
    return time.time_ns() // 1000


@dataclass(frozen=True)
class _LogEnd:
    """Sequence of the newest event of a workspace in the log, and when it was read, in microseconds
    since 1970.
    """

    sequence: int
    at: int


@dataclass
class _CachedPosition:
    read_at: float
    position: int
    log_end: _LogEnd


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
        cached_position = self._known.get(partition)
        if cached_position and time.monotonic() - cached_position.read_at < CACHE_SECONDS:
            return cached_position.position
        log_end = await self._newest(partition)
        # While documents arrive without a pause, the newest event is never handled, but the
        # previous newest is.
        log_ends = [log_end] if cached_position is None else [log_end, cached_position.log_end]
        handled_to, oldest_unsettled = await self._progress(partition)
        times = [end.at for end in log_ends if end.sequence <= handled_to]
        position = max(times, default=0)
        if oldest_unsettled is not None:
            position = min(position, oldest_unsettled - 1)
        return self._remember(
            partition,
            position,
            log_end if times or cached_position is None else cached_position.log_end,
        )

    async def wait_for(self, partition: Partition, position: int, seconds: float) -> int:
        """See `Positions.wait_for`. It covers all events in the log at the time of the call,
        despite clock skew.
        """
        end = time.monotonic() + seconds
        log_end = await self._newest(partition)
        while True:
            handled_to, oldest_unsettled = await self._progress(partition)
            is_settled = log_end.sequence <= handled_to and (
                oldest_unsettled is None or oldest_unsettled > position
            )
            if is_settled and position <= self.now() + MAX_CLOCK_SKEW:
                return max(position, await self.of(partition))
            if time.monotonic() >= end:
                return min(position - 1, await self.of(partition))
            await asyncio.sleep(POLL_SECONDS)

    async def _newest(self, partition: Partition) -> _LogEnd:
        at = self.now()
        return _LogEnd(await self.log.last(partition.workspace), at)

    async def _progress(self, partition: Partition) -> tuple[int, int | None]:
        # The order matters: the documents then include every event that the projection had handled.
        handled_to = await self.log.handled("query-status", workspace=partition.workspace)
        return handled_to, await self.documents.oldest_unsettled(partition)

    def _remember(self, partition: Partition, position: int, log_end: _LogEnd) -> int:
        if partition in self._known:
            position = max(position, self._known[partition].position)
        elif len(self._known) >= MAX_CACHED:
            self._known.clear()
        self._known[partition] = _CachedPosition(time.monotonic(), position, log_end)
        return position
