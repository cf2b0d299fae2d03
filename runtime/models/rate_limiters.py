"""The rate limiters of one process, over the values on the bus that all replicas share."""

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from runtime.bus.port import SharedValues
from runtime.models import limits as rules
from runtime.models.limits import Limits, ProviderState
from runtime.models.rate_limiter import RateLimiter, read_state


@dataclass(frozen=True)
class RateLimiters:
    """Makes the rate limiters of one process. `notes` collects their pause notices by kind of
    provider.

    `watch` is called with each and the kind of its provider.
    """

    values: SharedValues | None = None
    notes: dict[str, Callable[[], Awaitable[str | None]]] = field(
        default_factory=dict[str, Callable[[], Awaitable[str | None]]]
    )

    watch: Callable[[str, RateLimiter], None] = lambda _, __: None

    def limiter(
        self, kind: str, name: str, key: str, limits: Limits, max_wait: float = math.inf
    ) -> RateLimiter:
        """Return a rate limiter. `kind` is what the provider is used for; replicas share limits by
        `kind` and `key`.

        Only a hash of both leaves the process: the key may hold a secret. `max_wait`: seconds.
        """
        limiter = RateLimiter(name, limits, self.values, key=f"{kind} {key}", max_wait=max_wait)
        self.notes[kind] = limiter.note
        self.watch(kind, limiter)
        return limiter


async def provider_states(values: SharedValues | None) -> list[ProviderState]:
    """Return what is shared about each provider that was called within a day. Raises
    `Unavailable`.
    """
    if values is None:
        return []
    states = [(await read_state(values, key))[0] for key in await values.keys()]
    for state in states:
        rules.cut_times(state, time.time())
    return states


async def pause_notices(values: SharedValues) -> list[str]:
    """Return a sentence for every paused provider. Raises `Unavailable`."""
    return [
        note
        for state in await provider_states(values)
        if (note := rules.pause_notice(state, time.time()))
    ]
