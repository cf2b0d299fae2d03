"""The traps of consuming, shown on the pinned library and server: an upgrade that changes one is
noticed.

What guards us against them: test_traps_guards.py.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio
from faststream import AckPolicy
from faststream.exceptions import NackMessage
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from nats.js import JetStreamContext, api
from nats.js.api import ConsumerConfig, ConsumerInfo, StreamConfig

from tests.support.nats_server import BusServer, connected, until

pytestmark = pytest.mark.trap

LOG = JStream("LOG", declare=False)


@pytest_asyncio.fixture
async def jetstream(server: BusServer) -> AsyncIterator[JetStreamContext]:
    async with connected(server) as client:
        context = client.jetstream(timeout=5)
        await context.add_stream(StreamConfig(name="LOG", subjects=["log.>"]))
        yield context


@pytest_asyncio.fixture
async def broker(server: BusServer) -> AsyncIterator[NatsBroker]:
    """Not started: a test adds its subscribers first."""
    broker = NatsBroker(server.url, logger=None, graceful_timeout=0.1)
    yield broker
    await broker.stop()


async def reader(jetstream: JetStreamContext, **settings: Any) -> None:
    """The consumer that most tests read by."""
    config = ConsumerConfig(
        durable_name="reader", filter_subject="log.a", ack_policy=api.AckPolicy.EXPLICIT
    )
    await jetstream.add_consumer("LOG", config.evolve(**settings))


async def publish(jetstream: JetStreamContext, count: int = 1, body: bytes = b"event") -> None:
    for _ in range(count):
        await jetstream.publish("log.a", body)


async def info(jetstream: JetStreamContext) -> ConsumerInfo:
    return await jetstream.consumer_info("LOG", "reader")


async def until_settled(jetstream: JetStreamContext) -> ConsumerInfo:
    """Wait until the consumer has nothing left to deliver and nothing unacknowledged."""

    async def settled() -> bool:
        now = await info(jetstream)
        return not now.num_pending and not now.num_ack_pending and now.delivered.consumer_seq > 0

    await until(settled, "every message acknowledged")
    return await info(jetstream)


@dataclass
class BlockedHandlers:
    """Handlers that wait until they are let go."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    running: int = 0
    most: int = 0

    async def work(self) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        await self.go.wait()
        self.running -= 1


