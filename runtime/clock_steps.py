"""Steps of the machine's clock as a process tells them: in its log, its metrics and on its health
pages.
"""

import asyncio
import math
import time
from datetime import UTC, datetime

import structlog

from runtime.clock import SETTLING, ClockWatch, described_step
from runtime.metrics import instruments
from runtime.semantic_conventions import DIRECTION

logger = structlog.get_logger(__name__)

INTERVAL = 2.0
"""Seconds between two looks for the log; whoever asks for health looks at that moment."""

SHOWN = 24 * 3600.0
"""Seconds for which a step is told to operators."""


class ClockSteps:
    """The steps of the clock that a process has seen: it counts them, logs them, and tells whoever
    asks for health.
    """

    def __init__(self) -> None:
        self._watch = ClockWatch()
        self._steps = 0
        self._step = 0.0
        self._seen_at = -math.inf
        self._set_to = 0.0
        self._settled = -math.inf

    async def run(self) -> None:
        """Look at the clock for ever."""
        while True:
            self.look()
            await asyncio.sleep(INTERVAL)

    def look(self) -> float:
        """Look at the clock once, and return by how many seconds it was set forward; negative:
        back; 0: not at all.
        """
        if step := self._watch.step():
            self._steps += 1
            self._step = step
            self._set_to = time.time()
            self._seen_at = time.monotonic()
            if step < 0:
                self._settled = self._seen_at
            instruments.clock_steps.add(1, {DIRECTION: "back" if step < 0 else "forward"})
            logger.warning("the machine's clock was set", seconds=round(step, 1))
        return step

    async def problem(self) -> str | None:
        """Return what keeps the process from being ready for some seconds after the clock was set
        back.
        """
        self.look()
        if time.monotonic() - self._settled >= SETTLING:
            return None
        return f"the clock was set back by {-self._step:.0f} s just now" if self._step < 0 else None

    async def note(self) -> str | None:
        """Return a sentence for a day after a step: by how much the clock was set, and to which
        time.
        """
        self.look()
        if time.monotonic() - self._seen_at >= SHOWN:
            return None
        to = datetime.fromtimestamp(self._set_to, UTC)
        total_note = f"; {self._steps} steps in all" if self._steps > 1 else ""
        return f"the clock {described_step(self._step)}, to {to:%Y-%m-%d %H:%M:%S} UTC{total_note}"
