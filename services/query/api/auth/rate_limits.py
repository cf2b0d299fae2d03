"""Counting requests and failures in bounded memory. The caller brings the time, in seconds of any clock."""

from dataclasses import dataclass

from cachetools import LRUCache

MOST = 10_000
"""Callers that are remembered. The one not seen for longest is forgotten first; an attacker who brings ten thousand
others wins a fresh count, for the price of as many requests."""


@dataclass
class Buckets:
    """A token bucket for each caller: `per_minute` requests a minute on the average, as many at once; 0: no limit."""

    per_minute: int
    most: int = MOST

    def __post_init__(self) -> None:
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(self.most)

    def take(self, caller: str, now: float) -> float:
        """Take one; gives the seconds to wait when there is none, else 0."""
        if not self.per_minute:
            return 0.0
        left, since = self._left.get(caller, (float(self.per_minute), now))
        left = min(float(self.per_minute), left + max(0.0, now - since) * self.per_minute / 60)
        taken = left >= 1
        self._left[caller] = (left - 1 if taken else left, now)
        return 0.0 if taken else (1 - left) * 60 / self.per_minute


@dataclass
class Lockout:
    """Failed logins of each caller within a window of seconds; 0 failures: never locked."""

    failures: int
    window: float
    most: int = MOST

    def __post_init__(self) -> None:
        self._failed: LRUCache[str, list[float]] = LRUCache(self.most)

    def begin(self, caller: str, now: float) -> float:
        """Count an attempt as failed before it is looked at, so that many at once are not all tried.

        Gives the seconds to wait when the caller is locked out; such an attempt is not counted.
        """
        if not self.failures:
            return 0.0
        times = [time for time in self._failed.get(caller, []) if now - time < self.window]
        wait = times[0] + self.window - now if len(times) >= self.failures else 0.0
        self._failed[caller] = times if wait else [*times, now]
        return wait

    def succeeded(self, caller: str) -> None:
        """Forget the caller's failures."""
        self._failed.pop(caller, None)


@dataclass
class Once:
    """At most one thing in `seconds` for each caller."""

    seconds: float
    most: int = MOST

    def __post_init__(self) -> None:
        self._last: LRUCache[str, float] = LRUCache(self.most)

    def take(self, caller: str, now: float) -> bool:
        """Whether it may be now."""
        if now - self._last.get(caller, -self.seconds) < self.seconds:
            return False
        self._last[caller] = now
        return True
