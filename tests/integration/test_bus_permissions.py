"""Who may do what on the bus of docker-compose.yml: every line of its files, tried on a server that
has read them.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import nats
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import TimeoutError as NoAnswer
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import EVENTS, BudgetSet, RetryRequested
from contracts.ids import sha256
from contracts.registry import service_of
from contracts.topology import BUCKETS, CONSUMERS, STREAMS
from operations import bus_accounts
from operations.bus_accounts import API, IMPORTED_API, USERS, User, imported
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from publishing.retries import request_retry
from runtime.bus import topology
from runtime.bus.encoded_text import EncodedText
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import connected
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.parking.port import ParkedEvent
from runtime.costs.budget import read_budget, set_budget
from runtime.errors import ConfigurationError
from tests.support.deployed_bus import FILES, DeployedBus, deployed_bus
from tests.support.events import added, sealed
from tests.support.nats_server import until
from tests.support.services import service

pytestmark = pytest.mark.asyncio(loop_scope="module")

NARROW = [user for user in USERS if user.grants is not None]
GRANTED = sorted({subject for user in NARROW for subject in user.allowed})

DANGEROUS = (
    *(
        f"{API}.STREAM.{call}.{stream.name}"
        for stream in STREAMS
        for call in (
            "CREATE",
            "UPDATE",
            "DELETE",
            "PURGE",
            "MSG.DELETE",
            "MSG.GET",
            "SNAPSHOT",
            "RESTORE",
            "PEER.REMOVE",
            "LEADER.STEPDOWN",
        )
    ),
    *(
        f"{API}.CONSUMER.{call}.{durable.stream}.{durable.name}"
        for durable in CONSUMERS
        for call in (
            "CREATE",
            "DURABLE.CREATE",
            "DELETE",
            "PAUSE",
            "RESET",
            "UNPIN",
            "LEADER.STEPDOWN",
            "MSG.NEXT",
            "INFO",
        )
    ),
    *(
        f"{API}.CONSUMER.CREATE.{d.stream}.{d.name}.{example}"
        for d in CONSUMERS
        for example in d.filters
    ),
    f"{API}.DIRECT.GET.KB_EVENTS",
    f"{API}.DIRECT.GET.KB_EVENTS.kb.v1.w.d.DocumentAdded",
    f"{API}.DIRECT.GET.KB_BLOBS",
    f"{API}.CONSUMER.CREATE.KB_EVENTS",
    f"{API}.CONSUMER.CREATE.KB_EVENTS.spy.kb.v1.w.d.DocumentAdded",
    f"{API}.CONSUMER.LIST.KB_EVENTS",
    f"{API}.CONSUMER.NAMES.KB_EVENTS",
    f"{API}.STREAM.LIST",
    f"{API}.STREAM.NAMES",
    f"{API}.INFO",
    f"{API}.ACCOUNT.PURGE.lightstream",
    f"{API}.META.LEADER.STEPDOWN",
    f"{API}.SERVER.REMOVE",
    *(f"$KV.{bucket.name}.pointers" for bucket in BUCKETS),
    *(f"{API}.STREAM.MSG.GET.KV_{b.name}" for b in BUCKETS),
    *(f"kb.v1.w.d.{name}" for name in EVENTS),
    "kb.v1.w.d.Unknown",
    "kb.v2.w.d.DocumentAdded",
    "dead.other",
    "redrive.chunker",
    "another.subject",
    "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.KB_EVENTS.merger",
    "$SYS.REQ.SERVER.PING",
)
"""What would change the bus, rewind a reader, read the log, or say what the user has no right to
say.
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bus(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DeployedBus]:
    """The bus with its streams, which the operator has declared, and something in each of them."""
    async with (
        deployed_bus(tmp_path_factory.mktemp("bus")) as bus,
        connected(bus.operator, name="test") as client,
    ):
        jetstream = client.jetstream()
        assert await topology.apply(jetstream)
        assert await topology.check(jetstream) == []
        await NatsLiveGenerations(await jetstream.key_value("KB_GENERATIONS")).write({}, 0)
        for bucket in BUCKETS:
            await (await jetstream.key_value(bucket.name)).put("seed", b"{}")
        await jetstream.publish("parked.a.a.a", b"{}")
        await jetstream.publish("blob.a.a", b"text")
        await client.subscribe(subjects.REBUILDS, cb=_take_order)
        await client.flush()
        yield bus


