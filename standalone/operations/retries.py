"""Work that goes on when a server it needs is started again meanwhile."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from runtime.errors import ModelChanged, Retryable

logger = structlog.get_logger(__name__)
T = TypeVar("T")

PATIENCE = 300.0
"""Seconds without any progress after which an outage ends the work."""

LONGEST = 10.0
"""Seconds between two attempts at most, unless a provider asks for more."""


async def patiently(
    work: Callable[[], Awaitable[T]],
    *,
    progress: Callable[[], object] = lambda: None,
    seconds: float = PATIENCE,
) -> T:
    """What `work` gives, which is tried again while it raises Retryable, so it must be safe to repeat.

    Raises its error once it has failed for that many seconds with `progress` unchanged, and ModelChanged at once.
    """
    seen, since, attempt = progress(), None, 0
    while True:
        try:
            return await work()
        except ModelChanged:
            raise
        except Retryable as error:
            now = time.monotonic()
            if since is None or progress() != seen:
                seen, since, attempt = progress(), now, 0
            if now - since >= seconds:
                raise
            logger.warning("will be tried again", error=f"{type(error).__name__}: {error}")
            await asyncio.sleep(error.retry_after or min(0.5 * 2**attempt, LONGEST))
            attempt += 1
