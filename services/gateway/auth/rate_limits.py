"""Rate limits in bounded memory. Callers pass the time, in seconds of any monotonic clock."""

from dataclasses import dataclass

from cachetools import LRUCache

MAX_CALLERS = 10_000
"""Clients that are counted. The least recently seen is evicted first: an attacker gets a fresh
count at the price of ten thousand requests under other names.
"""


@dataclass
class TokenBuckets:
    """A token bucket for each client: `per_minute` requests a minute on average, as many in a
    burst; 0: no limit.
    """

    per_minute: int
    max_callers: int = MAX_CALLERS

    def __post_init__(self) -> None:
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(self.max_callers)

    def take(self, client: str, now: float) -> float:
        """Take one token. Returns 0, or the seconds to wait until there is one."""
        if not self.per_minute:
            return 0.0
        tokens, since = self._left.get(client, (float(self.per_minute), now))
        tokens = min(float(self.per_minute), tokens + max(0.0, now - since) * self.per_minute / 60)
        has_token = tokens >= 1
        self._left[client] = (tokens - 1 if has_token else tokens, now)
        return 0.0 if has_token else (1 - tokens) * 60 / self.per_minute


@dataclass
class Lockout:
    """Locks a client out after so many failed logins within a window of seconds; 0 failures:
    never.
    """

    failures: int
    window: float
    max_callers: int = MAX_CALLERS

    def __post_init__(self) -> None:
        self._failed: LRUCache[str, list[float]] = LRUCache(self.max_callers)

    def begin(self, client: str, now: float) -> float:
        """Count an attempt as failed before it is checked, so that concurrent ones are not all
        tried.

        Returns 0, or the seconds to wait when the client is locked out; such an attempt is not
        counted.
        """
        if not self.failures:
            return 0.0
        times = [time for time in self._failed.get(client, []) if now - time < self.window]
        wait = times[0] + self.window - now if len(times) >= self.failures else 0.0
        self._failed[client] = times if wait else [*times, now]
        return wait

    def succeeded(self, client: str) -> None:
        """Forget the client's failures."""
        self._failed.pop(client, None)

    def take_back(self, client: str) -> None:
        """Count the newest attempt of the client no longer."""
        if times := self._failed.get(client):
            self._failed[client] = times[:-1]


@dataclass
class Cooldown:
    """Allows each client one action in `seconds`."""

    seconds: float
    max_callers: int = MAX_CALLERS

    def __post_init__(self) -> None:
        self._last: LRUCache[str, float] = LRUCache(self.max_callers)

    def take(self, client: str, now: float) -> bool:
        """Return whether the action is allowed now, and count it if so."""
        if now - self._last.get(client, -self.seconds) < self.seconds:
            return False
        self._last[client] = now
        return True
