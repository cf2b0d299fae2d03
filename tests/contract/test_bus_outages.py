"""The bus on a server that is full, silent or gone: never a lost event, never an endless wait."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from nats.aio.client import Client

from contracts.events import DocumentDeleted
from contracts.topology import STREAMS
from runtime.bus import topology
from runtime.bus.encoded_text import EncodedText
from runtime.bus.nats import blobs
from runtime.bus.nats import log as nats_log
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.errors import ConfigurationError, Unavailable
from tests.support.buses import NatsBus, bound, nats_bus, numbered
from tests.support.events import added, sealed
from tests.support.freezing import freeze
from tests.support.nats_accounts import nats_account
from tests.support.nats_server import RunningNats, connected, reconnected, running_nats
from tests.support.shared_servers import SharedServers


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[RunningNats]:
    async with running_nats(tmp_path) as running:
        yield running


@pytest_asyncio.fixture
async def client(server: RunningNats) -> AsyncIterator[Client]:
    async with connected(server) as client:
        yield client


@pytest_asyncio.fixture
async def bus(client: Client) -> NatsBus:
    """Prepared, and left as it is: the server may be gone when the test ends."""
    jetstream = client.jetstream(timeout=1)
    await topology.apply(jetstream)
    return await bound(jetstream)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds instead of half a minute."""
    monkeypatch.setattr(nats_log, "PUBLISH_TIMEOUT", 0.3)
    monkeypatch.setattr(nats_log, "PUBLISH_PATIENCE", 1.0)
    monkeypatch.setattr(blobs, "REQUEST_TIMEOUT", 0.3)


async def limited(bus: NatsBus, name: str, max_bytes: int) -> None:
    """The stream takes no more than this."""
    config = topology.stream_config(next(stream for stream in STREAMS if stream.name == name))
    await bus.jetstream.update_stream(config.evolve(max_bytes=max_bytes))


async def test_a_full_log_refuses_new_events_and_keeps_the_old_ones(bus: NatsBus) -> None:
    await limited(bus, "KB_EVENTS", 50_000)
    sequence = 0
    with pytest.raises(Unavailable, match="KB_EVENTS is full") as error:
        for number in range(1, 1000):
            sequence = await bus.log.publish(
                sealed(added("d", f"{number} " + "x" * 5_000), id=f"event-{number}")
            )
    assert error.value.retry_after is not None
    assert error.value.retry_after > 0
    assert sequence > 3
    state = (await bus.jetstream.stream_info("KB_EVENTS")).state
    assert (state.first_seq, state.messages) == (1, sequence)
    await limited(bus, "KB_EVENTS", -1)
    assert await bus.log.publish(sealed(added("d", "at last"), id="last")) == sequence + 1


async def test_a_full_shelf_refuses_new_texts_and_keeps_the_old_ones(bus: NatsBus) -> None:
    await limited(bus, "KB_BLOBS", 1_000_000)
    ref = await bus.blobs.put(EncodedText.of("kept"), "w")
    with pytest.raises(Unavailable, match="KB_BLOBS does not take the text") as error:
        await bus.blobs.put(
            EncodedText.of("\n".join(str(number * 7919) for number in range(500_000))), "w"
        )
    assert error.value.retry_after is not None
    assert await bus.blobs.get(ref) == "kept"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_server_that_does_not_answer_is_unavailable_within_the_patience(
    bus: NatsBus, server: RunningNats, client: Client, way: signal.Signals
) -> None:
    ref = await bus.blobs.put(EncodedText.of("text"), "w")
    if way == signal.SIGKILL:
        server.process.signal(way)
        await server.process.wait()
    else:
        freeze(server.process.pid)
    try:
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: bus.log.publish(numbered(1)),
            lambda: bus.log.newest("w", "d", "DocumentAdded"),
            bus.log.last_sequence,
            bus.log.handled,
            lambda: bus.blobs.put(EncodedText.of("another"), "w"),
            lambda: bus.blobs.put(EncodedText.of("x" * 3_000_000), "w"),
            lambda: bus.blobs.get(ref),
            bus.pointers.read,
            bus.pointers.live,
            lambda: bus.values.read("key"),
            lambda: bus.values.write("key", b"value", 0),
            bus.values.keys,
            lambda: anext(aiter(bus.log.read())),
        ]
        for call in calls:
            async with asyncio.timeout(8):
                with pytest.raises(Unavailable):
                    await call()
    finally:
        server.process.signal(signal.SIGCONT)
        if not server.process.alive:
            await server.restart()
        await reconnected(client)


