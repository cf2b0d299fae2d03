"""What services and publishers do together on the bus, each as its own user."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import (
    BranchCreated,
    BranchSettings,
    BudgetSet,
    DocumentAdded,
    RetryRequested,
)
from contracts.ids import sha256
from contracts.registry import service_of
from contracts.topology import CONSUMERS, REQUESTS_BUCKET
from operations import bus_accounts
from operations.bus_accounts import IMPORTED_API
from operations.command_bus import connect_bus
from publishing.branch_copies import BranchFollower
from publishing.documents import added_with_key
from publishing.draft import DocumentDraft, Submission
from publishing.retries import request_retry
from runtime.branches import branch_settings
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
from runtime.settings import Settings
from services.gateway.documents.adding import (
    DocumentPublisher,
    IngestRequest,
    publish_drafts,
)
from services.gateway.documents.request_records import RequestRecords
from services.gateway.promoted_branches import PromotedBranches
from tests.support.bus_users import declared_bus, opened
from tests.support.deployed_bus import FILES, DeployedBus, deployed_bus
from tests.support.events import added, sealed
from tests.support.nats_server import until
from tests.support.services import service

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bus(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DeployedBus]:
    async with declared_bus(tmp_path_factory.mktemp("bus")) as bus:
        yield bus


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
    draft = DocumentDraft.of(Submission(text="a"))
    requests = RequestRecords(await NatsSharedValues.bind(query_stream, REQUESTS_BUCKET))
    publisher = DocumentPublisher(log, NatsBlobs(query_stream), "w", requests)
    request = IngestRequest.of("insert", "k", "a")
    additions = [await publish_drafts(publisher, request, [draft]) for _ in range(2)]
    assert additions[0] == additions[1]
    assert await added_with_key(log, draft, workspace="w", key=f"{request.key}/0")
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


@pytest.mark.parametrize("user", ["query", "gateway"])
async def test_who_has_the_api_copies_into_branches_and_the_extractor_knows_them(
    bus: DeployedBus, user: str
) -> None:
    origin = f"of-{user}"
    branch = f"of-{user}..b"
    created = BranchCreated(name="b", origin=origin, settings=BranchSettings(prompt="{form}"))
    async with connected(bus.operator, name="test") as operator:
        await NatsLog(operator.jetstream()).publish(sealed(created, workspace=branch))
    client, extractor = [await opened(bus, name) for name in (user, "extractor")]
    stream = client.jetstream(prefix=IMPORTED_API)
    log, blobs = NatsLog(stream), NatsBlobs(stream)
    ref = await blobs.put(EncodedText.of("long"), origin)
    await log.publish(sealed(DocumentAdded(document_id="d", blob=ref), workspace=origin))
    await BranchFollower(log, blobs).follow()
    assert await log.newest(branch, "d", "DocumentAdded") is not None
    assert await PromotedBranches(log).answering(origin) == origin
    extractor_log = NatsLog(extractor.jetstream(prefix=IMPORTED_API))
    assert await branch_settings(extractor_log, branch) == created.settings
    for connection in (client, extractor):
        await connection.close()


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
        assert await feed.last_sequence(subject) >= sequence
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


async def test_commands_call_jetstream_as_the_settings_say(bus: DeployedBus) -> None:
    url = bus.url("query")
    settings = Settings(nats_url=url, nats_api_prefix=bus_accounts.IMPORTED_API)
    async with connect_bus(settings.nats_url) as jetstream:
        assert await NatsLog(jetstream).newest("w", "nothing", "DocumentAdded") is None
    async with connect_bus(url) as jetstream:
        with pytest.raises(ConfigurationError, match="NATS_API_PREFIX"):
            await NatsLog(jetstream).newest("w", "nothing", "DocumentAdded")


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
