"""How long tests wait for what must come."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from runtime.errors import Unavailable

PATIENCE = 400.0
"""Seconds after which a test that waits fails. Only what is broken takes so long, however busy the
machine is; where the time itself is what a test is about, the test names its own.
"""


async def eventually(question: Callable[[], Awaitable[Any]]) -> Any:
    """The first answer that is not Unavailable."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await question()
            except Unavailable:
                await asyncio.sleep(0.1)