async def _take_order(message: Msg) -> None:
    """Answer as an operator process does."""
    await message.respond(b"{}")


async def opened(bus: DeployedBus, user: str) -> Client:
    """A connection of that user. What the server says of refusals is no matter: they show as
    answers that are none.
    """
    return await nats.connect(bus.url(user), error_cb=_ignored)


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""


def example(subject: str) -> str:
    """A subject that the pattern allows."""
    return subject.replace("*", "a").replace(">", "1.1.1.1.1")


def covers(pattern: str, subject: str) -> bool:
    """Whether a subject fits a pattern with `*`, and `>` in the end."""
    pattern_tokens = pattern.split(".")
    subject_tokens = subject.split(".")
    if pattern_tokens[-1] == ">" and len(subject_tokens) >= len(pattern_tokens):
        pattern_tokens, subject_tokens = (
            pattern_tokens[:-1],
            subject_tokens[: len(pattern_tokens) - 1],
        )
    return len(pattern_tokens) == len(subject_tokens) and all(
        w in ("*", h) for w, h in zip(pattern_tokens, subject_tokens, strict=True)
    )


def may(user: User, subject: str) -> bool:
    """Whether a user may publish there."""
    is_allowed = any(covers(pattern, subject) for pattern in user.allowed)
    return is_allowed and not any(covers(pattern, subject) for pattern in user.denied)


async def answer(client: Client, subject: str) -> Msg | None:
    """What comes back of a request that does no harm where it is allowed; None when nobody answers
    it.
    """
    body = b""
    if ".MSG.NEXT." in subject:
        body = b'{"batch":1,"no_wait":true}'
    if ".STREAM.MSG.GET." in subject:
        body = b'{"last_by_subj": ">"}'
    if ".CONSUMER.CREATE." in subject:
        stream, _, consumer = subject.partition(".CREATE.")[2].partition(".")
        name, _, filter_subject = consumer.partition(".")
        config = {
            "name": name,
            "filter_subject": filter_subject,
            "ack_policy": "none",
            "inactive_threshold": 60 * 10**9,
        }
        body = json.dumps({"stream_name": stream, "config": config}).encode()
    # Not by `request`: a message of a durable comes under its own subject, which that would not
    # take for an answer.
    inbox = client.new_inbox()
    answers = await client.subscribe(inbox)
    try:
        await client.publish(subject, body, reply=inbox)
        message = await answers.next_msg(
            timeout=3
        )  # a few calls are not even refused where there is no JetStream
    except NoAnswer:
        return None
    finally:
        await answers.unsubscribe()
    return None if (message.headers or {}).get("Status") == "503" else message


def refused(message: Msg | None) -> bool:
    """Whether there is no answer, or one of the user's own account, which has no JetStream."""
    if message is None:
        return True
    try:
        content = json.loads(message.data or b"null")
    except ValueError:
        return False
    return isinstance(content, dict) and "error" in content


async def state(bus: DeployedBus) -> dict[str, Any]:
    """What a forbidden call would change: what is in the streams, and how they and their readers
    are configured.
    """
    async with connected(bus.operator, name="test") as client:
        infos = await client.jetstream().streams_info()
        consumers = await client.jetstream().consumers_info("KB_EVENTS")
    streams = {
        info.config.name: (info.state.last_seq, info.state.messages, info.config) for info in infos
    }
    durables = {durable.name for durable in CONSUMERS}
    readers = {
        info.name: (info.num_pending, info.num_ack_pending, info.config)
        for info in consumers
        if info.name in durables
    }
    return {"streams": streams, "readers": readers}


