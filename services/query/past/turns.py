"""Turns of reading the past: one at a time for each workspace, and few large pasts at once of all
of them.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from runtime.concurrency.fair_semaphore import FairSemaphore

LARGE = 8 * 1024 * 1024
"""Bytes of events from which on a past waits for a turn among the large ones."""

LARGE_AT_ONCE = 2
"""Large pasts that are read at once: each may take some hundred MB until it is folded."""


class PastTurns:
    """Who waits for whom: nobody for another workspace, unless both read much."""

    def __init__(self) -> None:
        self._workspaces: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._large = FairSemaphore(LARGE_AT_ONCE, most_of_one=1)

    @asynccontextmanager
    async def of_workspace(self, workspace: str) -> AsyncGenerator[None]:
        """Wait until nobody else works on this workspace, and keep others from it until the block
        ends.
        """
        lock = self._workspaces.setdefault(workspace, asyncio.Lock())
        async with lock:
            yield

    @asynccontextmanager
    async def of_size(self, workspace: str, size: int) -> AsyncGenerator[None]:
        """Wait for a turn to read so many bytes; a small past waits for none."""
        if size < LARGE:
            yield
            return
        async with self._large.hold(workspace):
            yield