@pytest.mark.usefixtures("impatient")
async def test_a_client_without_a_connection_says_that_the_bus_is_unavailable(
    bus: NatsBus, client: Client
) -> None:
    await client.close()
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: bus.log.publish(numbered(1)),
        bus.log.last_sequence,
        lambda: bus.blobs.put(EncodedText.of("text"), "w"),
        bus.pointers.live,
        lambda: bus.values.read("key"),
        lambda: bus.values.write("key", b"value", 0),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            await call()


async def test_an_event_published_while_the_server_restarts_is_appended_once(
    bus: NatsBus, server: RunningNats, client: Client
) -> None:
    await bus.log.publish(numbered(1))
    await server.kill()
    publishing = asyncio.create_task(bus.log.publish(numbered(2)))
    await server.restart()
    await reconnected(client)
    assert await asyncio.wait_for(publishing, 20) == 2
    assert await bus.log.publish(numbered(2)) == 2
    assert await bus.log.last_sequence() == 2


async def test_the_newest_event_stays_the_newest_when_older_ones_are_delivered_again(
    bus: NatsBus,
) -> None:
    for number in (1, 2):
        await bus.log.publish(numbered(number))
    await bus.log.publish(sealed(DocumentDeleted(document_id="d"), id="deletion"))
    await bus.log.publish(numbered(3))
    await bus.log.publish(numbered(1))
    reader = await bus.jetstream.pull_subscribe(
        "kb.v1.w.d.DocumentAdded", durable="chunker", stream="KB_EVENTS"
    )
    for message in await reader.fetch(2):
        await message.nak()
    (again,) = await reader.fetch(1)
    assert again.metadata.sequence.stream in {1, 2, 4}
    newest_event = await bus.log.newest("w", "d", "DocumentAdded")
    assert newest_event is not None
    assert newest_event.sequence == 4


async def test_a_bus_that_was_never_set_up_is_a_matter_of_configuration(client: Client) -> None:
    with pytest.raises(ConfigurationError, match="topology apply"):
        await NatsLiveGenerations.bind(client.jetstream(timeout=2))
    with pytest.raises(ConfigurationError, match="KB_LIMITS does not exist"):
        await NatsSharedValues.bind(client.jetstream(timeout=2))


async def test_shared_values_that_were_removed_are_as_good_as_silent(bus: NatsBus) -> None:
    await bus.values.write("key", b"value", 0)
    await bus.jetstream.delete_stream("KV_KB_LIMITS")
    assert await bus.values.read("key") == (b"", 0)
    for call in (lambda: bus.values.write("key", b"", 0), bus.values.keys):
        async with asyncio.timeout(8):
            with pytest.raises(Unavailable):
                await call()


async def test_a_log_that_was_never_set_up_takes_nothing(client: Client, impatient: None) -> None:
    with pytest.raises(Unavailable):
        await nats_log.NatsLog(client.jetstream(timeout=1)).publish(numbered(1))
    with pytest.raises(Unavailable):
        await NatsBlobs(client.jetstream(timeout=1)).put(EncodedText.of("text"), "w")


async def test_an_account_of_the_shared_server_is_empty_and_is_left_empty(
    shared_servers: SharedServers,
) -> None:
    async with nats_account(shared_servers) as account, connected(account) as client:
        assert await client.jetstream(timeout=5).streams_info() == []
        bus = await nats_bus(client.jetstream(timeout=5))
        await bus.log.publish(numbered(1))
    async with connected(account) as client:
        assert await client.jetstream(timeout=5).streams_info() == []
