"""A publisher of one workspace on the production bus, who knows how ids are made, does nothing to
another one.
"""

import asyncio
from collections.abc import AsyncIterator

import nats
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts import subjects
from contracts.events import ChunksCreated
from contracts.ids import document_id, event_id, sha256
from contracts.text import INLINE_LIMIT
from operations.bus_accounts import IMPORTED_API, publisher_of
from publishing.current_version import current_content_hash
from publishing.documents import add_document, delete_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus import topology
from runtime.bus.encoded_text import EncodedText
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.message_ids import message_id
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.events import chunked, document, sealed

pytestmark = pytest.mark.asyncio(loop_scope="module")

HARMLESS = "kb.v1.b.d.DocumentAdded"
"""What the publisher of workspace b may say."""

KNOWN = "The harbour master signs every lease."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bus(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DeployedBus]:
    """The production bus with two publishers, each of one workspace."""
    publishers = publisher_of("rival", ["b"]), publisher_of("honest", ["c"])
    async with deployed_bus(tmp_path_factory.mktemp("bus"), *publishers) as bus:
        async with connected(bus.operator, name="test") as operator:
            await topology.apply(operator.jetstream())
        yield bus


@pytest_asyncio.fixture(loop_scope="module")
async def rival(bus: DeployedBus) -> AsyncIterator[JetStreamContext]:
    """The publisher of workspace b."""
    client = await opened(bus, "rival")
    yield client.jetstream()
    await client.close()


@pytest_asyncio.fixture(loop_scope="module")
async def query(bus: DeployedBus) -> AsyncIterator[JetStreamContext]:
    """The query service, which adds and deletes for the users of workspace a."""
    async with connected(bus.url("query"), name="test") as client:
        yield client.jetstream(prefix=IMPORTED_API)


async def opened(bus: DeployedBus, user: str) -> Client:
    """A connection of that user, who expects to be refused."""
    return await nats.connect(bus.url(user), error_cb=_ignored)


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""


async def occupy(rival: JetStreamContext, subject: str, *ids: str) -> list[bool]:
    """Publish harmless events under all ids on the wire that these could have. Whether the log knew
    each before.
    """
    duplicates: list[bool] = []
    for id in ids:
        for wire in (id, f"{subject}/{id}", message_id(b"", subject, id)):
            ack = await rival.publish(
                HARMLESS, b"{}", stream="KB_EVENTS", headers={"Nats-Msg-Id": wire}
            )
            duplicates.append(bool(ack.duplicate))
    return duplicates


async def test_deletions_reach_the_log_although_their_ids_are_taken(
    rival: JetStreamContext, query: JetStreamContext
) -> None:
    log = NatsLog(query)
    blobs = NatsBlobs(query)
    addition = await add_document(
        log, blobs, DocumentDraft.of(Submission(text="Tom", id="leases")), workspace="a", source="t"
    )
    ids = [
        event_id(f"a/leases/{sequence}", "DocumentDeleted")
        for sequence in range(addition.sequence, 49)
    ]
    await occupy(rival, subjects.subject("a", "leases", "DocumentDeleted"), *ids)
    deletion = await delete_document(log, workspace="a", id="leases", source="t")
    event = await log.newest("a", "leases", "DocumentDeleted")
    assert deletion and event
    assert deletion.sequence == event.sequence
    assert await current_content_hash(log, workspace="a", id="leases") is None


