"""How our declarations and publishers keep clear of the traps: on a real server, with the product's
topology.

T9 and T10 drift, T11 eviction, T12 and T16 ids, T13 persistence, T14 push, T15 unanswered
publishes, T18 subjects, T20 names of spans.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, PersistMode, RetentionPolicy
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contracts import subjects
from contracts.ids import event_id, sha256
from contracts.partitions import LOG
from contracts.topology import (
    BUCKETS,
    CONSUMERS,
    DAY,
    SHARED_VERSION,
    STREAMS,
    VERSION,
    VERSION_KEY,
    declared_consumer,
    declared_stream,
)
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime import telemetry
from runtime.bus import topology
from runtime.bus.nats import log as bus
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.log import NatsLog
from runtime.errors import ConfigurationError, Unavailable
from tests.support.freezing import freeze
from tests.support.nats_server import BusServer, RunningNats, connected, reconnected, until
from tests.support.trial_service import document, trial_service
from tests.support.waiting import PATIENCE

DURABLE_DRIFTS: dict[str, dict[str, Any]] = {
    "another filter": {"filter_subjects": [subjects.of_type("DocumentDeleted")]},
    "the one filter of an older release": {
        "filter_subject": subjects.of_type("DocumentAdded"),
        "filter_subjects": None,
    },
    "another time limit": {"ack_wait": 5.0},
    "a limit of deliveries, after which an event is never handled": {"max_deliver": 3},
    "a backoff, which replaces the time limit": {"max_deliver": 9, "backoff": [1.0, 2.0]},
    "an end when nobody asks for a while": {"inactive_threshold": 60.0},
    "headers without bodies": {"headers_only": True},
}

STREAM_DRIFTS: dict[str, dict[str, Any]] = {
    "a retention that deletes what everybody has acknowledged": {
        "retention": RetentionPolicy.INTEREST
    },
    "eviction of the oldest": {"discard": DiscardPolicy.OLD},
    "an age after which events vanish": {"max_age": 30 * DAY},
    "a limit of messages": {"max_msgs": 10},
    "a duplicate window that is too short": {"duplicate_window": 60.0},
    "another subject": {"subjects": ["kb.v1.>"]},
}


@pytest_asyncio.fixture
async def client(server: BusServer) -> AsyncIterator[Client]:
    async with connected(server) as connection:
        yield connection


@pytest_asyncio.fixture
async def jetstream(client: Client) -> JetStreamContext:
    """Of a server that has the product's topology."""
    context = client.jetstream(timeout=5)
    await topology.apply(context)
    return context


async def events(jetstream: JetStreamContext) -> int:
    return (await jetstream.stream_info("KB_EVENTS")).state.messages


async def test_applying_twice_changes_nothing_and_leaves_nothing_to_complain_of(
    jetstream: JetStreamContext,
) -> None:
    """The ground of the drift tests below."""
    assert await topology.apply(jetstream) == []
    assert await topology.check(jetstream) == []


@pytest.mark.parametrize("drift", DURABLE_DRIFTS)
async def test_a_durable_that_differs_is_noticed_and_put_right(
    jetstream: JetStreamContext, drift: str
) -> None:
    """T9: the server would use it as it is, silently."""
    config = topology.durable_config(declared_consumer("chunker")).evolve(**DURABLE_DRIFTS[drift])
    await jetstream.add_consumer("KB_EVENTS", config)
    (*_, problem) = await topology.check(jetstream)
    assert problem.startswith("chunker: ")
    assert await topology.apply(jetstream)
    assert await topology.check(jetstream) == []


async def test_a_pushed_durable_is_noticed(jetstream: JetStreamContext) -> None:
    """T9 and T14: where a name is taken by a consumer that pushes, pulling from it gives
    nothing.
    """
    await jetstream.delete_consumer("KB_EVENTS", "chunker")
    push_config = topology.durable_config(declared_consumer("chunker")).evolve(
        deliver_subject="somewhere"
    )
    await jetstream.add_consumer("KB_EVENTS", push_config)
    assert await topology.check(jetstream)


@pytest.mark.parametrize("drift", STREAM_DRIFTS)
async def test_a_stream_that_differs_is_noticed(jetstream: JetStreamContext, drift: str) -> None:
    """T1 and T10: each of these loses events without an error to anyone."""
    config = topology.stream_config(declared_stream("KB_EVENTS")).evolve(**STREAM_DRIFTS[drift])
    await jetstream.update_stream(config)
    (*_, problem) = await topology.check(jetstream)
    assert problem.startswith("KB_EVENTS: ")


