"""Starts Milvus Lite again when this machine's clock was set back: it hides what it wrote before
that.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from embedded.processes import Process
from embedded.servers.milvus_lite_times import CLOCK_SET_BACK
from embedded.supervisor import Report
from runtime.clock import INTERVAL, ClockWatch, described_step


@dataclass
class StepWatch:
    """Watches the clock for one stack. `vectors`: its Milvus Lite; None where it has none."""

    vectors: Process | None
    report: Report
    watch: ClockWatch = field(default_factory=ClockWatch)

    async def run(self) -> None:
        """Look at the clock for ever."""
        while True:
            await self.check()
            await asyncio.sleep(INTERVAL)

    async def check(self) -> None:
        """Look at the clock once; where it was set back, stop Milvus Lite, which its supervisor
        starts again.
        """
        step = self.watch.step()
        if not step:
            return
        self.report(f"this machine's clock {described_step(step)}")
        if step < 0 and self.vectors:
            # Whoever starts next looks at all of its rows, also where this supervisor is killed
            # now.
            with suppress(OSError):
                (self.vectors.folder / CLOCK_SET_BACK).touch()
            self.report("milvus-lite hides what it wrote before that: it is started again")
            await self.vectors.stop()
