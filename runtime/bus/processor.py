"""The event processor between the log and a handler: decode, handle, publish the results, acknowledge.

A message that may succeed later is delivered again with a growing delay. One that never can is reported by a
StageFailed event and stored raw in KB_DEAD. A batch that fails as a whole is handled again one by one, so no message
suffers for its neighbours.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog

from contracts.envelope import Envelope, Lineage, wrap
from contracts.events import Event, RetryRequested, Stage
from contracts.graph import Generations
from contracts.ids import again, event_id
from contracts.topology import Consumer
from runtime.activity import Activity, note_progress
from runtime.bus.attempts import Attempts
from runtime.bus.codec import decode
from runtime.bus.failures import failure
from runtime.bus.parking.policy import ParkingPolicy
from runtime.bus.port import BUG_ATTEMPTS, ActiveGenerations, Delivery, Events, Handler, Log, Message
from runtime.bus.retried_message import RetriedMessage
from runtime.bus.retry_reasons import RetryReasons
from runtime.bus.retry_requests import failed_inputs, takes_retries
from runtime.concurrency.isolated import run_isolated
from runtime.errors import NewerVersion, Poison, RateLimited, Retryable, Unavailable
from runtime.retries import Backoff
from runtime.telemetry import consumer_span, log_context, producer_span, traceparent_for

logger = structlog.get_logger(__name__)

REDELIVERY = Backoff(first=1.0, longest=30.0)
"""Until a message that failed is delivered again; a provider that asks for more with Retry-After gets more."""

BATCH_ATTEMPTS = 5
"""Tries up to which a batch comes again as a whole when a store or provider does not answer. Each message on its
own would wait for the same time limit; but one whose own content is the trouble must be found in the end."""


def each(handle: Callable[[Delivery[Any], Generations], Awaitable[Events]]) -> Handler:
    """Return a handler of batches that calls a handler of one event."""

    async def handle_each(batch: Sequence[Delivery[Any]], generations: Generations, /) -> Sequence[Events]:
        return [await handle(delivery, generations) for delivery in batch]

    return handle_each


PUBLISHES_AT_ONCE = 64
"""Events of one batch that are being published at once."""
OUTAGES = (Unavailable, RateLimited)
"""Errors that every message of a batch would meet."""


def _cause(error: Exception) -> str:
    """Return the cause to count a failure by: an outage, a version, or an unexpected error."""
    return "newer" if isinstance(error, NewerVersion) else "retry" if isinstance(error, Retryable) else "bug"


@dataclass
class EventProcessor:
    """Everything the process does around one handler. `now` is the clock of published events.

    `parking` decides which failing messages leave the durable's window; without it all of them come again in it.
    """

    stage: Stage
    durable: Consumer
    handle: Handler
    log: Log
    pointers: ActiveGenerations
    delay: Callable[[int, float | None], float] = REDELIVERY.delay
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    parking: ParkingPolicy | None = None
    attempts: Attempts = field(default_factory=Attempts)
    reasons: RetryReasons = field(default_factory=RetryReasons)
    handled: int = 0
    busy: int = 0
    activity: Activity = field(default_factory=Activity)

    async def process(self, messages: Sequence[Message]) -> None:
        """Bring these messages to an end: acknowledged, or to be delivered again."""
        self.busy += 1
        try:
            async with self._heartbeats(messages):
                decoded = [(message, await self._decode(message)) for message in messages]
                batch = [(message, delivery) for message, delivery in decoded if delivery is not None]
                requests = [one for one in batch if takes_retries(self.durable) and one[1].is_of(RetryRequested)]
                await self._handle_all([one for one in batch if one not in requests])
                for message, request in requests:
                    await self._retry(message, request)
        finally:
            self.busy -= 1
            self.handled += len(messages)

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
        return Delivery(envelope, message.sequence, message.attempt, message.published_at, bugs, retry)

    async def _retry(self, message: Message, request: Delivery[Event]) -> None:
        """Handle again what of the request's document failed here; the request is done when all of it has an end."""
        try:
            inputs = await failed_inputs(self.log, self.stage, self.durable, message, request)
        except Retryable as error:
            await self._retry_later(message, error)
            return
        for each in inputs:
            if delivery := await self._decode(each):
                await self._handle_all([(each, each.narrowed(delivery))])
        if errors := [each.error for each in inputs if each.error]:
            await self._retry_later(message, errors[-1])
            return
        await self._done(message)

    async def _handle_all(self, batch: Sequence[tuple[Message, Delivery[Event]]]) -> None:
        if not batch:
            return
        try:
            with (
                consumer_span(self.durable.name, [d.envelope for _, d in batch]),
                self.activity.track([d for _, d in batch]),
            ):
                # Apart: a driver that cancels the task it runs in would end the worker, and nobody would notice.
                facts = await run_isolated(self.handle([delivery for _, delivery in batch], await self.pointers.live()))
                await self._publish(batch, facts)
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
            for one in batch:
                await self._handle_all([one])
            return
        for message, _ in batch:
            await self._done(message)

    async def _done(self, message: Message) -> None:
        await message.ack()
        self._forget(message)
        if self.parking:
            self.parking.succeeded(message)

    async def _publish(self, batch: Sequence[tuple[Message, Delivery[Event]]], facts: Sequence[Events]) -> None:
        counts = [len(of_one) if isinstance(of_one, Sequence) else None for of_one in facts]
        under_way: set[asyncio.Task[int]] = set()
        with producer_span(None if None in counts else sum(filter(None, counts))):
            try:
                async with aclosing(self._wrap_all(batch, facts)) as envelopes:
                    async for envelope in envelopes:
                        note_progress()
                        under_way = await _wait_for_room(under_way)
                        under_way.add(asyncio.create_task(self.log.publish(envelope)))
                await asyncio.gather(*under_way)
            finally:
                for task in under_way:
                    task.cancel()
                await asyncio.gather(*under_way, return_exceptions=True)

    async def _wrap_all(
        self, batch: Sequence[tuple[Message, Delivery[Event]]], facts: Sequence[Events]
    ) -> AsyncGenerator[Envelope[Event]]:
        for (_, delivery), of_one in zip(batch, facts, strict=True):
            if isinstance(of_one, Sequence):
                for fact in of_one:
                    yield self._wrap(delivery, fact)
                continue
            async with aclosing(of_one):
                async for fact in of_one:
                    yield self._wrap(delivery, fact)

    def _wrap(self, delivery: Delivery[Event], fact: Event) -> Envelope[Event]:
        cause = delivery.envelope
        # An id of a foreign publisher is unique with its source only, and the log's window has one for all.
        origin = f"{cause.workspace}/{cause.data.aggregate_id}/{cause.source}/{cause.id}"
        return wrap(
            fact,
            id=event_id(again(origin, delivery.retry), fact.type_name(), fact.ordinal),
            source=f"lightstream/{self.stage}",
            workspace=cause.workspace,
            time=self.now(),
            lineage=Lineage(cause.id, cause.correlation, traceparent_for(cause.traceparent)),
        )

    async def _failed(self, message: Message, delivery: Delivery[Event], error: Exception) -> None:
        if isinstance(error, Retryable):
            await self._publish_what_is_true(delivery, error)
            await self._retry_later(message, error)
        elif isinstance(error, Poison) or self._is_given_up(message, error):
            await self._dead_letter(message, delivery, error)
        else:
            logger.error("unexpected failure, will be tried again", durable=self.durable.name, exc_info=error)
            await self._retry_later(message, error)

    def _is_given_up(self, message: Message, error: Exception) -> bool:
        """Return whether an unexpected error has come as often as it may. Outages before it do not count."""
        if self.attempts.of(message.sequence).get(_cause(error), 0) + 1 < BUG_ATTEMPTS:
            return False
        logger.error("gave up after repeated failures", durable=self.durable.name, exc_info=error)
        return True

    async def _publish_what_is_true(self, delivery: Delivery[Event], error: Retryable) -> None:
        # What cannot be published now is published when the event has come again.
        with suppress(Retryable):
            for fact in error.facts:
                await self.log.publish(self._wrap(delivery, fact))

    async def _retry_later(self, message: Message, error: Exception) -> None:
        tries = self.attempts.add(message.sequence, _cause(error))
        if isinstance(message, RetriedMessage):
            message.error = error  # its request comes again, or is parked
            return
        delay = self.delay(tries, getattr(error, "retry_after", None))
        counts = self.attempts.of(message.sequence)
        if self.parking and await self.parking.takes(message, error, counts, delay):
            self._forget(message)
            return
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

    async def _dead_letter(self, message: Message, delivery: Delivery[Event] | None, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        logger.error("dead-lettered", durable=self.durable.name, subject=message.subject, reason=reason)
        try:
            await self.log.dead_letter(message, self.durable.name, reason)
            fact = failure(self.stage, self.durable.name, message, delivery, error, self.now())
            if fact is not None:
                await self.log.publish(fact)
        except Retryable as silent:
            await self._retry_later(message, silent)
            return
        await message.ack()
        self._forget(message)
        if self.parking:
            self.parking.settled(message)

    def _forget(self, message: Message) -> None:
        self.attempts.forget(message.sequence)
        self.reasons.settled(message.sequence)

    @asynccontextmanager
    async def _heartbeats(self, messages: Sequence[Message]) -> AsyncGenerator[None]:
        async def beat() -> None:
            while True:
                await asyncio.sleep(self.durable.ack_wait / 3)
                for message in messages:
                    # A lost heartbeat costs a second delivery, which every handler allows for.
                    with suppress(Exception):
                        await message.heartbeat()

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)  # awaited alone, it would hide a cancellation of ours


async def _wait_for_room(under_way: set[asyncio.Task[int]]) -> set[asyncio.Task[int]]:
    """Wait until fewer than a window of tasks run, and return those. Raises the error of a finished one."""
    if len(under_way) >= PUBLISHES_AT_ONCE:
        await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
    for task in under_way:
        if task.done():
            task.result()
    return {task for task in under_way if not task.done()}