@pytest.mark.parametrize("user", NARROW, ids=lambda user: user.name)
async def test_every_line_of_a_user_is_served(bus: DeployedBus, user: User) -> None:
    client = await opened(bus, user.name)
    for subject in user.allowed:
        if not subject.startswith(
            "$JS.ACK."
        ):  # nobody answers an acknowledgement: services give them below
            message = await answer(client, example(imported(subject)))
            # The blob is there already, and no message was named to remove: that, too, only the
            # log's account can say.
            content = message.data if message else b""
            assert not refused(message) or b"per subject" in content or b"bad request" in content, (
                subject
            )
    await client.close()


@pytest.mark.parametrize("user", NARROW, ids=lambda user: user.name)
async def test_nothing_else_is(bus: DeployedBus, user: User) -> None:
    examples = [example(subject) for subject in (*GRANTED, *DANGEROUS)]
    forbidden = [subject for subject in examples if not may(user, subject)]
    assert len(forbidden) > 100
    before = await state(bus)
    client = await opened(bus, user.name)
    names = sorted({name for subject in forbidden for name in (subject, imported(subject))})
    answers = await asyncio.gather(*(answer(client, name) for name in names))
    assert [
        name for name, message in zip(names, answers, strict=True) if not refused(message)
    ] == []
    await client.close()
    assert await state(bus) == before


@pytest.mark.parametrize("user", NARROW, ids=lambda user: user.name)
async def test_no_answer_can_be_sent_where_the_user_may_not_write(
    bus: DeployedBus, user: User
) -> None:
    """The server writes its answer to any subject that a message names for it: it must stay in the
    user's account.
    """
    client = await opened(bus, user.name)
    before = await state(bus)
    calls = [subject for subject in user.allowed if subject.startswith(API)]
    for target in (
        "$KV.KB_GENERATIONS.pointers",
        "kb.v1.w.d.GraphMerged",
        "$JS.API.STREAM.PURGE.KB_EVENTS",
    ):
        for subject in calls:
            # Of the calls allowed here, removing a dead letter alone would change what is compared.
            body = b'{"seq":999}' if ".MSG.DELETE." in subject else b'{"seq":1}'
            await client.publish(example(imported(subject)), body, reply=target)
    await client.flush()
    assert (await state(bus))["streams"] == before["streams"]
    # An event is taken, and what the log says of it goes nowhere.
    event_subject = example(next(subject for subject in user.allowed if subject.startswith("kb.")))
    await client.publish(event_subject, b"{}", reply="$KV.KB_GENERATIONS.pointers")
    await client.flush()
    async with connected(bus.operator, name="test") as operator:
        log = NatsLog(operator.jetstream())

        async def taken() -> bool:
            return await log.last_sequence() == before["streams"]["KB_EVENTS"][0] + 1

        await until(taken, "the event")
    assert (await state(bus))["streams"]["KV_KB_GENERATIONS"] == before["streams"][
        "KV_KB_GENERATIONS"
    ]
    await client.close()


@pytest.mark.parametrize("name", [bucket.name for bucket in BUCKETS])
async def test_who_may_write_one_key_cannot_empty_the_bucket(bus: DeployedBus, name: str) -> None:
    async with connected(bus.operator, name="test") as operator:
        bucket = await operator.jetstream().key_value(name)
        await bucket.put("other", b"kept")
        for user in NARROW:
            client = await opened(bus, user.name)
            for subject in user.allowed:
                if subject.startswith(f"$KV.{name}."):
                    message = await client.request(
                        example(subject), b"", timeout=5, headers={"Nats-Rollup": "all"}
                    )
                    assert b"error" in message.data
            await client.close()
        assert (await bucket.get("other")).value == b"kept"


async def test_nobody_hears_what_others_say_or_are_answered(bus: DeployedBus) -> None:
    overheard: list[str] = []

    async def hear(message: Msg) -> None:
        overheard.append(message.subject)

    spies = [await opened(bus, user.name) for user in NARROW]
    for spy in spies:
        for subject in (">", "kb.>", "_INBOX.>", "$JS.>"):
            await spy.subscribe(subject, cb=hear)
        await spy.flush()
    async with connected(bus.operator, name="test") as operator:
        await operator.jetstream().publish("kb.v1.w.d.DocumentAdded", b"secret")
        await operator.jetstream().stream_info("KB_EVENTS")
    for spy in spies:
        await spy.flush()
        await spy.close()
    assert overheard == []


