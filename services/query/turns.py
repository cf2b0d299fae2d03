"""How many questions look into the stores at once, so that many of them wait here and not each for every store."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from runtime.errors import Unavailable

AT_ONCE = 16
"""More keep the stores no busier; each would take longer until all of them are over the stores' time limits."""

PATIENCE = 120.0
"""Seconds a question waits for its turn."""


@dataclass(frozen=True)
class Turns:
    """In the order of asking."""

    at_once: int = AT_ONCE
    patience: float = PATIENCE
    _free: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_free", asyncio.Semaphore(self.at_once))

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """Wait for a turn, and have it. Raises `Unavailable` when it does not come in time."""
        try:
            async with asyncio.timeout(self.patience):
                await self._free.acquire()
        except TimeoutError:
            raise Unavailable("too many questions are asked at once", retry_after=5.0) from None
        try:
            yield
        finally:
            self._free.release()
