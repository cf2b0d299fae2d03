"""Limit on concurrent retrievals, so that excess questions wait here instead of at every store."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import Unavailable

T = TypeVar("T")

MAX_CONCURRENT = 16
"""Concurrent retrievals of one process. More make each slower until all exceed the stores'
timeouts.
"""

MAX_WAIT = 120.0
"""Seconds a question waits for its turn."""


_WALKER = ThreadPoolExecutor(1, "walk")
"""One thread, which begins with the first walk. Several at once would only take turns at the
interpreter, and that costs each of them more than it wins.
"""


async def in_turn(function: Callable[..., T], *arguments: Any) -> T:
    """Return what a function returns that works on names or passages, behind those of other
    walks.
    """
    return await asyncio.get_running_loop().run_in_executor(_WALKER, function, *arguments)


@dataclass(frozen=True)
class ConcurrencyLimit:
    """Fair semaphore: first come, first served within a workspace; round robin between
    workspaces.
    """

    max_concurrent: int = MAX_CONCURRENT
    max_wait: float = MAX_WAIT
    _semaphore: FairSemaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_semaphore", FairSemaphore(self.max_concurrent))

    @asynccontextmanager
    async def acquire(self, workspace: str) -> AsyncGenerator[None]:
        """Hold one slot. Raises `Unavailable` when none is free within `max_wait` seconds."""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self.max_wait):
                    await stack.enter_async_context(self._semaphore.hold(workspace))
            except TimeoutError:
                raise Unavailable("too many questions are asked at once", retry_after=5.0) from None
            yield
