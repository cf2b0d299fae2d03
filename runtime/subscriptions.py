"""Subscriptions of a service: deliveries go through its event processor, and what it parks comes back to it."""

from dataclasses import dataclass

from nats.aio.client import Client
from nats.js import JetStreamContext

from contracts.events import Stage
from contracts.topology import declared_consumer
from runtime.bus.fairness.scheduler import FairScheduler
from runtime.bus.nats.lookahead import Lookahead
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.nats.pull import PullConsumer
from runtime.bus.parking.policy import ParkingPolicy
from runtime.bus.parking.reader import ParkedReader
from runtime.bus.port import ActiveGenerations, Handler, Log, SharedValues
from runtime.bus.processor import EventProcessor
from runtime.bus.retry_reasons import RetryReasons


@dataclass(frozen=True)
class Subscription:
    """A handler on a durable of `contracts/topology.py`; `workers` messages (or batches) at a time."""

    durable: str
    handle: Handler
    workers: int = 1


@dataclass(frozen=True)
class Connection:
    """What subscriptions need of the bus."""

    log: Log
    pointers: ActiveGenerations
    client: Client
    jetstream: JetStreamContext
    turns: SharedValues
    api_prefix: str


@dataclass(frozen=True)
class Subscribed:
    """One subscription's event processor, its deliveries, and what runs beside them: fair turns, and parked events."""

    processor: EventProcessor
    consumer: PullConsumer
    scheduler: FairScheduler
    parked: ParkedReader


def subscribe(subscription: Subscription, stage: Stage, bus: Connection) -> Subscribed:
    """Make the parts of one subscription; nothing is delivered before its consumer is started."""
    declared, parked = declared_consumer(subscription.durable), NatsParkedEvents(bus.jetstream)
    parking, reasons = ParkingPolicy(declared, parked), RetryReasons(public=stage == "query")
    processor = EventProcessor(
        stage, declared, subscription.handle, bus.log, bus.pointers, parking=parking, reasons=reasons
    )
    look = Lookahead(bus.jetstream, declared.stream, declared.filters)
    scheduler = FairScheduler(processor, look, bus.turns, subscription.workers)
    consumer = PullConsumer(
        bus.client, declared, scheduler.process, workers=subscription.workers, prefix=bus.api_prefix
    )
    return Subscribed(processor, consumer, scheduler, ParkedReader(processor, parked, slots=subscription.workers))
