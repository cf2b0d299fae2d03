"""Handle parked events again: each when it is due, or as soon as the code knows its version.

Every replica reads the list. Before an event is handled its record is claimed, by writing a later
time into it, which only one replica can do; a claim ends by itself when its replica dies. Of a
workspace whose last try failed, one event is tried at a time and the others wait for its result: an
outage costs one try and not one for each event.
"""

import asyncio
import heapq
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from runtime.bus.codec import knows
from runtime.bus.parking.policy import LEASE, ParkedMessage
from runtime.bus.parking.port import ParkedEvent, ParkedEvents, ParkedRecord
from runtime.bus.processor import EventProcessor
from runtime.clock import Waits

logger = structlog.get_logger(__name__)

PAUSE = 1.0
"""Seconds between two looks at the list while something is on it."""

QUIET_PAUSE = 30.0
"""The same while nothing is on it. What this process parks is looked at at once; what another one
parks is that one's to try, unless it ends.
"""

FIRST_HOLD = 1.0
LONGEST_HOLD = 15.0
"""Seconds until the next try of a workspace whose last one failed; doubled each time."""

ANEW = 600.0
"""Seconds after which the whole list is read again, for what was removed while this replica did not
look.
"""


@dataclass
class _Workspace:
    """The events of one workspace that may be tried: by time of the monotonic clock, sequence and
    revision.
    """

    queue: list[tuple[float, int, int]] = field(default_factory=list[tuple[float, int, int]])
    is_trusted: bool = False
    """Whether the last try succeeded."""
    trying: int = 0
    hold: float = 0.0
    held_until: float = 0.0


