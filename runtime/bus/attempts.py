"""Count failures by message and cause: an outage must not use up the tries of a bug, nor one
message those of another.

The counts are kept in this process and are bounded. A message whose count is forgotten is tried
more often, never less.
"""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

MOST = 10_000
"""Things whose failures are remembered, the longest untouched forgotten first."""


class Attempts:
    """Failures by thing and cause."""

    def __init__(self, max_items: int = MOST) -> None:
        self._most = max_items
        self._counts: OrderedDict[Hashable, dict[str, int]] = OrderedDict()

    def add(self, item: Hashable, cause: str) -> int:
        """Note one failure, and return how often the thing has failed for this cause now."""
        counts = self._counts.setdefault(item, {})
        self._counts.move_to_end(item)
        counts[cause] = counts.get(cause, 0) + 1
        while len(self._counts) > self._most:
            self._counts.popitem(last=False)
        return counts[cause]

    def of(self, item: Hashable) -> Mapping[str, int]:
        """Return the number of its failures by cause."""
        return dict(self._counts.get(item, {}))

    def restore(self, item: Hashable, counts: Mapping[str, int]) -> None:
        """Take over the counts of another process, unless this one has counted failures of it."""
        if counts:
            self._counts.setdefault(item, dict(counts))

    def forget(self, item: Hashable) -> None:
        """Forget its failures: it has come to an end."""
        self._counts.pop(item, None)


@dataclass
class WindowShare:
    """Which workspaces' failing messages stand in a durable's window of `size`: each may have its
    share of it.

    A message whose second delivery is overdue went to another replica, which counts it.
    """

    size: int
    _until: dict[str, dict[int, float]] = field(
        default_factory=lambda: defaultdict[str, dict[int, float]](dict)
    )

    OVERDUE = 30.0
    """Seconds after its delay that a message is still taken to stand in the window."""

    def refused(self, workspace: str, sequence: int, delay: float) -> None:
        """Note that the message goes back into the window, for `delay` seconds."""
        self._until[workspace][sequence] = time.monotonic() + delay + self.OVERDUE

    def settled(self, workspace: str, sequence: int) -> None:
        """Note that the message has left the window."""
        if (mine := self._until.get(workspace)) is not None:
            mine.pop(sequence, None)
            if not mine:
                del self._until[workspace]

    def exceeded(self, workspace: str, sequence: int) -> bool:
        """Whether another message of the workspace has no place: it has an eighth of the window, or
        all have half.
        """
        if not self._is_full(workspace, sequence):
            return False
        self._forget_overdue()
        return self._is_full(workspace, sequence)

    def _is_full(self, workspace: str, sequence: int) -> bool:
        mine = self._until.get(workspace, {})
        total = sum(map(len, self._until.values()))
        return (
            len(mine) - (sequence in mine) >= self.size // 8
            or total - (sequence in mine) >= self.size // 2
        )

    def _forget_overdue(self) -> None:
        now = time.monotonic()
        for workspace in list(self._until):
            pending = {
                sequence: until for sequence, until in self._until[workspace].items() if until > now
            }
            if pending:
                self._until[workspace] = pending
            else:
                del self._until[workspace]


@dataclass
class Pace:
    """A token bucket: at most so many a second, and no more than `burst` at once."""

    per_second: float
    burst: float
    _seconds_left: float = field(init=False)
    _at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._seconds_left = self.burst

    def allows(self) -> bool:
        """Return whether one more may happen now, and count it if so."""
        self._refill()
        if self._seconds_left < 1.0:
            return False
        self._seconds_left -= 1.0
        return True

    def count(self) -> float:
        """Count one that happened, and return the seconds until the next one may."""
        self._refill()
        self._seconds_left -= 1.0
        return max(0.0, (1.0 - self._seconds_left) / self.per_second)

    def _refill(self) -> None:
        now = time.monotonic()
        self._seconds_left = min(
            self.burst, self._seconds_left + (now - self._at) * self.per_second
        )
        self._at = now
