"""The traps of a running service, shown on the pinned library and server: an upgrade that changes
one is noticed.

What guards us against them: test_traps_guards.py.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import nats
import pytest
import pytest_asyncio
from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PullSub
from faststream.nats.opentelemetry import NatsTelemetryMiddleware
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api
from nats.js.api import ConsumerConfig, ConsumerInfo, StreamConfig
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.support.nats_server import BusServer, RunningNats, connected, until

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


async def test_a_deleted_durable_leaves_a_service_that_spins_in_silence(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T8: alive, answering pings, handling nothing. Rule: ready means that every consumer answers
    consumer_info.
    """
    await reader(jetstream)
    calls: list[bytes] = []

    @broker.subscriber("log.a", stream=LOG, durable="reader", pull_sub=PullSub(timeout=5.0))
    async def handle(body: bytes) -> None:
        calls.append(body)

    await broker.start()
    client = await broker.connect()
    await jetstream.delete_consumer("LOG", "reader")
    before = client.stats["out_msgs"]
    await publish(jetstream)

    async def spinning() -> bool:
        return client.stats["out_msgs"] - before > 200

    await until(spinning, "hundreds of pulls where a sound service sends one in five seconds")
    assert await broker.ping(1.0)
    assert calls == []


@pytest.mark.own_nats
async def test_a_connection_given_up_brings_the_whole_process_to_a_standstill(
    server: RunningNats, jetstream: JetStreamContext
) -> None:
    """T8: reconnects exhausted, the pull loop raises and repeats without ever yielding. After
    `closed_cb` no other task runs again: no health page, no signal handler. Rule: reconnect for
    ever, and end the process inside `closed_cb`.
    """
    await reader(jetstream)
    stood_still = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch() -> None:
        for _ in range(100):  # the pull that was under way ends first
            turn = threading.Event()
            loop.call_soon_threadsafe(turn.set)
            if not turn.wait(2.0):
                loop.call_soon_threadsafe(stood_still.set)
                break
            time.sleep(0.05)
        subscriber.running = False

    async def on_closed() -> None:
        threading.Thread(target=watch).start()

    broker = NatsBroker(
        server.url,
        logger=None,
        graceful_timeout=0.1,
        max_reconnect_attempts=2,
        reconnect_time_wait=0,
        closed_cb=on_closed,
    )
    subscriber = broker.subscriber(
        "log.a", stream=LOG, durable="reader", pull_sub=PullSub(timeout=0.5)
    )

    @subscriber
    async def handle(body: bytes) -> None: ...

    await broker.start()
    await server.kill()
    await asyncio.wait_for(stood_still.wait(), 10)
    with pytest.raises(ExceptionGroup):
        await broker.stop()


async def test_a_durable_that_exists_is_used_whatever_its_filter(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T9: the handler of one subject gets another's messages. Rule: refuse to start on a
    difference.
    """
    await reader(jetstream, filter_subject="log.old", ack_wait=7.0)
    got = asyncio.Queue[bytes]()

    @broker.subscriber("log.new", stream=LOG, durable="reader", pull_sub=PullSub())
    async def handle(body: bytes) -> None:
        got.put_nowait(body)

    await broker.start()
    await jetstream.publish("log.new", b"new")
    await jetstream.publish("log.old", b"old")
    assert await asyncio.wait_for(got.get(), 5) == b"old"
    config = (await info(jetstream)).config
    assert (config.filter_subject, config.ack_wait) == ("log.old", 7.0)


async def test_a_slow_push_subscription_loses_messages(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T14: what does not fit into the client's memory is dropped for good. Rule: every consumer of
    ours is pulled.
    """
    errors: list[str] = []

    async def on_error(error: Exception) -> None:
        errors.append(type(error).__name__)

    client = await nats.connect(server.url, error_cb=on_error)
    got: list[bytes] = []
    go = asyncio.Event()

    async def slow(message: Msg) -> None:
        await go.wait()
        got.append(message.data)

    config = ConsumerConfig(ack_policy=api.AckPolicy.NONE)
    await client.jetstream().subscribe(
        "log.a", stream="LOG", cb=slow, config=config, pending_msgs_limit=10
    )
    await publish(jetstream, 50)

    async def dropped() -> bool:
        return errors.count("SlowConsumerError") >= 30

    await until(dropped, "dropped messages")
    go.set()
    await client.drain()
    assert 0 < len(got) <= 20


async def test_one_undecodable_body_keeps_a_whole_batch_from_its_handler(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """T17: four good messages share the fate of a bad one. Rule: raw bytes in, each message decoded
    by itself.
    """
    await reader(jetstream, max_deliver=2)
    calls: list[list[int]] = []

    @broker.subscriber(
        "log.a",
        stream=LOG,
        durable="reader",
        pull_sub=PullSub(5, 1.0, batch=True),
        ack_policy=AckPolicy.NACK_ON_ERROR,
    )
    async def handle(bodies: list[int]) -> None:
        calls.append(bodies)

    await publish(jetstream, 4, b"1")
    await publish(jetstream, 1, b"not a number")
    await broker.start()

    async def given_up() -> bool:
        return (await info(jetstream)).delivered.consumer_seq == 10

    await until(given_up, "five messages delivered twice each")
    assert calls == []


async def test_pulls_ignore_the_inbox_prefix_of_the_connection(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T19: under a permission for its own inbox the service would receive nothing. Rule: the prefix
    on each subscriber.

    Anyone in the account who listens to the common prefix reads along.
    """
    await reader(jetstream)
    broker = NatsBroker(server.url, logger=None, graceful_timeout=0.1, inbox_prefix="_INBOX_svc")

    @broker.subscriber("log.a", stream=LOG, durable="reader", pull_sub=PullSub())
    async def handle(body: bytes) -> None: ...

    async with connected(server) as eavesdropper:
        inbox = await eavesdropper.subscribe("_INBOX.>")
        await eavesdropper.flush()
        await broker.start()
        await publish(jetstream, body=b"secret")

        async def overheard() -> bool:
            return (await inbox.next_msg(5)).data == b"secret"

        await until(overheard, "the event on the common inbox prefix")
    await broker.stop()


async def test_telemetry_of_the_library_has_a_name_for_every_subject(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T20: a span name, or a time series, per document. Rule: our spans are named by consumer."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    broker = NatsBroker(
        server.url, logger=None, middlewares=[NatsTelemetryMiddleware(tracer_provider=provider)]
    )
    await broker.start()
    for document in range(3):
        await broker.publish(b"event", f"log.doc-{document}", stream="LOG")
    await broker.stop()
    assert len({span.name for span in spans.get_finished_spans()}) >= 3