class ParkedReader:
    """Handles the parked events of one durable through its event processor, up to `slots` batches
    at once.
    """

    def __init__(self, edge: EventProcessor, parked_events: ParkedEvents, slots: int = 1) -> None:
        self._processor = edge
        self._parked = parked_events
        self._slots = slots
        self._entries: dict[int, ParkedRecord] = {}
        self._unknown: set[int] = set()
        self._workspaces: dict[str, _Workspace] = {}
        self._after = 0
        self._read_at = time.monotonic()
        self._waits = Waits()
        self._recoveries = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Go on for ever; a bus that does not answer is asked again."""
        try:
            while True:
                try:
                    await self.look()
                    await self.take()
                except Exception as error:
                    # Whatever happens here, ordinary delivery goes on; and so does this, after a
                    # while.
                    logger.warning(
                        "parked events wait",
                        durable=self._processor.durable.name,
                        error=repr(error),
                    )
                await self._rest()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def note(self) -> str | None:
        """Return a line for people: how many events are parked and why; None when none is."""
        counts = Counter(entry.event.reason for entry in self._entries.values() if entry.event)
        notes: list[str] = []
        if newer_count := counts["newer-version"] + len(self._unknown):
            notes.append(
                f"{newer_count} events of a version newer than this code are parked until it "
                "is upgraded"
            )
        if waiting := counts["over-budget"]:
            notes.append(f"{waiting} events wait until the budget of their workspace is raised")
        if waiting := counts["awaiting-batch"]:
            notes.append(f"{waiting} events wait for batches of the model's provider")
        if retried_count := counts["retried"]:
            notes.append(
                f"{retried_count} events that failed again and again are parked and tried now "
                "and then"
            )
        return "; ".join(notes) or None

    async def look(self) -> None:
        """Read what has changed on the list. Raises `Unavailable`."""
        if time.monotonic() - self._read_at > ANEW and not self._tasks:
            self._entries = {}
            self._unknown = set()
            self._workspaces = {}
            self._after = 0
            self._read_at = time.monotonic()
        while changes := await self._parked.changes(self._processor.durable.name, self._after):
            for entry in changes:
                self._after = max(self._after, entry.revision)
                self._note(entry)

    async def take(self) -> None:
        """Begin to handle what is due, the workspaces in turn, as far as there are slots."""
        now = time.monotonic()
        progress = True
        if (policy := self._processor.parking) and policy.recoveries > self._recoveries:
            self._recoveries = policy.recoveries
            self._hasten(now)
        while progress:
            progress = False
            for name, of_one in list(self._workspaces.items()):
                if len(self._tasks) < self._slots and (batch := self._due(of_one, now)):
                    of_one.trying += 1
                    task = asyncio.create_task(self._handle(of_one, batch))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                    progress = True
                if not (of_one.queue or of_one.trying):
                    del self._workspaces[name]

    def _hasten(self, now: float) -> None:
        """Let what failed be tried now: an outage is over, and each would wait as long as it had
        failed for it.
        """
        for of_one in self._workspaces.values():
            of_one.hold = of_one.held_until = 0.0
            of_one.queue = [(self._hastened(now, *place), *place[1:]) for place in of_one.queue]
            heapq.heapify(of_one.queue)

    def _hastened(self, now: float, due: float, sequence: int, revision: int) -> float:
        entry = self._entries.get(sequence)
        event = entry.event if entry is not None else None
        return now if event and event.reason == "retried" and not event.is_claimed else due

    def _note(self, entry: ParkedRecord) -> None:
        """Keep the newest record of an event; one whose version the code does not know is counted
        only.
        """
        self._entries.pop(entry.sequence, None)
        self._unknown.discard(entry.sequence)
        if (event := entry.event) is None:
            return
        is_newer = event.reason == "newer-version"
        if is_newer and not knows(event.event_type, event.version):
            self._unknown.add(entry.sequence)
            return
        self._entries[entry.sequence] = entry
        # Its time was set by code that did not know the version; a nearer one is another replica's
        # claim.
        seconds_left = self._waits.left(_place(entry), event.not_before, event.wait)
        due = 0.0 if is_newer and seconds_left > 2 * LEASE else time.monotonic() + seconds_left
        heapq.heappush(
            self._workspaces.setdefault(entry.workspace, _Workspace()).queue, (due, *_place(entry))
        )

    def _due(self, of_one: _Workspace, now: float) -> list[ParkedRecord]:
        """Return the events to try now: a batch where the last try succeeded, else one event."""
        if not of_one.is_trusted and (of_one.trying or of_one.held_until > now):
            return []
        max_records = self._processor.durable.batch if of_one.is_trusted else 1
        records: list[ParkedRecord] = []
        while of_one.queue and of_one.queue[0][0] <= now and len(records) < max_records:
            _, sequence, revision = heapq.heappop(of_one.queue)
            entry = self._entries.get(sequence)
            if entry is not None and entry.revision == revision:
                records.append(entry)
        return records

    async def _handle(self, of_one: _Workspace, batch: list[ParkedRecord]) -> None:
        has_succeeded = False
        try:
            if not (messages := await self._claimed(batch)):
                has_succeeded = of_one.is_trusted  # all are another replica's
                return
            await self._processor.process(messages)
            # Where a batch is waited for nothing is in trouble.
            has_succeeded = all(
                message.is_removed or message.event.reason == "awaiting-batch"
                for message in messages
            )
        except Exception as error:
            # What was claimed is tried again when the claim has ended.
            logger.warning(
                "parked events wait", durable=self._processor.durable.name, error=repr(error)
            )
        finally:
            of_one.trying -= 1
            of_one.is_trusted = has_succeeded
            of_one.hold = (
                0.0 if has_succeeded else min(LONGEST_HOLD, max(FIRST_HOLD, of_one.hold * 2))
            )
            of_one.held_until = time.monotonic() + of_one.hold

    async def _claimed(self, batch: list[ParkedRecord]) -> list[ParkedMessage]:
        """Claim these events; return those that this replica may handle now, with their messages in
        the log.
        """
        claims: dict[int, tuple[ParkedEvent, int]] = {}
        for entry in batch:
            assert entry.event is not None
            event = entry.event.claimed(LEASE)
            if revision := await self._parked.put(event, entry.revision):
                claims[entry.sequence] = event, revision
            elif self._entries.get(entry.sequence) is entry:
                del self._entries[
                    entry.sequence
                ]  # another replica has it, or had; the list will show it
        messages = await self._parked.originals([event for event, _ in claims.values()])
        originals = {message.sequence: message for message in messages}
        for sequence, (event, revision) in claims.items():
            if sequence not in originals:
                await self._parked.remove(event, revision)  # erased
            self._processor.attempts.restore(sequence, event.attempts)
        return [
            ParkedMessage(originals[sequence], event, revision, self._parked)
            for sequence, (event, revision) in claims.items()
            if sequence in originals
        ]

    async def _rest(self) -> None:
        """Wait until a slot is free again, something is parked, or some time has passed."""
        policy = self._processor.parking
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PAUSE, return_when=asyncio.FIRST_COMPLETED)
        elif self._entries or self._unknown or policy is None:
            await asyncio.sleep(PAUSE)
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(QUIET_PAUSE):
                    await policy.parked_signal.wait()
            policy.parked_signal.clear()


def _place(entry: ParkedRecord) -> tuple[int, int]:
    return entry.sequence, entry.revision
