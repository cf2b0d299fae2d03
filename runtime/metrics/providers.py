"""What is told of the providers of models: whether one is paused, and how often."""

from functools import partial

from runtime.metrics.instruments import provider_paused, provider_pauses
from runtime.metrics.readings import Readings
from runtime.models.rate_limiter import RateLimiter
from runtime.semantic_conventions import PROVIDER


def watch_provider(readings: Readings, kind: str, limiter: RateLimiter) -> None:
    """Count the pauses of a provider, and read whether it is paused. `kind` is what it is used
    for.
    """
    limiter.on_pause = partial(provider_pauses.add, 1, {PROVIDER: kind})
    readings.add(f"provider of {kind}", partial(_read_pause, kind, limiter))


async def _read_pause(kind: str, limiter: RateLimiter) -> None:
    provider_paused.set(1 if await limiter.note() else 0, {PROVIDER: kind})
