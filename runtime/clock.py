"""The machine's clock can be set: a resumed machine, a wrong time zone, NTP. Only the monotonic
clock never goes back.

A wait inside of a process is counted by the monotonic clock. A time that other processes read is
one of the machine's clock, in seconds since 1970, and who reads it here waits no longer for it than
its longest legal wait: it may have been written before the clock was set back.
"""

import time
from collections import OrderedDict
from collections.abc import Hashable

TOLERANCE = 5.0
"""Seconds by which the clocks of two machines may differ: no time is cut for that."""

SETTLING = 10.0
"""Seconds after a step back for which a process is not ready, and no store that goes by the clock
is asked.
"""

INTERVAL = 0.5
"""Seconds between two looks at the clock."""


def legal_time(at: float, longest: float, now: float) -> float:
    """Return a time that was at most `longest` seconds ahead when it was written; cut to that where
    it is further.
    """
    return now + longest if at - now > longest + TOLERANCE else at


class Waits:
    """Waits for times in shared records, each counted by the monotonic clock from when it was first
    read.

    Records are told apart by a key, and one that is read with another time is a new wait. The waits
    of the `max_keys` records that were read last are remembered: one that is forgotten begins anew.
    """

    def __init__(self, max_keys: int = 10_000) -> None:
        self._most = max_keys
        self._ends: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def left(self, key: Hashable, at: float, longest: float) -> float:
        """Return the seconds until the time `at` of this record, at most `longest`; 0 when it has
        come.
        """
        known_end = self._ends.get(key)
        if known_end is None or known_end[0] != at:
            known_end = at, monotonic_time(at, longest)
            self._ends[key] = known_end
            while len(self._ends) > self._most:
                self._ends.popitem(last=False)
        self._ends.move_to_end(key)
        return max(0.0, known_end[1] - time.monotonic())


def monotonic_time(at: float, longest: float) -> float:
    """Return the time of the monotonic clock for one of the machine's, no more than `longest`
    seconds ahead.
    """
    return time.monotonic() + min(at - time.time(), longest)


class ClockWatch:
    """Finds steps of the machine's clock: it compares how far that and the monotonic one have
    moved.
    """

    def __init__(self, min_seconds: float = 2.0) -> None:
        self._least = min_seconds
        self._offset = time.time() - time.monotonic()

    def step(self) -> float:
        """Return by how many seconds the clock was set forward since the last call, negative for
        back; 0 if not.

        Steps under `min_seconds` seconds are followed without a word: NTP makes them all day.
        """
        offset = time.time() - time.monotonic()
        step = offset - self._offset
        self._offset = offset
        return step if abs(step) >= self._least else 0.0


class SetBack:
    """Says whether the clock was set back within the last SETTLING seconds."""

    def __init__(self) -> None:
        self._watch = ClockWatch()
        self._step = 0.0
        self._until = 0.0

    def seconds(self) -> float:
        """Return by how many seconds the clock was set back just now; 0 if it was not."""
        if (step := self._watch.step()) < 0:
            self._step = -step
            self._until = time.monotonic() + SETTLING
        return self._step if time.monotonic() < self._until else 0.0


def described_step(seconds: float) -> str:
    """Return a step of the clock for people."""
    return f"was set {'back' if seconds < 0 else 'forward'} by {abs(seconds):.0f} s"
