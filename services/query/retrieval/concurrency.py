"""How many questions look into the stores at once, so that many of them wait here and not each for every store."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import Unavailable

AT_ONCE = 16
"""More keep the stores no busier; each would take longer until all of them are over the stores' time limits."""

PATIENCE = 120.0
"""Seconds a question waits for its turn."""


@dataclass(frozen=True)
class Turns:
    """Of each workspace in the order of asking; workspaces are served in turn."""

    at_once: int = AT_ONCE
    patience: float = PATIENCE
    _turns: FairSemaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_turns", FairSemaphore(self.at_once))

    @asynccontextmanager
    async def taken(self, workspace: str) -> AsyncGenerator[None]:
        """Wait for a turn, and have it. Raises `Unavailable` when it does not come in time."""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self.patience):
                    await stack.enter_async_context(self._turns.hold(workspace))
            except TimeoutError:
                raise Unavailable("too many questions are asked at once", retry_after=5.0) from None
            yield
