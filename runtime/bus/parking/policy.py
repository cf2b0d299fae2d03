"""Which failing messages are parked: those of a newer version, and those that would take the window
from others.

A message that fails goes back into its durable's window and comes again. Each workspace may have a
share of the window for that; what is more is parked, and so is what has failed often. While nothing
at all succeeds the trouble is likely everybody's: then only a few a second are parked, for a full
window costs nothing and moving a whole backlog would.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from contracts import subjects
from contracts.topology import Consumer
from runtime.bus.attempts import Pace, WindowShare
from runtime.bus.codec import header_of
from runtime.bus.parking.port import ParkedEvent, ParkedEvents, Reason
from runtime.bus.port import Message
from runtime.bus.stored_original import StoredOriginal
from runtime.errors import (
    AwaitingBatch,
    BudgetSpent,
    NewerVersion,
    Poison,
    ProviderPaused,
    RateLimited,
    Retryable,
    Unavailable,
)
from runtime.retries import Backoff

logger = structlog.get_logger(__name__)

RETRIES = 8
"""Failures after which a message is parked: it has then been in the window for about two
minutes.
"""

RETRY = Backoff(first=1.0, longest=120.0)
"""Between two tries of a parked event: in a quiet stack nothing else may show that an outage is
over.
"""

UNKNOWN = 3600.0
"""Seconds until an event of a newer version is tried again by code that does not know it: nothing
is expected of it.
"""

SUCCESS = 30.0
"""Seconds for which a success proves that the trouble of others is their own."""

OUTAGE = 3.0
"""Seconds without a success, while messages fail, after which a success shows that an outage is
over.
"""

PER_SECOND = 8.0
"""Messages parked a second while nothing succeeds."""

OVER_BUDGET = 10.0
"""Seconds until an event that the budget does not allow is tried again: asking costs one read of
it.
"""

OUTAGES = (Unavailable, RateLimited)
"""Errors that end for all events together."""

LEASE = 30.0
"""Seconds for which a replica has a parked event to itself; renewed while it works on it."""

SAID_WAITS = (ProviderPaused, AwaitingBatch)
"""Errors that say when the next try is due, however often there was one before."""

WAITS: Mapping[Reason, float] = {"newer-version": UNKNOWN, "over-budget": OVER_BUDGET}
"""Seconds until the next try, by reason; for other reasons they grow."""


@dataclass
class ParkedMessage(StoredOriginal):
    """A parked event as the event processor handles it: ack and nak update its record on the
    list.
    """

    event: ParkedEvent
    revision: int
    parked_events: ParkedEvents
    is_removed: bool = False
    """Whether it was handled, and this replica has taken it off the list."""
    claimed_at: float = field(default_factory=time.monotonic)
    """Time of the monotonic clock at which the record was written last."""

    @property
    def attempt(self) -> int:
        return 1 + sum(self.event.attempts.values())

    async def ack(self) -> None:
        self.is_removed = await self.parked_events.remove(self.event, self.revision)

    async def nak(self, delay: float) -> None:
        await self.again(self.event, delay)

    async def heartbeat(self) -> None:
        if time.monotonic() - self.claimed_at > LEASE / 3:
            await self._write(self.event.claimed(LEASE))

    async def again(self, event: ParkedEvent, delay: float) -> bool:
        """Write the record, due in `delay` s. False when another replica has taken the event
        meanwhile.
        """
        return await self._write(event.due_in(delay))

    async def _write(self, event: ParkedEvent) -> bool:
        now = time.monotonic()
        if revision := await self.parked_events.put(event, self.revision):
            self.event = event
            self.revision = revision
            self.claimed_at = now
        return bool(revision)


@dataclass
class ParkingPolicy:
    """The decision for one durable, and the counts that it rests on."""

    durable: Consumer
    parked_events: ParkedEvents
    clock: Callable[[], float] = time.time
    pace: Pace = field(default_factory=lambda: Pace(PER_SECOND, PER_SECOND))

    def __post_init__(self) -> None:
        self._window = WindowShare(self.durable.max_ack_pending)
        self._succeeded = -SUCCESS
        self._failing = False
        self._began = time.monotonic()
        self.recoveries = 0
        """How often messages were handled again after a time in which none was, while some
        failed.
        """
        self.parked_signal = asyncio.Event()
        """Set when this process puts an event on the list."""

    def succeeded(self, message: Message) -> None:
        """Note that the message was handled."""
        now = time.monotonic()
        self.recoveries += self._failing and now - max(self._succeeded, self._began) >= OUTAGE
        self._succeeded = now
        self._failing = False
        self.settled(message)

    def settled(self, message: Message) -> None:
        """Note that the message has come to an end, handled or not."""
        self._window.settled(subjects.workspace_token(message.subject), message.sequence)

    async def takes(
        self, message: Message, error: Exception, attempts: Mapping[str, int], delay: float
    ) -> bool:
        """Park this failed message if it must be; return False if it goes back into the window for
        `delay` s.
        """
        reason = self._reason(message, error, attempts)
        # An error for several of a handler has the one of them as its cause.
        self._failing = (
            self._failing or isinstance(error, OUTAGES) or isinstance(error.__cause__, OUTAGES)
        )
        if reason is None:
            self._window.refused(subjects.workspace_token(message.subject), message.sequence, delay)
            return False
        try:
            event = self._record(message, error, reason, attempts, delay)
            if isinstance(message, ParkedMessage):
                await message.again(event, event.wait)
            else:
                await self.parked_events.put(
                    event
                )  # where a record stands already, that one goes on
                self.parked_signal.set()
                await message.ack()
        except Retryable as silent:
            logger.warning(
                "cannot be parked",
                durable=self.durable.name,
                sequence=message.sequence,
                error=str(silent),
            )
            return False
        self.settled(message)
        # A batch is waited for by thousands, for hours, and as somebody has wished.
        log = logger.debug if reason == "awaiting-batch" else logger.warning
        log(
            "parked",
            durable=self.durable.name,
            subject=message.subject,
            sequence=message.sequence,
            reason=reason,
            error=event.error,
        )
        return True

    def _reason(
        self, message: Message, error: Exception, attempts: Mapping[str, int]
    ) -> Reason | None:
        if isinstance(error, NewerVersion):
            return "newer-version"
        if isinstance(error, BudgetSpent):
            return "over-budget"
        if isinstance(error, AwaitingBatch):
            return "awaiting-batch"
        if isinstance(message, ParkedMessage):
            return "retried"
        workspace = subjects.workspace_token(message.subject)
        if sum(attempts.values()) <= RETRIES and not self._window.exceeded(
            workspace, message.sequence
        ):
            return None
        others_succeed = time.monotonic() - self._succeeded < SUCCESS
        return "retried" if others_succeed or self.pace.allows() else None

    def _record(
        self,
        message: Message,
        error: Exception,
        reason: Reason,
        attempts: Mapping[str, int],
        delay: float,
    ) -> ParkedEvent:
        before = message.event if isinstance(message, ParkedMessage) else None
        tries = sum(attempts.values())
        now = self.clock()
        wait = (
            delay if isinstance(error, SAID_WAITS) else WAITS.get(reason, RETRY.delay(tries, delay))
        )
        workspace, document, event_type = _names(message)
        return ParkedEvent(
            durable=self.durable.name,
            sequence=message.sequence,
            subject=message.subject,
            reason=reason,
            event_type=event_type,
            version=error.version if isinstance(error, NewerVersion) else 0,
            workspace=workspace,
            document=document,
            error=f"{type(error).__name__}: {error}"[:500],
            attempts=dict(attempts),
            parked_at=before.parked_at if before else now,
            not_before=now + wait,
            wait=wait,
        )


def _names(message: Message) -> tuple[str, str, str]:
    """Return workspace, document and type; the first two in full where the event's attributes can
    be read.
    """
    workspace, document, event_type = subjects.split(message.subject)
    try:
        header, _ = header_of(message.data, message.headers)
    except Poison:
        return workspace, document, event_type
    name = (
        header.subject
        if header.subject and subjects.token(header.subject) == document
        else document
    )
    return header.workspace, name, event_type
