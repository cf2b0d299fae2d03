"""How long tests wait for what must come."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from runtime.errors import Unavailable

PATIENCE = 400.0
"""Seconds after which a test that waits fails. Only what is broken takes so long, however busy the
machine is; where the time itself is what a test is about, the test names its own.
"""

STORE_PATIENCE = 120.0
"""Seconds that a client gives a store's server, four times the default: tests of other workers load
it at the same time, and what it stores must reach the disk.
"""


def pauses(longest: float = 0.3) -> Iterator[float]:
    """Yield the seconds between two looks at what must come, each a tenth longer.

    On a busy machine looks would take the CPU that what they wait for needs.
    """
    pause = 0.02
    while True:
        yield pause
        pause = min(1.1 * pause, longest)


async def eventually(question: Callable[[], Awaitable[Any]]) -> Any:
    """The first answer that is not Unavailable."""
    async with asyncio.timeout(PATIENCE):
        intervals = pauses()
        while True:
            try:
                return await question()
            except Unavailable:
                await asyncio.sleep(next(intervals))
