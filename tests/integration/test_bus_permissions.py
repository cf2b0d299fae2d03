"""Who may do what on the bus of docker-compose.yml: every line of its files, tried on a server that
has read them.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import TimeoutError as NoAnswer

from contracts.events import EVENTS
from contracts.topology import BUCKETS, CONSUMERS, STREAMS
from operations.bus_accounts import API, USERS, User, imported
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from tests.support.bus_users import declared_bus, opened
from tests.support.deployed_bus import DeployedBus
from tests.support.nats_server import until

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
    async with declared_bus(tmp_path_factory.mktemp("bus")) as bus:
        yield bus


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