async def test_what_services_do_together_works(bus: DeployedBus) -> None:
    """Log, blobs, pointers and shared limits by our own adapters, each as the user who needs it."""
    query, extractor, chunker = [
        await opened(bus, name) for name in ("query", "extractor", "chunker")
    ]
    query_stream, extractor_stream, chunker_stream = (
        client.jetstream(prefix=IMPORTED_API) for client in (query, extractor, chunker)
    )
    log = NatsLog(query_stream)
    first = await log.publish(sealed(added("d")))
    assert (result := await log.newest("w", "d", "DocumentAdded")) and result.sequence == first
    assert await log.following(first - 1, subjects.of_type("DocumentAdded")) is not None
    assert await log.last("w") >= first
    additions = [
        await add_document(
            log,
            NatsBlobs(query_stream),
            DocumentDraft.of(Submission(text=t)),
            workspace="w",
            source="t",
            key="k",
        )
        for t in "ab"
    ]
    assert [result.is_new for result in additions] == [True, False]
    blob = await NatsBlobs(query_stream).put(EncodedText.of("text"), "w")
    assert await NatsBlobs(chunker_stream).get(blob) == "text"
    assert (await (await NatsLiveGenerations.bind(chunker_stream)).live()).graph == 1
    values = await NatsSharedValues.bind(extractor_stream)
    other_values = await NatsSharedValues.bind(query_stream)
    assert await values.write("model", b"paused", 0)
    assert await other_values.read("model") == (b"paused", (await values.read("model"))[1])
    assert "model" in await other_values.keys()
    assert (
        result := await NatsLog(chunker_stream).newest("w", "d", "DocumentAdded", exact=False)
    ) and result.sequence == first
    await set_budget(log, workspace="w", budget=BudgetSet(tokens=7), source="tests")
    assert (
        budget := await read_budget(NatsLog(extractor_stream), "w", exact=False)
    ) and budget.tokens == 7
    mine = [durable for durable in CONSUMERS if service_of(durable) == "chunker"]
    assert await topology.check(chunker_stream, tuple(mine)) == []
    for client in (query, extractor, chunker):
        await client.close()


async def test_the_query_service_may_watch_the_log(bus: DeployedBus) -> None:
    client = await opened(bus, "query")
    try:
        feed, subject = (
            NatsEventFeed(client.jetstream(prefix=IMPORTED_API, timeout=5)),
            subjects.of_workspace("watched"),
        )
        async with aclosing(feed.follow(subject, 0, 60.0)) as pages:
            following = asyncio.ensure_future(anext(pages))
            async with connected(bus.operator, name="test") as operator:
                sequence = await NatsLog(operator.jetstream()).publish(
                    sealed(added("d"), id="watched", workspace="watched")
                )
            assert [message.sequence for message in await following] == [sequence]
        messages, remaining = await feed.page(subject, sequence - 1, 5)
        assert (
            [message.sequence for message in messages],
            remaining,
            await feed.count(subject),
        ) == (
            [sequence],
            0,
            1,
        )
        assert await feed.last_sequence() >= sequence
    finally:
        await client.close()


async def test_a_service_that_may_not_remove_wrong_bytes_stores_the_text_elsewhere(
    bus: DeployedBus,
) -> None:
    text = "a text under whose name somebody has put other bytes"
    publisher = await opened(bus, "publisher")
    query = await opened(bus, "query")
    place = subjects.blob_place("w", sha256(text))
    await publisher.jetstream().publish(subjects.blob(place, 0), b"other")
    blobs = NatsBlobs(query.jetstream(prefix=IMPORTED_API))
    ref = await blobs.put(EncodedText.of(text), "w")
    assert ref.key != place
    assert await blobs.get(ref) == text
    async with connected(bus.operator, name="test") as operator:
        blobs = NatsBlobs(operator.jetstream())
        assert (await blobs.put(EncodedText.of(text), "w")).key == place
    for client in (publisher, query):
        await client.close()