async def test_a_log_that_persists_later_is_noticed(client: Client) -> None:
    """T13: it was made by somebody else, and acknowledges before it writes."""
    context = client.jetstream(timeout=5)
    async_config = topology.stream_config(declared_stream("KB_DEAD")).evolve(
        persist_mode=PersistMode.ASYNC
    )
    await context.add_stream(async_config)
    problems = await topology.check(context)
    assert [problem for problem in problems if problem.startswith("KB_DEAD: persist_mode")]


@pytest.mark.parametrize("break_it", ["durable", "stream", "missing"])
async def test_a_service_refuses_to_start_on_a_difference_and_says_what_to_do(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path, break_it: str
) -> None:
    """T9 and T10: it ends with a code that is not zero, having taken no event."""
    if break_it == "durable":
        await jetstream.add_consumer(
            "KB_EVENTS", topology.durable_config(declared_consumer("chunker")).evolve(ack_wait=5.0)
        )
    elif break_it == "stream":
        await jetstream.update_stream(
            topology.stream_config(declared_stream("KB_EVENTS")).evolve(max_age=30 * DAY)
        )
    else:
        await jetstream.delete_consumer("KB_EVENTS", "chunker")
    await NatsLog(jetstream).publish(document("a"))
    async with trial_service(server.url, tmp_path, wait=False) as service:
        assert await asyncio.wait_for(service.wait(), PATIENCE) == 1
        assert "lightstream topology apply" in service.tail()
    assert await events(jetstream) == 1


async def test_a_full_log_refuses_new_events_and_keeps_every_old_one(
    jetstream: JetStreamContext,
) -> None:
    """T11: the publisher is told when to come back."""
    await jetstream.update_stream(
        topology.stream_config(declared_stream("KB_EVENTS")).evolve(max_bytes=20_000)
    )
    count = 0
    with pytest.raises(Unavailable) as error:
        for number in range(100):
            await NatsLog(jetstream).publish(document(f"doc-{number}"))
            count += 1
    state = (await jetstream.stream_info("KB_EVENTS")).state
    assert error.value.retry_after
    assert count > 10
    assert (state.messages, state.first_seq) == (count, 1)


async def test_every_declared_stream_writes_to_disk_before_it_acknowledges(
    jetstream: JetStreamContext,
) -> None:
    """T13."""
    for stream in STREAMS:
        config = (await jetstream.stream_info(stream.name)).config
        assert config.storage == "file"
        assert config.persist_mode in {None, PersistMode.DEFAULT, "", "default"}
        assert not config.no_ack


async def test_every_declared_durable_is_pulled_and_acknowledged_one_by_one(
    jetstream: JetStreamContext,
) -> None:
    """T14: nothing is pushed, so nothing overflows."""
    for durable in CONSUMERS:
        config = (await jetstream.consumer_info(durable.stream, durable.name)).config
        assert config.deliver_subject is None
        assert config.ack_policy == "explicit"