async def test_an_error_drops_the_message_by_default(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T2: the default policy terminates the message at the first error. Rule: acknowledge by
    hand.
    """
    await reader(jetstream)
    calls: list[bytes] = []

    @broker.subscriber("log.a", stream=LOG, durable="reader", pull_sub=PullSub())
    async def handle(body: bytes) -> None:
        calls.append(body)
        raise RuntimeError

    await broker.start()
    await publish(jetstream, body=b"event")
    durable = await until_settled(jetstream)
    assert (calls, durable.ack_floor.stream_seq) == ([b"event"], 1)


async def deliveries_until(
    broker: NatsBroker, count: int, error: type[Exception] | Exception
) -> list[float]:
    """Times of the first `count` deliveries to a handler that raises."""
    times: list[float] = []
    enough = asyncio.Event()

    @broker.subscriber(
        "log.a",
        stream=LOG,
        durable="reader",
        pull_sub=PullSub(),
        ack_policy=AckPolicy.NACK_ON_ERROR,
    )
    async def handle(body: bytes) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) >= count:
            enough.set()
            return
        raise error

    await broker.start()
    await asyncio.wait_for(enough.wait(), 10)
    return times


async def test_a_bare_nak_delivers_again_at_once_whatever_backoff_says(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T3: `backoff` serves expired messages only; a failing message spins. Rule: nak with a
    delay.
    """
    await reader(jetstream, backoff=[2.0, 4.0, 8.0], max_deliver=10)
    await publish(jetstream)
    times = await deliveries_until(broker, 4, RuntimeError())
    assert times[-1] - times[0] < 2.0


async def test_a_nak_with_a_delay_is_delivered_after_it(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T3, the rule."""
    await reader(jetstream)
    await publish(jetstream)
    times = await deliveries_until(broker, 3, NackMessage(delay=0.3))
    assert all(later - earlier >= 0.28 for earlier, later in pairwise(times))


async def test_a_publisher_without_a_stream_loses_its_event_and_acknowledges_the_source(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T4: no stream has the subject and nobody is told. Rule: publish by hand and wait for the
    acknowledgement.
    """
    await reader(jetstream)
    calls: list[bytes] = []

    @broker.subscriber("log.a", stream=LOG, durable="reader", pull_sub=PullSub())
    @broker.publisher("nowhere.b")
    async def handle(body: bytes) -> bytes:
        calls.append(body)
        return b"lost"

    await broker.start()
    await publish(jetstream)
    durable = await until_settled(jetstream)
    assert (calls, durable.ack_floor.stream_seq) == ([b"event"], 1)
    assert (await jetstream.stream_info("LOG")).state.messages == 1


async def test_a_handler_that_returns_nothing_publishes_an_empty_event(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T5: None becomes an empty body in the log. Rule: no publisher decorators."""
    await reader(jetstream)

    @broker.subscriber("log.a", stream=LOG, durable="reader", pull_sub=PullSub())
    @broker.publisher("log.b", stream=LOG)
    async def handle(body: bytes) -> None: ...

    await broker.start()
    await publish(jetstream)
    await until_settled(jetstream)
    assert not (await jetstream.get_last_msg("LOG", "log.b")).data


@pytest.mark.parametrize(("size", "at_once"), [(10, 10), (1, 1)])
async def test_a_batch_size_runs_that_many_handlers_at_once(
    jetstream: JetStreamContext, broker: NatsBroker, size: int, at_once: int
) -> None:
    """T6: batch_size without batch=True means concurrency, even with one worker. Rule: one, or a
    real batch.
    """
    await reader(jetstream)
    busy = BlockedHandlers()

    @broker.subscriber(
        "log.a", stream=LOG, durable="reader", pull_sub=PullSub(batch_size=size), max_workers=1
    )
    async def handle(body: bytes) -> None:
        await busy.work()

    await publish(jetstream, 20)
    await broker.start()

    async def working() -> bool:
        return busy.running == at_once

    await until(working, f"{at_once} handlers at once")
    busy.go.set()
    await until_settled(jetstream)
    assert busy.most == at_once


async def test_workers_take_messages_that_nobody_works_on(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T7: messages that wait inside the process age, no heartbeat covers them, and somebody else
    gets them as well.
    """
    await reader(jetstream, ack_wait=1.0)
    worked_on: set[int] = set()
    go = asyncio.Event()

    @broker.subscriber(
        "log.a", stream=LOG, durable="reader", pull_sub=PullSub(batch_size=8), max_workers=4
    )
    async def handle(body: bytes, message: NatsMessage) -> None:
        worked_on.add(message.raw_message.metadata.sequence.stream)
        while not go.is_set():
            await message.in_progress()
            with suppress(TimeoutError):
                await asyncio.wait_for(go.wait(), 0.2)

    await publish(jetstream, 16)
    await broker.start()

    async def all_taken() -> bool:
        return len(worked_on) == 4 and (await info(jetstream)).num_ack_pending == 16

    await until(all_taken, "sixteen messages taken, four worked on")
    other_reader = await jetstream.pull_subscribe_bind(stream="LOG", durable="reader")
    (stolen,) = await other_reader.fetch(1, timeout=5)
    assert stolen.metadata.num_delivered == 2
    assert stolen.metadata.sequence.stream not in worked_on
    go.set()


async def test_single_flight_subscribers_take_only_what_they_work_on(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T7, the rule: as many subscribers of one consumer as messages at once, each with one message
    in flight.
    """
    await reader(jetstream)
    busy = BlockedHandlers()

    async def handle(body: bytes) -> None:
        await busy.work()

    for _ in range(4):
        broker.subscriber("log.a", stream=LOG, durable="reader", pull_sub=PullSub(), max_workers=1)(
            handle
        )
    await publish(jetstream, 40)
    await broker.start()

    async def all_busy() -> bool:
        # Without a waiting pull the server hands out nothing more: this is the final state, not a
        # moment of it.
        return busy.running == 4 and (await info(jetstream)).num_waiting == 0

    await until(all_busy, "four busy handlers")
    assert (await info(jetstream)).num_ack_pending == 4
    busy.go.set()
    await until_settled(jetstream)
    assert busy.most == 4
