"""Where the questions of a workspace are answered from, with the position of these answers."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import LRUCache

from runtime.bus.port import LiveGenerations
from services.query.partitions import Partitions
from services.query.status.port import Positions

CACHE_SECONDS = 0.5
"""Seconds for which the live generations are taken as read, with a position from before they were
read.
"""

MAX_CACHED = 1000
"""Workspaces whose partitions are cached: a caller may name any workspace."""


@dataclass(frozen=True)
class _Read:
    at: float
    partitions: Partitions
    position: int


class CurrentPartitions:
    """Partitions and position of each workspace, read together at most twice a second.

    The position is read before the generations. So when a rebuild activates another generation,
    answers from the former one carry a position from before: at that moment both hold everything.
    """

    def __init__(
        self,
        pointers: LiveGenerations,
        positions: Positions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pointers = pointers
        self._positions = positions
        self._clock = clock
        self._cached: LRUCache[str, _Read] = LRUCache(MAX_CACHED)

    async def of(self, workspace: str) -> tuple[Partitions, int]:
        """Return where to search, and the position. Raises what `LiveGenerations.live` and
        `Positions.of` raise.
        """
        read = self._cached.get(workspace)
        now = self._clock()
        if read is None or now - read.at >= CACHE_SECONDS:
            read = self._cached[workspace] = await self._read(workspace, now)
        return read.partitions, read.position

    async def _read(self, workspace: str, now: float) -> _Read:
        partitions = Partitions.of(workspace, await self._pointers.live())
        while True:
            position = await self._positions.of(partitions.status)
            current_partitions = Partitions.of(workspace, await self._pointers.live())
            if current_partitions == partitions:
                return _Read(now, partitions, position)
            partitions = current_partitions
