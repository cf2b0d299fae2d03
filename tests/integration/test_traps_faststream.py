"""What keeps parts of FastStream out (decision 5), shown on the pinned version: a test fails when
its reason is gone.

Other parts are shown in test_traps_consume.py (policies, publishers, workers) and
test_traps_service.py.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio
from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PullSub, TestNatsBroker
from faststream.nats.opentelemetry import NatsTelemetryMiddleware
from nats.js import JetStreamContext, api
from nats.js.api import ConsumerConfig, StreamConfig
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from tests.support.nats_server import BusServer, connected, until

pytestmark = pytest.mark.trap

LOG = JStream("LOG", declare=False)


class Body(BaseModel):
    number: int


@pytest_asyncio.fixture
async def jetstream(server: BusServer) -> AsyncIterator[JetStreamContext]:
    """A server with the stream LOG and its consumer `reader`."""
    async with connected(server) as client:
        context = client.jetstream(timeout=5)
        await context.add_stream(StreamConfig(name="LOG", subjects=["log.>"]))
        config = ConsumerConfig(
            durable_name="reader", filter_subject="log.*", ack_policy=api.AckPolicy.EXPLICIT
        )
        await context.add_consumer("LOG", config)
        yield context


@pytest_asyncio.fixture
async def broker(server: BusServer) -> AsyncIterator[NatsBroker]:
    """Not started: a test adds its subscribers first."""
    broker = NatsBroker(server.url, logger=None, graceful_timeout=0.1)
    yield broker
    await broker.stop()


async def acknowledged(jetstream: JetStreamContext) -> int:
    """How many messages were acknowledged of those delivered."""
    info = await jetstream.consumer_info("LOG", "reader")
    return info.delivered.consumer_seq - (info.num_ack_pending or 0)


async def seconds_until_handled(
    jetstream: JetStreamContext, broker: NatsBroker, pull: PullSub
) -> float:
    """From the publication of one message to the call of its handler."""
    call = asyncio.Event()

    @broker.subscriber(
        "log.*", stream=LOG, durable="reader", pull_sub=pull, ack_policy=AckPolicy.MANUAL
    )
    async def handle(body: Any) -> None:
        call.set()

    await broker.start()
    await asyncio.sleep(0.1)
    since = asyncio.get_running_loop().time()
    await jetstream.publish("log.a", b"event")
    # A batch subscriber also drops what it had fetched when the fetch behind it fails: then this is
    # all we wait for.
    with suppress(TimeoutError):
        await asyncio.wait_for(call.wait(), 10)
    return asyncio.get_running_loop().time() - since


async def test_a_batch_subscriber_holds_a_lone_message_until_its_time_is_up(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """Batch subscribers: a short time to wait means empty pulls all day, a long one slow
    documents.
    """
    assert await seconds_until_handled(jetstream, broker, PullSub(10, 2.0, batch=True)) > 1.5


async def test_a_subscriber_of_single_messages_hands_a_lone_message_over_at_once(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """The same pull without batch mode: what our batches are gathered from."""
    assert await seconds_until_handled(jetstream, broker, PullSub(10, 2.0)) < 1.0


async def test_a_typed_handler_never_sees_a_body_of_another_form(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """Typed subscribers: nobody can publish a StageFailed about it, and by hand nobody acknowledges
    it either.
    """
    numbers: list[int] = []

    @broker.subscriber(
        "log.*", stream=LOG, durable="reader", pull_sub=PullSub(), ack_policy=AckPolicy.MANUAL
    )
    async def handle(body: Body) -> None:
        numbers.append(body.number)

    await broker.start()
    await jetstream.publish("log.a", b'{"number": "none"}')
    await jetstream.publish("log.a", b'{"number": 7}')

    async def second_was_handled() -> bool:
        return numbers == [7]

    await until(second_was_handled, "the message behind the one of another form")
    assert (await jetstream.consumer_info("LOG", "reader")).num_ack_pending == 2


async def test_an_acknowledging_middleware_does_not_wait_for_the_batch_its_message_went_into(
    jetstream: JetStreamContext, broker: NatsBroker
) -> None:
    """Middlewares (decode, ack, spans) wrap one message: its neighbours of the fetch are done
    before the batch is.
    """
    waiting: list[bytes] = []
    batches: list[int] = []
    go = asyncio.Event()

    @broker.subscriber(
        "log.*",
        stream=LOG,
        durable="reader",
        pull_sub=PullSub(5, 1.0),
        ack_policy=AckPolicy.NACK_ON_ERROR,
    )
    async def handle(body: bytes) -> None:
        waiting.append(body)
        await asyncio.sleep(0)
        if waiting:
            batches.append(len(waiting))
            waiting.clear()
            await go.wait()

    for _ in range(5):
        await jetstream.publish("log.a", b"event")
    await broker.start()

    async def neighbours_are_acknowledged() -> bool:
        return await acknowledged(jetstream) == 4

    await until(
        neighbours_are_acknowledged,
        "four messages acknowledged of a batch of five that is worked on",
    )
    assert batches == [5]
    go.set()


async def test_the_test_broker_delivers_nothing_again_and_drops_no_duplicate() -> None:
    """TestNatsBroker: redelivery and deduplication are what our handlers have to stand; `MemoryLog`
    has both.
    """
    broker = NatsBroker(logger=None)
    bodies: list[bytes] = []

    @broker.subscriber(
        "log.*", stream=LOG, durable="reader", pull_sub=PullSub(), ack_policy=AckPolicy.MANUAL
    )
    async def handle(body: bytes) -> None:
        bodies.append(body)

    async with TestNatsBroker(broker):
        for body in (b"first", b"second"):
            await broker.publish(body, "log.a", stream="LOG", headers={"Nats-Msg-Id": "the same"})
        await asyncio.sleep(0.1)
    assert bodies == [b"first", b"second"]


async def test_the_telemetry_middleware_names_the_spans_of_a_consumer_by_subject(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """OpenTelemetry middleware: one span name, and one time series, for each document; and one span
    a message.
    """
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    broker = NatsBroker(
        server.url,
        logger=None,
        graceful_timeout=0.1,
        middlewares=[NatsTelemetryMiddleware(tracer_provider=provider)],
    )
    bodies: list[bytes] = []

    @broker.subscriber("log.*", stream=LOG, durable="reader", pull_sub=PullSub())
    async def handle(body: bytes) -> None:
        bodies.append(body)

    await broker.start()
    for document in range(3):
        await jetstream.publish(f"log.doc-{document}", b"event")

    async def all_handled() -> bool:
        return len(bodies) == 3

    await until(all_handled, "three messages handled")
    await broker.stop()
    names = {span.name for span in spans.get_finished_spans()}
    assert {f"log.doc-{document} process" for document in range(3)} <= names
