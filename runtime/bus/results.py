"""Publishes the events that deliveries result in, many at once, each with an id derived from its
cause.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from contracts.envelope import Envelope, Lineage, wrap
from contracts.events import Event, Stage, StageFailed
from contracts.ids import again, event_id
from runtime.activity import note_progress
from runtime.bus.dead_letter_limit import DeadLetterLimit
from runtime.bus.port import Delivery, Events, Log
from runtime.telemetry import producer_span, traceparent_for

PUBLISHES_AT_ONCE = 64
"""Events of one batch that are being published at once."""


@dataclass(frozen=True)
class Results:
    """What a stage publishes. `now` is the clock of its events; `limit` counts chunks that a
    handler has given up.
    """

    stage: Stage
    log: Log
    now: Callable[[], datetime]
    limit: DeadLetterLimit

    async def publish(self, batch: Sequence[Delivery[Event]], results: Sequence[Events]) -> None:
        """Publish what each delivery of the batch results in. Raises what a generator of events and
        the log raise.
        """
        counts = [len(of_one) if isinstance(of_one, Sequence) else None for of_one in results]
        under_way: set[asyncio.Task[int]] = set()
        with producer_span(None if None in counts else sum(filter(None, counts))):
            try:
                async with aclosing(self._wrap_all(batch, results)) as envelopes:
                    async for envelope in envelopes:
                        note_progress()
                        under_way = await _wait_for_room(under_way)
                        under_way.add(asyncio.create_task(self.log.publish(envelope)))
                        self._note_fault(envelope.data)
                await asyncio.gather(*under_way)
            finally:
                for task in under_way:
                    task.cancel()
                await asyncio.gather(*under_way, return_exceptions=True)

    def _note_fault(self, event: Event) -> None:
        """Count a chunk that the handler itself has given up after unexpected errors."""
        if isinstance(event, StageFailed) and event.retry_may_help:
            self.limit.count(f"{event.error_type}: {event.message}")

    async def _wrap_all(
        self, batch: Sequence[Delivery[Event]], results: Sequence[Events]
    ) -> AsyncGenerator[Envelope[Event]]:
        for delivery, of_one in zip(batch, results, strict=True):
            if isinstance(of_one, Sequence):
                for event in of_one:
                    yield self.wrap(delivery, event)
                continue
            async with aclosing(of_one):
                async for event in of_one:
                    yield self.wrap(delivery, event)

    def wrap(self, delivery: Delivery[Event], event: Event) -> Envelope[Event]:
        """Return the event in its envelope: its id derives from its cause, and its lineage goes
        on.
        """
        cause = delivery.envelope
        # An id of a foreign publisher is unique with its source only, and the log's window has one
        # for all (decision 113).
        origin = f"{cause.workspace}/{cause.data.aggregate_id}/{cause.source}/{cause.id}"
        return wrap(
            event,
            id=event_id(again(origin, delivery.retry), event.type_name(), event.ordinal),
            source=f"lightstream/{self.stage}",
            workspace=cause.workspace,
            time=self.now(),
            lineage=Lineage(cause.id, cause.correlation, traceparent_for(cause.traceparent)),
        )


async def _wait_for_room(under_way: set[asyncio.Task[int]]) -> set[asyncio.Task[int]]:
    """Wait until fewer than a window of tasks run, and return those. Raises the error of a finished
    one.
    """
    if len(under_way) >= PUBLISHES_AT_ONCE:
        await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
    for task in under_way:
        if task.done():
            task.result()
    return {task for task in under_way if not task.done()}
