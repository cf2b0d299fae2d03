"""Whether this process may write to the log, and whether its writes are confirmed."""

import asyncio
import time
from dataclasses import dataclass, field

from contracts.partitions import is_log
from runtime.errors import LogDamaged, Unavailable


@dataclass
class WriteStatus:
    """Shared by the log and its watcher. Initially every write is allowed.

    `refusal` is the reason why none is, empty when they are. `ends` has the ends of the log's
    streams at the last look, `highest` the greatest sequences that were ever seen or confirmed, by
    stream.
    `unconfirmed_writes` holds, for each stream whose last write had no answer, since when.
    `is_watched` is False while nobody looks at the log.
    """

    refusal: str = ""
    ends: dict[str, int] = field(default_factory=dict[str, int])
    highest: dict[str, int] = field(default_factory=dict[str, int])
    is_watched: bool = False
    absences: int = 0
    """How often the connection to the bus was lost."""
    log_check: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the log was checked since the connection was last lost."""
    recovery: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the connection is back: the log is to be checked at once."""
    unconfirmed_writes: dict[str, float] = field(default_factory=dict[str, float])

    async def disconnected(self) -> None:
        """Note that the connection was lost: nothing is written until the log was checked again."""
        self.absences += 1
        self.log_check.clear()

    async def reconnected(self) -> None:
        """Note that the connection is back."""
        self.recovery.set()

    async def allow(self, stream: str, seconds: float) -> None:
        """Return when a write may go out, after at most `seconds`.

        Raises `LogDamaged` when the log has lost messages, `Unavailable` when nobody could look at
        it in time: after a restart of the server it may be shorter than before, and a write would
        take a sequence that was taken already.
        """
        if not is_log(stream) or not self.is_watched:
            return
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self.log_check.wait()
        except TimeoutError:
            raise Unavailable(
                f"{stream} could not be checked since the bus was away; try again"
            ) from None
        self.require()

    def require(self) -> None:
        """Raises `LogDamaged` when the log has lost messages."""
        if self.refusal:
            raise LogDamaged(self.refusal)

    def confirmed(self, stream: str) -> None:
        """Note that the stream has confirmed a write."""
        self.unconfirmed_writes.pop(stream, None)

    def silent(self, stream: str) -> None:
        """Note that a write to the stream had no answer."""
        self.unconfirmed_writes.setdefault(stream, time.monotonic())

    def seen(self, stream: str) -> int:
        """Return where a stream of the log ended at the last look; 0 before one."""
        return self.ends.get(stream, 0)

    def reached(self, stream: str) -> int:
        """Return the greatest sequence of a stream that was ever seen or confirmed; 0 for none."""
        return self.highest.get(stream, 0)

    def looked(self, stream: str, end: int) -> None:
        """Note where a stream of the log ends."""
        self.ends[stream] = end
        self.highest[stream] = max(self.reached(stream), end)

    def appended(self, stream: str, sequence: int, before: int) -> None:
        """Note that an event was written at `sequence`; before it was sent, the stream had been
        seen to reach `before`.

        Raises `LogDamaged` when that sequence was taken before.
        """
        self.highest[stream] = max(self.reached(stream), sequence)
        if self.is_watched and sequence <= before:
            self.refusal = (
                f"an event was written at sequence {sequence}, but the log had reached {before}"
            )
            raise LogDamaged(self.refusal)

    async def problem(self) -> str | None:
        """Return why writes are not confirmed, for a health page."""
        now = time.monotonic()
        silent = [
            f"{name} has confirmed nothing for {now - since:.0f} s"
            for name, since in self.unconfirmed_writes.items()
        ]
        return (
            f"{'; '.join(silent)}: make room on the bus's disk, then start the bus again"
            if silent
            else None
        )
