"""Sizes of what the log says of workspaces, so that a past that is too large is refused unread."""

from contextlib import aclosing
from dataclasses import dataclass, field

from cachetools import TTLCache

from runtime.bus.port import Log

ANY_TYPE = "*"
"""Stands for the events of every type."""

MOST_WORKSPACES = 1000
"""Workspaces whose sizes are remembered, some hundred bytes each."""

REMEMBERED_SECONDS = 300.0
"""Seconds after which sizes are counted anew: an erasure makes them smaller."""


@dataclass
class _Extent:
    """The events of one workspace that were counted: `size` bytes up to the sequence `end`.

    `exceeded_at`: the sequence from which on they are more than the limit; None while they are not.
    """

    end: int = 0
    size: int = 0
    exceeded_at: int | None = None


@dataclass
class EventSizes:
    """Counts the bytes of the events of workspaces, each event once, as far as `limit`.

    The server gives sizes in place of the data, so it takes a fraction of the time of reading them.
    """

    log: Log
    limit: int
    _extents: TTLCache[str, _Extent] = field(
        default_factory=lambda: TTLCache(MOST_WORKSPACES, REMEMBERED_SECONDS)
    )

    async def until(self, workspace: str, sequence: int) -> int:
        """Return the bytes of a workspace's events up to a sequence; any number above the limit
        means more than that.

        Calls for one workspace must come one after the other. Raises `Unavailable`.
        """
        extent = self._extents.get(workspace) or _Extent()
        if extent.exceeded_at is None and extent.end < sequence:
            extent = await self._counted(workspace, extent, sequence)
            self._extents[workspace] = extent
        if extent.exceeded_at is not None and extent.exceeded_at > sequence:
            return self.limit
        return extent.size

    async def _counted(self, workspace: str, extent: _Extent, sequence: int) -> _Extent:
        size = extent.size
        async with aclosing(self.log.sizes(workspace, ANY_TYPE, extent.end)) as events:
            async for place, bytes_of_event in events:
                if place > sequence:
                    break
                size += bytes_of_event
                if size > self.limit:
                    return _Extent(place, size, exceeded_at=place)
        return _Extent(sequence, size)
