"""Retries for long work, which goes on when a server it needs is restarted meanwhile."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina
import structlog

from runtime.errors import ModelChanged, Retryable
from runtime.retries import Backoff

logger = structlog.get_logger(__name__)
T = TypeVar("T")

MAX_OUTAGE = 300.0
"""Seconds without any progress after which an outage ends the work."""

BACKOFF = Backoff(first=0.5, longest=10.0)
"""Between two attempts, unless a provider asks for more."""


async def retry_outages(
    work: Callable[[], Awaitable[T]],
    *,
    progress: Callable[[], object] = lambda: None,
    seconds: float = MAX_OUTAGE,
) -> T:
    """Return what `work` returns; it is retried while it raises Retryable, so it must be safe to
    repeat.

    Raises its error once it has failed for that many seconds with `progress` unchanged, and
    ModelChanged at once.
    """
    last_progress, since, failures = progress(), None, 0

    def delay_after(error: Exception) -> bool | float:
        nonlocal last_progress, since, failures
        if not isinstance(error, Retryable) or isinstance(error, ModelChanged):
            return False
        now = time.monotonic()
        if since is None or progress() != last_progress:
            last_progress, since, failures = progress(), now, 0
        if now - since >= seconds:
            return False
        failures += 1
        logger.warning("will be tried again", error=f"{type(error).__name__}: {error}")
        return BACKOFF.delay(failures, error.retry_after)

    return await stamina.AsyncRetryingCaller(attempts=None, timeout=None)(delay_after, work)
