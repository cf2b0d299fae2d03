"""How many questions look into the stores at once, so that many of them wait here and not each for every store."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import Unavailable

MAX_CONCURRENT = 16
"""More keep the stores no busier; each would take longer until all of them are over the stores' time limits."""

MAX_WAIT = 120.0
"""Seconds a question waits for its turn."""


@dataclass(frozen=True)
class ConcurrencyLimit:
    """Of each workspace in the order of asking; workspaces are served in turn."""

    max_concurrent: int = MAX_CONCURRENT
    max_wait: float = MAX_WAIT
    _semaphore: FairSemaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_semaphore", FairSemaphore(self.max_concurrent))

    @asynccontextmanager
    async def acquire(self, workspace: str) -> AsyncGenerator[None]:
        """Wait for a turn, and have it. Raises `Unavailable` when it does not come in time."""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self.max_wait):
                    await stack.enter_async_context(self._semaphore.hold(workspace))
            except TimeoutError:
                raise Unavailable("too many questions are asked at once", retry_after=5.0) from None
            yield
