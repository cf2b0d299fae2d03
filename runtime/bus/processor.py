"""The event processor between the log and a handler: decode, handle, publish the results,
acknowledge.

A message that may succeed later is delivered again with a growing delay. One that never can is
reported by a StageFailed event and stored raw in KB_DEAD. A batch that fails as a whole is handled
again one by one, so no message suffers for its neighbours.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog

from contracts.events import Event, RetryRequested, Stage
from contracts.graph import Generations
from contracts.topology import Consumer
from runtime.activity import Activity
from runtime.bus.attempts import Attempts
from runtime.bus.codec import decode
from runtime.bus.dead_letter_limit import LOOK_AGAIN, DeadLetterLimit, is_fault_of_code
from runtime.bus.failures import failure
from runtime.bus.parking.policy import OUTAGES, SAID_WAITS, ParkingPolicy
from runtime.bus.port import BUG_ATTEMPTS, Delivery, Events, Handler, LiveGenerations, Log, Message
from runtime.bus.results import Results
from runtime.bus.retried_message import RetriedMessage
from runtime.bus.retry_reasons import RetryReasons
from runtime.bus.retry_requests import failed_inputs, takes_retries
from runtime.concurrency.isolated import run_isolated
from runtime.errors import NewerVersion, Poison, Retryable, StagePaused
from runtime.metrics import instruments
from runtime.retries import Backoff
from runtime.semantic_conventions import DURABLE, OUTCOME
from runtime.telemetry import consumer_span, log_context

logger = structlog.get_logger(__name__)

REDELIVERY = Backoff(first=1.0, longest=30.0)
"""Until a message that failed is delivered again; a provider that asks for more with Retry-After
gets more.
"""

PAUSE_SPREAD = 1.0
"""Seconds within which messages come again when the pause of a provider ends; one of them asks
it.
"""

BATCH_ATTEMPTS = 5
"""Tries up to which a batch comes again as a whole when a store or provider does not answer. Each
message on its own would wait for the same time limit; but one whose own content is the trouble must
be found in the end.
"""


def each(handle: Callable[[Delivery[Any], Generations], Awaitable[Events]]) -> Handler:
    """Return a handler of batches that calls a handler of one event."""

    async def handle_each(
        batch: Sequence[Delivery[Any]], generations: Generations, /
    ) -> Sequence[Events]:
        return [await handle(delivery, generations) for delivery in batch]

    return handle_each


def _cause(error: Exception) -> str:
    """Return the cause to count a failure by: an outage, a version, or an unexpected error."""
    return (
        "newer"
        if isinstance(error, NewerVersion)
        else "retry"
        if isinstance(error, Retryable)
        else "bug"
    )


@dataclass
class EventProcessor:
    """Everything the process does around one handler. `now` is the clock of published events.

    `parking` decides which failing messages leave the durable's window; without it all of them come
    again in it.
    """

    stage: Stage
    durable: Consumer
    handle: Handler
    log: Log
    pointers: LiveGenerations
    delay: Callable[[int, float | None], float] = REDELIVERY.delay
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    parking: ParkingPolicy | None = None
    attempts: Attempts = field(default_factory=Attempts)
    reasons: RetryReasons = field(default_factory=RetryReasons)
    limit: DeadLetterLimit = field(default_factory=DeadLetterLimit)
    handled_count: int = 0
    busy: int = 0
    activity: Activity = field(default_factory=Activity)

    @property
    def _results(self) -> Results:
        return Results(self.stage, self.log, self.now, self.limit)

    async def process(self, messages: Sequence[Message]) -> None:
        """Bring these messages to an end: acknowledged, or to be delivered again."""
        if self.limit.pause:
            await self._hold(messages, self.limit.pause)
            return
        self.busy += 1
        try:
            async with self.heartbeats(messages):
                decoded_messages = [(message, await self._decode(message)) for message in messages]
                batch = [
                    (message, delivery)
                    for message, delivery in decoded_messages
                    if delivery is not None
                ]
                requests = [
                    item
                    for item in batch
                    if takes_retries(self.durable) and isinstance(item[1].event, RetryRequested)
                ]
                await self._handle_all([item for item in batch if item not in requests])
                for message, request in requests:
                    await self._retry(message, request)
        finally:
            self.busy -= 1
            self.handled_count += len(messages)

    async def _hold(self, messages: Sequence[Message], pause: StagePaused) -> None:
        for message in messages:
            self.reasons.failed(message.sequence, pause, LOOK_AGAIN)
            await message.nak(LOOK_AGAIN)

    async def _decode(self, message: Message) -> Delivery[Event] | None:
        try:
            envelope = decode(message.data, message.subject, message.headers)
        except NewerVersion as error:
            await self._retry_later(message, error)
            return None
        except Poison as error:
            await self._dead_letter(message, None, error)
            return None
        bugs = self.attempts.of(message.sequence).get("bug", 0)
        retry = message.retry if isinstance(message, RetriedMessage) else 0
        return Delivery(
            envelope, message.sequence, message.attempt, message.published_at, bugs, retry
        )

    async def _retry(self, message: Message, request: Delivery[Event]) -> None:
        """Handle again what of the request's document failed here; the request is done when all of
        it has an end.
        """
        try:
            inputs = await failed_inputs(self.log, self.stage, self.durable, message, request)
        except Retryable as error:
            await self._retry_later(message, error)
            return
        for input_message in inputs:
            if delivery := await self._decode(input_message):
                await self._handle_all([(input_message, input_message.narrowed(delivery))])
        if errors := [input_message.error for input_message in inputs if input_message.error]:
            await self._retry_later(message, errors[-1])
            return
        await self._done(message)

    async def _handle_all(self, batch: Sequence[tuple[Message, Delivery[Event]]]) -> None:
        if not batch:
            return
        deliveries = [delivery for _, delivery in batch]
        try:
            with (
                consumer_span(self.durable.name, [delivery.envelope for delivery in deliveries]),
                self.activity.track(deliveries),
                instruments.timed(instruments.handle, {DURABLE: self.durable.name}),
            ):
                # Apart: a driver that cancels the task it runs in would end the worker, and nobody
                # would notice (decision 6).
                results = await run_isolated(self.handle(deliveries, await self.pointers.live()))
                await self._results.publish(deliveries, results)
        except Exception as error:
            if len(batch) == 1:
                with log_context(batch[0][1].envelope):
                    await self._failed(*batch[0], error)
                return
            failed_before = self.attempts.of(batch[0][0].sequence).get(_cause(error), 0)
            if isinstance(error, OUTAGES) and failed_before + 1 < BATCH_ATTEMPTS:
                for message, _ in batch:
                    await self._retry_later(message, error)
                return
            # One by one: no event suffers for its neighbours (decision 6).
            for item in batch:
                await self._handle_all([item])
            return
        for message, _ in batch:
            await self._done(message)

    async def _done(self, message: Message) -> None:
        # After everything is published: a process that dies before this handles the event again,
        # and its events have the same ids (decisions 4 and 6).
        await message.ack()
        self._count("done")
        self._forget(message)
        if self.parking:
            self.parking.succeeded(message)

    async def _failed(self, message: Message, delivery: Delivery[Event], error: Exception) -> None:
        if isinstance(error, Retryable):
            await self._publish_what_is_true(delivery, error)
            await self._retry_later(message, error)
        elif isinstance(error, Poison) or self._is_given_up(message, error):
            await self._dead_letter(message, delivery, error)
        else:
            logger.error(
                "unexpected failure, will be tried again", durable=self.durable.name, exc_info=error
            )
            await self._retry_later(message, error)

    def _is_given_up(self, message: Message, error: Exception) -> bool:
        """Return whether an unexpected error has come as often as it may. Outages before it do not
        count.
        """
        if self.attempts.of(message.sequence).get(_cause(error), 0) + 1 < BUG_ATTEMPTS:
            return False
        logger.error("gave up after repeated failures", durable=self.durable.name, exc_info=error)
        return True

    async def _publish_what_is_true(self, delivery: Delivery[Event], error: Retryable) -> None:
        # What cannot be published now is published when the event has come again, under the same
        # id (decision 4).
        with suppress(Retryable):
            for event in error.events:
                await self.log.publish(self._results.wrap(delivery, event))

    async def _retry_later(self, message: Message, error: Exception) -> None:
        delay = self._delay_after(message, error)
        if isinstance(message, RetriedMessage):
            message.error = error  # its request comes again, or is parked
            return
        counts = self.attempts.of(message.sequence)
        if self.parking and await self.parking.takes(message, error, counts, delay):
            self._count("parked")
            self._forget(message)
            return
        self._count("again")
        self.reasons.failed(message.sequence, error, delay)
        logger.warning(
            "will be tried again",
            durable=self.durable.name,
            subject=message.subject,
            attempt=message.attempt,
            delay=round(delay, 1),
            error=f"{type(error).__name__}: {error}",
        )
        await message.nak(delay)

    def _delay_after(self, message: Message, error: Exception) -> float:
        """Count the failure, and return the seconds until the message is delivered again."""
        if isinstance(error, SAID_WAITS):
            # It was not tried. It comes when the pause ends, however often it has come for nothing
            # before (decision 15).
            wait: float = getattr(error, "retry_after", None) or 0.0
            return wait + random.uniform(0.1, PAUSE_SPREAD)  # noqa: S311
        tries = self.attempts.add(message.sequence, _cause(error))
        return self.delay(tries, getattr(error, "retry_after", None))

    async def _dead_letter(
        self, message: Message, delivery: Delivery[Event] | None, error: Exception
    ) -> None:
        reason = f"{type(error).__name__}: {error}"
        logger.error(
            "dead-lettered", durable=self.durable.name, subject=message.subject, reason=reason
        )
        try:
            await self.log.dead_letter(message, self.durable.name, reason)
            failure_event = failure(
                self.stage, self.durable.name, message, delivery, error, self.now()
            )
            if failure_event is not None:
                await self.log.publish(failure_event)
        except Retryable as silent:
            await self._retry_later(message, silent)
            return
        if is_fault_of_code(message, error, was_decoded=delivery is not None):
            self.limit.count(reason)
        await message.ack()
        self._count("dead")
        self._forget(message)
        if self.parking:
            self.parking.settled(message)

    def _count(self, outcome: str) -> None:
        instruments.events_handled.add(1, {DURABLE: self.durable.name, OUTCOME: outcome})

    def _forget(self, message: Message) -> None:
        self.attempts.forget(message.sequence)
        self.reasons.settled(message.sequence)

    @asynccontextmanager
    async def heartbeats(self, messages: Sequence[Message]) -> AsyncGenerator[None]:
        """Tell the server again and again that these messages are being worked on."""
        beating: list[asyncio.Task[None]] = []

        async def beat() -> None:
            while True:
                for message in messages:
                    # A lost heartbeat costs a second delivery, which every handler allows for.
                    with suppress(Exception):
                        await message.heartbeat()
                await asyncio.sleep(self.durable.ack_wait / 3)

        # Most batches end before the first one, and need no task for it.
        first = asyncio.get_running_loop().call_later(
            self.durable.ack_wait / 3, lambda: beating.append(asyncio.create_task(beat()))
        )
        try:
            yield
        finally:
            first.cancel()
            for task in beating:
                task.cancel()
                await asyncio.gather(
                    task, return_exceptions=True
                )  # alone, it would hide a cancellation
