"""Streams of events as they happen: a bounded number of them, each fed by a reader of the log of
its own.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from contracts.partitions import LogPosition
from runtime.bus.feed.port import EventFeed
from runtime.bus.port import Message
from runtime.errors import Unavailable
from services.gateway.feeds.reading import EventFilter

P = TypeVar("P")

RETRY_AFTER = 10.0
"""Seconds after which a refused client may come back."""


@dataclass
class EventStreams:
    """Counts the open streams of this process. `stopping`: set when the process is to stop, which
    ends all of them.
    """

    limit: int = 100
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _open: Counter[str] = field(default_factory=Counter[str])
    _closing: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    @property
    def share(self) -> int:
        """Return how many of them one principal may have."""
        return max(2, self.limit // 4)

    @property
    def free(self) -> int:
        """Return how many more may be opened."""
        return self.limit - self._open.total()

    def has_all(self, principal: str) -> bool:
        """Return whether this principal has as many as it may have."""
        return self._open[principal] >= self.share

    @contextmanager
    def opened(self, principal: str) -> Generator[None]:
        """Count one stream of this principal. Raises `Unavailable` when too many are open."""
        if not self.free:
            raise Unavailable(
                f"{self.limit} event streams are open (MAX_EVENT_STREAMS)", retry_after=RETRY_AFTER
            )
        self._open[principal] += 1
        try:
            yield
        finally:
            self._open[principal] -= 1

    async def follow(
        self, feed: EventFeed, event_filter: EventFilter, after: int, *, wait: float, seconds: float
    ) -> AsyncGenerator[tuple[list[Message], int]]:
        """Yield events behind `after`, with the sequence up to which all were seen, for about so
        many seconds.

        After `wait` seconds without an event it yields none.
        """
        heartbeat_due = time.monotonic() + wait
        following = self._until_stopped(feed.follow(event_filter.subject, after, wait), seconds)
        async with aclosing(following) as pages:
            async for messages in pages:
                after = messages[-1].sequence if messages else after
                passed = await event_filter.passed(messages)
                is_hidden = bool(messages) and not passed and event_filter.visible is not None
                if is_hidden and time.monotonic() < heartbeat_due:
                    continue  # That something happens elsewhere is not told.
                heartbeat_due = time.monotonic() + wait
                yield passed, after

    def follow_all(
        self, feed: EventFeed, position: LogPosition, *, wait: float, seconds: float
    ) -> AsyncGenerator[tuple[list[Message], LogPosition]]:
        """Yield as `follow` does the events of all workspaces, with the place behind them."""
        return self._until_stopped(feed.follow_all(position, wait), seconds)

    async def _until_stopped(self, pages: AsyncGenerator[P], seconds: float) -> AsyncGenerator[P]:
        """Yield these pages for about so many seconds, unless the process stops."""
        end = time.monotonic() + seconds
        stop = asyncio.ensure_future(self.stopping.wait())
        reading = None
        try:
            while time.monotonic() < end and not self.stopping.is_set():
                reading = asyncio.ensure_future(anext(pages))
                await asyncio.wait({reading, stop}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    return
                yield reading.result()
        finally:
            stop.cancel()
            # A client that is gone has this cancelled again and again, and a reader must not be
            # closed while it reads.
            closing = asyncio.create_task(_close(pages, reading))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


async def _close(pages: AsyncGenerator[P], reading: asyncio.Task[P] | None) -> None:
    if reading:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    await pages.aclose()