@pytest.mark.own_nats
async def test_a_publish_the_server_died_under_is_tried_again_and_stored_once(
    server: RunningNats,
    client: Client,
    jetstream: JetStreamContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """T15: the attempt that is never answered ends by its timeout; the id makes the next one
    harmless.
    """
    monkeypatch.setattr(bus, "PUBLISH_TIMEOUT", 0.5)
    freeze(server.process.pid)
    message_count = client.stats["out_msgs"]
    publishing = asyncio.create_task(NatsLog(jetstream).publish(document("a")))

    async def under_way() -> bool:
        return client.stats["out_msgs"] > message_count

    await until(under_way, "the first attempt is sent")
    await server.kill()
    await server.restart()
    await reconnected(client)
    assert await asyncio.wait_for(publishing, 10) == 1
    assert await NatsLog(jetstream).publish(document("a")) == 1
    assert await events(jetstream) == 1


@pytest.mark.own_nats
async def test_a_publish_that_was_stored_unseen_is_not_stored_again(
    server: RunningNats, jetstream: JetStreamContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T15: the server takes the first attempt after its time is over, and knows the second one by
    its id.
    """
    monkeypatch.setattr(bus, "PUBLISH_TIMEOUT", 0.2)
    freeze(server.process.pid)
    publishing = asyncio.create_task(NatsLog(jetstream).publish(document("a")))
    finished_tasks, _ = await asyncio.wait(
        [publishing], timeout=1.5
    )  # several attempts pile up at the stopped server
    assert not finished_tasks
    server.process.signal(signal.SIGCONT)
    assert await asyncio.wait_for(publishing, 10) == 1
    assert await events(jetstream) == 1


async def test_one_document_in_two_workspaces_is_two_events(jetstream: JetStreamContext) -> None:
    """T16: an id made of the document alone would let the second tenant's document vanish."""
    log = NatsLog(jetstream)
    blobs = NatsBlobs(jetstream)
    for workspace in ("one", "two", "one", "two"):
        await add_document(
            log,
            blobs,
            DocumentDraft.of(Submission(text="the same text", id="doc")),
            workspace=workspace,
            source="tests",
        )
    assert await events(jetstream) == 2


def test_ids_of_events_differ_by_cause_type_and_ordinal_and_never_name_a_sequence() -> None:
    """T12 and T16: after the log was cut a sequence names another event; an id never does."""
    ids = {
        event_id(cause, kind, ordinal)
        for cause in "ab"
        for kind in ("X", "Y")
        for ordinal in (0, 1)
    }
    assert len(ids) == 8
    assert event_id("a", "X", 0) == event_id("a", "X")


STRANGE: tuple[str, ...] = (
    "*",
    ">",
    "a.b",
    "a b",
    "straße",
    "文書",
    "A",
    "a",
    "x" * 500,
    "\r\n",
    "x-a",
    "..",
    "-",
    "$JS",
)


async def test_documents_of_any_name_have_subjects_of_their_own(
    jetstream: JetStreamContext,
) -> None:
    """T18: five tokens, no wildcard, and the history of each is read without its neighbours."""
    log = NatsLog(jetstream)
    for number, name in enumerate(STRANGE):
        assert await log.publish(document(name, id=f"event-{number}")) == number + 1
    for number, name in enumerate(STRANGE):
        (page,) = [page async for page in log.read(0, (subjects.of_document("trial", name),))]
        assert [message.sequence for message in page] == [number + 1]
        assert not set(page[0].subject) & set("*> ")


def test_spans_are_named_by_stream_and_not_by_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """T20: the number of span names does not grow with the number of documents."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(telemetry, "_tracer", lambda: provider.get_tracer("tests"))
    for name in ("a", "b", "c"):
        with telemetry.consumer_span("chunker", [document(name)]), telemetry.producer_span(1):
            pass
    assert {span.name for span in spans.get_finished_spans()} == {
        "process KB_EVENTS",
        "publish KB_EVENTS",
    }


async def test_a_bus_that_a_newer_program_set_up_is_refused_and_left_as_it_is(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    newer_config = topology.stream_config(declared_stream(LOG)).evolve(
        metadata={VERSION_KEY: str(SHARED_VERSION + 1)}, description="another"
    )
    await jetstream.update_stream(newer_config)
    with pytest.raises(
        ConfigurationError, match=r"have version \d+, this program knows \d+: run the newer program"
    ):
        await topology.apply(jetstream)
    (problem,) = await topology.check(jetstream)
    assert "run the newer program" in problem
    assert (await jetstream.stream_info(LOG)).config.description == "another"
    async with trial_service(server.url, tmp_path, wait=False) as service:
        assert await asyncio.wait_for(service.wait(), PATIENCE) == 1
        assert "run the newer program" in service.tail()


async def test_a_bus_without_a_version_is_named_and_taken_over(jetstream: JetStreamContext) -> None:
    """Releases before there were versions left none."""
    await jetstream.update_stream(topology.stream_config(declared_stream(LOG)).evolve(metadata={}))
    (problem,) = await topology.check(jetstream)
    assert VERSION_KEY in problem and problem.startswith("KB_EVENTS: metadata")
    assert await topology.apply(jetstream)
    assert await topology.check(jetstream) == []


def test_the_version_of_the_declaration_is_raised_with_every_change_of_it() -> None:
    declarations = repr((STREAMS, CONSUMERS, BUCKETS))
    assert (VERSION, sha256(declarations)[:12]) == (1, "3393df94e35f")
