"""How fast a rebuild goes: what it reports, with the rate of its present phase and the time
left.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

COUNTED = ("vectors", "entities and relations", "rows compared")
"""Phases whose reports count what is done, `of` how many where that is known: of the last two it is
at their end alone.
"""


@dataclass
class Pace:
    """Adds `phase`, `done`, `total`, `rate` (a second) and `seconds_left` to each report, as far as
    they are known.

    A phase begins with its first report: the rate is that since then.
    """

    clock: Callable[[], float] = time.monotonic
    _phase: str = ""
    _since: float = 0.0
    _first: int = 0

    def of(self, step: dict[str, Any]) -> dict[str, Any]:
        """Return the report with what is known of its pace."""
        phase, done_count, total = _counted(step)
        if not phase:
            return step
        now = self.clock()
        if phase != self._phase:
            self._phase = phase
            self._since = now
            self._first = done_count
        estimate: dict[str, Any] = {**step, "phase": phase, "done": done_count}
        if total:
            estimate["total"] = total
        seconds = now - self._since
        handled_count = done_count - self._first
        if seconds > 0 and handled_count > 0:
            estimate["rate"] = round(handled_count / seconds, 1)
            if total:
                estimate["seconds_left"] = round(
                    max(0, total - done_count) * seconds / handled_count, 1
                )
        return estimate


def _counted(step: dict[str, Any]) -> tuple[str, int, int]:
    """Return the phase of a report, how much is done and of how much; 0 where that is not known."""
    if "position" in step:
        return "events", int(step["position"]), int(step["end"])
    for phase in COUNTED:
        if phase in step:
            return phase, int(step[phase]), int(step.get("of", 0))
    return "", 0, 0