async def test_a_foreign_publisher_adds_by_any_client_of_nats(bus: DeployedBus) -> None:
    client = await opened(bus, "publisher")
    jetstream: JetStreamContext = client.jetstream()
    assert (await jetstream.publish("kb.v1.w.foreign.DocumentAdded", b"{}", stream="KB_EVENTS")).seq
    assert (await jetstream.publish(f"blob.{'0' * 64}.0", b"part", stream="KB_BLOBS")).seq
    with pytest.raises(ConfigurationError, match="NATS_API_PREFIX"):
        await NatsLog(jetstream).newest("w", "foreign", "DocumentAdded")
    await client.close()


async def test_a_service_acknowledges_and_sets_aside_as_its_own_user(
    bus: DeployedBus, tmp_path: Path
) -> None:
    async with (
        service("chunker", tmp_path, **bus.variables("chunker")),
        connected(bus.operator, name="test") as client,
    ):
        jetstream = client.jetstream()
        await NatsLog(jetstream).publish(
            sealed(added("cut", "Ada Marlow met Tom in Port Elm."), id="cut")
        )
        await jetstream.publish("kb.v1.w.d.DocumentAdded", b"no event of ours")

        async def done() -> bool:
            # Acknowledged is not handled: an event may be parked and come again.
            info = await jetstream.consumer_info("KB_EVENTS", "chunker")
            dead = (
                await jetstream.stream_info("KB_DEAD", subjects_filter="dead.chunker")
            ).state.subjects
            cut = await NatsLog(jetstream).newest("w", "cut", "ChunksCreated")
            return bool(cut and dead and not info.num_pending and not info.num_ack_pending)

        await until(done, "its chunks, its dead letter and its acknowledgements", seconds=60)
        log = NatsLog(jetstream)
        retry = RetryRequested(document_id="d")
        request_sequence = await request_retry(log, workspace="w", retry=retry, source="test")

        async def failed_again() -> bool:
            failure = await log.newest("w", "d", "StageFailed")
            return bool(failure and request_sequence and failure.sequence > request_sequence)

        await until(failed_again, "its second failure", seconds=60)


async def test_a_service_parks_events_of_its_own_durables_and_takes_them_up_again(
    bus: DeployedBus,
) -> None:
    async with connected(bus.operator, name="test") as operator:
        sequence = await NatsLog(operator.jetstream()).publish(
            sealed(added("parked", "text"), id="parked")
        )
    event = ParkedEvent(
        durable="chunker",
        sequence=sequence,
        subject=subjects.subject("w", "parked", "DocumentAdded"),
        reason="retried",
        event_type="DocumentAdded",
        parked_at=0.0,
        not_before=0.0,
    )
    client = await opened(bus, "chunker")
    parked_events = NatsParkedEvents(client.jetstream(prefix=IMPORTED_API, timeout=3))
    revision = await parked_events.put(event)
    claim = await parked_events.put(event, revision)
    assert [entry.event for entry in await parked_events.changes("chunker", 0)][-1:] == [event]
    assert [message.sequence for message in await parked_events.originals([event])] == [sequence]
    assert await parked_events.remove(event, claim)
    await client.close()


async def test_an_older_server_s_log_is_found_again(tmp_path: Path) -> None:
    """Before there were accounts the log stood in the one that every server has: deploy/nats/start
    moves it.
    """
    folder = tmp_path / "old"
    async with deployed_bus(folder) as bus, connected(bus.operator, name="test") as client:
        await topology.apply(client.jetstream())
        await client.jetstream().publish("kb.v1.w.d.DocumentAdded", b"{}")
    (folder / "jetstream" / bus_accounts.ACCOUNT).rename(folder / "jetstream" / "$G")
    start = await asyncio.create_subprocess_exec("sh", str(FILES / "start"), str(folder), "true")
    assert await start.wait() == 0
    async with deployed_bus(folder) as bus, connected(bus.operator, name="test") as client:
        assert await NatsLog(client.jetstream()).last_sequence() == 1
        assert (await client.jetstream().consumer_info("KB_EVENTS", "chunker")).num_pending == 1