@pytest.mark.parametrize(
    "text", [KNOWN, KNOWN * (INLINE_LIMIT // len(KNOWN) + 1)], ids=["short", "long"]
)
@pytest.mark.parametrize("key", ["", "order-1"])
async def test_a_known_text_can_be_added(
    rival: JetStreamContext, query: JetStreamContext, text: str, key: str
) -> None:
    log = NatsLog(query)
    blobs = NatsBlobs(query)
    workspace = f"a-{len(text)}-{key}"
    name = document_id(text)
    cause = f"{workspace}/key/{key}" if key else f"{workspace}/{name}/0/{sha256(text)}"
    await occupy(
        rival, subjects.subject(workspace, name, "DocumentAdded"), event_id(cause, "DocumentAdded")
    )
    await occupy(
        rival, subjects.of_type_in(workspace, "DocumentAdded"), event_id(cause, "DocumentAdded")
    )
    submission = DocumentDraft.of(Submission(text=text))
    addition = await add_document(log, blobs, submission, workspace=workspace, source="t", key=key)
    assert await current_content_hash(log, workspace=workspace, id=name) == sha256(text)
    again = await add_document(log, blobs, submission, workspace=workspace, source="t", key=key)
    assert (again.sequence, again.is_new) == (addition.sequence, False)


async def test_the_log_tells_nobody_what_another_workspace_holds(
    rival: JetStreamContext, query: JetStreamContext
) -> None:
    text = "Nobody else knows this sentence. " * 10_000
    name = document_id(text)
    addition = await add_document(
        NatsLog(query),
        NatsBlobs(query),
        DocumentDraft.of(Submission(text=text)),
        workspace="a",
        source="t",
    )
    id = event_id(f"a/{name}/0/{sha256(text)}", "DocumentAdded")
    assert addition.is_new
    assert not any(await occupy(rival, subjects.subject("a", name, "DocumentAdded"), id))
    for place in (f"a.{sha256(text)}", sha256(text)):
        with pytest.raises(NatsError):
            await rival.publish(f"blob.{place}.0", b"other", stream="KB_BLOBS", timeout=1)
    own_text = await rival.publish(f"blob.b.{sha256(text)}.0", text.encode(), stream="KB_BLOBS")
    assert own_text.seq


async def test_many_deletions_and_additions_at_once_against_a_rival(
    rival: JetStreamContext, query: JetStreamContext
) -> None:
    log = NatsLog(query)
    blobs = NatsBlobs(query)
    names = [f"d{number}" for number in range(20)]
    first = await log.last_sequence()
    guesses = [
        event_id(f"many/{name}/{first + n}", "DocumentDeleted")
        for name in names
        for n in range(1, 21)
    ]
    await occupy(rival, HARMLESS, *guesses)
    adding = (
        add_document(
            log, blobs, DocumentDraft.of(Submission(text=n, id=n)), workspace="many", source="t"
        )
        for n in names
    )
    await asyncio.gather(*adding)
    await asyncio.gather(
        *(delete_document(log, workspace="many", id=name, source="t") for name in names)
    )
    assert [await current_content_hash(log, workspace="many", id=name) for name in names] == [
        None
    ] * 20


async def test_bytes_that_a_publisher_of_the_same_workspace_put_first_stop_nothing(
    rival: JetStreamContext, query: JetStreamContext
) -> None:
    text = "A text whose place in workspace b holds other bytes. " * 9_000
    await rival.publish(f"blob.b.{sha256(text)}.0", b"other bytes", stream="KB_BLOBS")
    log = NatsLog(query)
    blobs = NatsBlobs(query)
    await add_document(
        log, blobs, DocumentDraft.of(Submission(text=text, id="long")), workspace="b", source="t"
    )
    ref = await blobs.put(EncodedText.of(text), "b")
    assert ref.key.startswith(f"b.{sha256(text)}-")
    assert await blobs.get(ref) == text


async def test_two_publishers_that_number_from_1_with_ids_of_their_own_lose_nothing(
    bus: DeployedBus, rival: JetStreamContext
) -> None:
    """As docs/publish-events.md says: the id on the wire is a hash over the subject and a secret of
    the publisher.
    """
    client = await opened(bus, "honest")
    honest = client.jetstream()
    places: list[int] = []
    for number in map(str, range(1, 6)):
        for publisher, name, workspace in ((rival, "rival", "b"), (honest, "honest", "c")):
            subject = subjects.subject(workspace, "numbered", "DocumentAdded")
            headers = {"Nats-Msg-Id": message_id(bus.passwords[name].encode(), subject, number)}
            ack = await publisher.publish(subject, b"{}", stream="KB_EVENTS", headers=headers)
            assert not ack.duplicate
            places.append(ack.seq)
    assert len(set(places)) == 10
    await client.close()


async def test_what_a_service_says_twice_is_once(bus: DeployedBus) -> None:
    """A service may read neither the log nor what it has said itself, and knows its own ids."""
    envelope = sealed(chunked(document(), "text"), id="once", workspace="a")
    assert isinstance(envelope.data, ChunksCreated)
    async with (
        connected(bus.url("chunker"), name="one") as first,
        connected(bus.url("chunker"), name="two") as second,
    ):
        logs = [NatsLog(client.jetstream(prefix=IMPORTED_API)) for client in (first, second)]
        places = [await log.publish(envelope) for log in (*logs, *logs)]
    assert len(set(places)) == 1


async def test_a_publisher_does_not_compute_the_ids_of_a_service(
    bus: DeployedBus, query: JetStreamContext
) -> None:
    client = await opened(bus, "rival")
    mine = NatsLog(client.jetstream())
    theirs = NatsLog(query)
    assert mine.key and theirs.key
    assert mine.key != theirs.key
    await client.close()


async def test_a_bound_publisher_reaches_no_text_of_another_workspace(
    bus: DeployedBus, rival: JetStreamContext
) -> None:
    async with connected(bus.operator, name="test") as operator:
        before = (await operator.jetstream().stream_info("KB_BLOBS")).state.last_seq
        for place in ("a.0", "c.0", "0" * 64, "probe"):
            with pytest.raises((NatsError, APIError)):
                await rival.publish(f"blob.{place}.0", b"x", stream="KB_BLOBS", timeout=1)
        assert (await operator.jetstream().stream_info("KB_BLOBS")).state.last_seq == before
