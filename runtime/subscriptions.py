"""Subscriptions of a service: deliveries go through its event processor, and what it parks comes
back to it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, cast

from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PullSub
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from contracts.events import Stage
from contracts.registry import service_of
from contracts.topology import Consumer, declared_consumer
from runtime.bus.attempts import Pace
from runtime.bus.dead_letter_limit import DeadLetterLimit
from runtime.bus.fairness.scheduler import FairScheduler
from runtime.bus.fairness.workers import Workers
from runtime.bus.nats.log_streams import ONE_STREAM, LogStreams
from runtime.bus.nats.lookahead import Lookahead
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.nats.placing import Process, without_misplaced
from runtime.bus.parking.policy import ParkingPolicy
from runtime.bus.parking.reader import ParkedReader
from runtime.bus.port import Handler, LiveGenerations, Log, SharedValues
from runtime.bus.processor import EventProcessor
from runtime.bus.retry_reasons import RetryReasons

FETCH_SECONDS = 10.0
"""Seconds that a fetch waits for a first message; it ends with all that are there then.

A quiet consumer costs the bus one request in that time.
"""

BATCHES_AT_ONCE = 16.0
"""Batches that a subscriber takes before its consumer's `batches_per_second` counts: those of
a few documents are fewer, and wait for nothing.
"""


@dataclass(frozen=True)
class Subscription:
    """A handler on a durable of `contracts/topology.py`; `workers` messages (or batches) at a
    time.
    """

    durable: str
    handle: Handler
    workers: int = 1


@dataclass(frozen=True)
class Connection:
    """What subscriptions need of the bus."""

    log: Log
    pointers: LiveGenerations
    jetstream: JetStreamContext
    claims: SharedValues
    streams: LogStreams = ONE_STREAM
    dead_letter_limit: int = 0


@dataclass(frozen=True)
class Subscribed:
    """One subscription's event processor, and what runs beside ordinary delivery: fair turns in
    each partition of the log, and parked events.
    """

    processor: EventProcessor
    schedulers: Sequence[FairScheduler]
    parked: ParkedReader

    @property
    def background(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """Return what runs beside ordinary delivery, for as long as the service does."""
        return [self.parked.run, *(scheduler.run for scheduler in self.schedulers)]


def subscribe(broker: NatsBroker, subscription: Subscription, bus: Connection) -> Subscribed:
    """Add the subscribers of one subscription to a broker that is not started yet."""
    consumer = declared_consumer(subscription.durable)
    parked_events = NatsParkedEvents(bus.jetstream)
    stage = cast(Stage, service_of(consumer))
    parking = ParkingPolicy(consumer, parked_events)
    reasons = RetryReasons(public=stage == "query")
    processor = EventProcessor(
        stage,
        consumer,
        subscription.handle,
        bus.log,
        bus.pointers,
        parking=parking,
        reasons=reasons,
        limit=DeadLetterLimit(bus.dead_letter_limit),
    )
    workers = Workers(subscription.workers)
    schedulers: list[FairScheduler] = []
    for in_partition in consumer.in_partitions(bus.streams.count):
        lookahead = Lookahead(bus.jetstream, in_partition.stream, consumer.filters)
        scheduler = FairScheduler(processor, lookahead, bus.claims, workers)
        process: Process = scheduler.process
        if bus.streams.count > 1:
            process = without_misplaced(bus.jetstream, process)
        pull(broker, in_partition, process, workers=workers.count)
        schedulers.append(scheduler)
    return Subscribed(
        processor, schedulers, ParkedReader(processor, parked_events, slots=workers.count)
    )


def pull(broker: NatsBroker, consumer: Consumer, process: Process, *, workers: int = 1) -> None:
    """Let `process` take what the consumer delivers: `workers` batches at a time, each of at most
    one fetch.
    """

    async def raw(message: Any) -> Any:
        # Decoding is the processor's work: one undecodable body must never keep its neighbours from
        # being handled.
        return message.raw_message

    for _ in range(workers):
        # One fetch in flight per subscriber: `max_workers` would prefetch, and prefetched messages
        # time out.
        broker.subscriber(
            consumer.filters[0],
            stream=JStream(consumer.stream, declare=False),
            durable=consumer.name,
            pull_sub=PullSub(consumer.batch, FETCH_SECONDS),
            ack_policy=AckPolicy.MANUAL,
            decoder=raw,
        )(_gather_fetch(process, consumer))


def _gather_fetch(process: Process, consumer: Consumer) -> Callable[[Msg], Awaitable[None]]:
    """Messages of one fetch, which FastStream hands over side by side, as one batch again.

    Each subscriber has one of its own: messages of two fetches in one batch would be handled by one
    worker. FastStream's own batch mode keeps a lone message until the fetch's time is up (decision
    20). Here nothing is collected across fetches.
    """
    pending: list[Msg] = []
    pace = Pace(consumer.batches_per_second, BATCHES_AT_ONCE)

    async def consume(message: Msg) -> None:
        pending.append(message)
        await asyncio.sleep(
            0
        )  # let the others of this fetch arrive; the first to go on takes them all
        if pending:
            batch = [NatsMessage(raw) for raw in pending]
            pending.clear()
            await process(batch)
            if len(batch) < consumer.batch:
                await asyncio.sleep(pace.count())  # the next fetch begins when this one is done

    return consume
