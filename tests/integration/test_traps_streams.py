"""The traps of streams and publishing, shown on the pinned library and server: an upgrade that
changes one is noticed.

The traps are numbered T1 to T20 over all files test_traps_*. What guards us against them:
test_traps_guards.py.
"""

import os
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from faststream.nats import JStream, NatsBroker, PullSub
from nats.aio.client import Client
from nats.errors import BadSubjectError
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, PersistMode, RetentionPolicy, StoreCompression, StreamConfig
from nats.js.errors import APIError, BadRequestError, NoStreamResponseError, ServiceUnavailableError

from tests.support.freezing import freeze
from tests.support.nats_server import BusServer, RunningNats, connected, reconnected

pytestmark = pytest.mark.trap

FULL = 10077


@pytest_asyncio.fixture
async def client(server: BusServer) -> AsyncIterator[Client]:
    async with connected(server) as connection:
        yield connection


@pytest.fixture
def jetstream(client: Client) -> JetStreamContext:
    return client.jetstream(timeout=5)


async def add_log(jetstream: JetStreamContext, **settings: object) -> None:
    await jetstream.add_stream(StreamConfig(name="LOG", subjects=["log.>"]).evolve(**settings))


async def start_service(url: str, stream: JStream | str) -> None:
    """Start and stop a service with one subscriber of that stream."""
    broker = NatsBroker(url, logger=None)

    @broker.subscriber("log.a", stream=stream, durable="reader", pull_sub=PullSub())
    async def handle(body: bytes) -> None: ...

    try:
        await broker.start()
    finally:
        await broker.stop()


async def settings_kept(
    server: BusServer, jetstream: JetStreamContext, stream: JStream | str
) -> bool:
    await add_log(
        jetstream,
        duplicate_window=3600.0,
        compression=StoreCompression.S2,
        metadata={"owner": "us"},
    )
    await start_service(server.url, stream)
    config = (await jetstream.stream_info("LOG")).config
    metadata = config.metadata or {}
    settings = (config.duplicate_window, str(config.compression), metadata.get("owner"))
    if settings == (3600.0, "s2", "us"):
        return True
    assert settings == (120.0, "none", None)
    return False


async def test_a_stream_given_by_name_loses_its_settings_when_a_service_starts(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T1: a plain name means declare=True, which updates the stream to FastStream's defaults. Rule:
    never a name.
    """
    assert not await settings_kept(server, jetstream, "LOG")


async def test_a_stream_given_with_declare_false_keeps_its_settings(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T1, the rule: services declare nothing."""
    assert await settings_kept(server, jetstream, JStream("LOG", declare=False))


async def test_a_stream_that_is_missing_is_created_silently_by_name(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T1: the service starts as if all were well, on a stream nobody declared."""
    await start_service(server.url, "LOG")
    assert (await jetstream.stream_info("LOG")).config.duplicate_window == 120.0


async def test_deny_delete_turns_the_silent_rewriting_into_an_error(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    """T1: the settings FastStream would write cannot be written to a stream that denies
    deletion.
    """
    await add_log(jetstream, deny_delete=True, duplicate_window=3600.0)
    with pytest.raises(APIError) as error:
        await start_service(server.url, "LOG")
    assert error.value.err_code == 10052
    assert (await jetstream.stream_info("LOG")).config.duplicate_window == 3600.0


async def test_interest_retention_empties_a_stream_without_consumers_at_once(
    jetstream: JetStreamContext,
) -> None:
    """T10: even where deleting and purging are denied. Rule: the retention is checked before a
    service starts.
    """
    await add_log(jetstream, deny_delete=True, deny_purge=True)
    for _ in range(10):
        await jetstream.publish("log.a", b"event")
    config = (await jetstream.stream_info("LOG")).config
    await jetstream.update_stream(config.evolve(retention=RetentionPolicy.INTEREST))
    assert (await jetstream.stream_info("LOG")).state.messages == 0


async def test_discard_old_evicts_events_it_has_acknowledged(jetstream: JetStreamContext) -> None:
    """T11: every publish succeeds and the oldest events are gone. Rule: discard new."""
    await add_log(jetstream, max_bytes=50_000, discard=DiscardPolicy.OLD)
    acknowledgements = [await jetstream.publish("log.a", bytes(1000)) for _ in range(100)]
    state = (await jetstream.stream_info("LOG")).state
    assert len(acknowledgements) == 100
    assert state.messages < 60
    assert state.first_seq > 1


async def test_discard_new_refuses_what_does_not_fit_and_keeps_the_rest(
    jetstream: JetStreamContext,
) -> None:
    """T11, the rule: the publisher is told, nothing stored is touched."""
    await add_log(jetstream, max_bytes=50_000, discard=DiscardPolicy.NEW)
    count = 0
    with pytest.raises((ServiceUnavailableError, BadRequestError)) as error:
        for _ in range(100):
            await jetstream.publish("log.a", bytes(1000))
            count += 1
    state = (await jetstream.stream_info("LOG")).state
    assert error.value.err_code == FULL
    assert (state.messages, state.first_seq) == (count, 1)


@pytest.mark.own_nats
async def test_a_flipped_bit_silently_cuts_the_log_and_its_sequences_are_given_out_again(
    server: RunningNats, client: Client, jetstream: JetStreamContext
) -> None:
    """T12: after a crash the server rebuilds its index up to the first broken record, and says
    nothing of the rest.

    Rule: checkpoints and deduplication go by event id, never by sequence alone; whoever compares a
    remembered sequence with the log's last one notices the cut.
    """
    await add_log(jetstream)
    for number in range(200):
        await jetstream.publish("log.a", b"event %04d" % number)
    await server.kill()
    (block,) = (server.folder / "jetstream").rglob("*.blk")
    data = bytearray(block.read_bytes())
    data[data.index(b"event 0100")] ^= 1
    block.write_bytes(data)
    log_before = server.process.log.stat().st_size
    await server.restart()
    await reconnected(client)
    state = (await jetstream.stream_info("LOG")).state
    assert (state.messages, state.last_seq, state.lost) == (100, 100, None)
    complaints = server.process.log.read_bytes()[log_before:]
    assert b"[ERR]" not in complaints and b"[WRN]" not in complaints
    assert (await jetstream.publish("log.a", b"another event")).seq == 101


async def kill_and_restart(server: RunningNats, client: Client) -> None:
    # Not `server.kill()`: the kill follows the acknowledgement without a turn of the event loop
    # between them.
    os.kill(server.process.pid, signal.SIGKILL)
    await server.process.wait()
    await server.restart()
    await reconnected(client)


async def last_sequence(jetstream: JetStreamContext) -> int:
    return (await jetstream.stream_info("LOG")).state.last_seq


@pytest.mark.own_nats
async def test_async_persistence_loses_acknowledged_events_on_kill(
    server: RunningNats, client: Client, jetstream: JetStreamContext
) -> None:
    """T13: the acknowledgement comes before the write. Rule: never on the log. Asked again as a
    kill may come late.
    """
    await add_log(jetstream, persist_mode=PersistMode.ASYNC)
    for _ in range(20):
        sequence = (await jetstream.publish("log.a", b"event")).seq
        await kill_and_restart(server, client)
        if await last_sequence(jetstream) < sequence:
            return
    pytest.fail(
        "20 kills right after an acknowledgement lost nothing: async persistence has changed"
    )


@pytest.mark.own_nats
async def test_ordinary_persistence_keeps_every_acknowledged_event_over_the_same_kill(
    server: RunningNats, client: Client, jetstream: JetStreamContext
) -> None:
    """T13, the rule: the default mode writes before it acknowledges."""
    await add_log(jetstream)
    for _ in range(5):
        sequence = (await jetstream.publish("log.a", b"event")).seq
        await kill_and_restart(server, client)
        assert await last_sequence(jetstream) == sequence


@pytest.mark.own_nats
async def test_a_pending_asynchronous_publish_is_never_answered_when_the_server_dies(
    server: RunningNats, client: Client, jetstream: JetStreamContext
) -> None:
    """T15: its future neither fails nor resolves. Rule: a plain publish with a timeout, again with
    the same id.
    """
    await add_log(jetstream)
    freeze(server.process.pid)
    future = await jetstream.publish_async("log.a", b"event")
    await server.kill()
    await server.restart()
    await reconnected(client)
    await jetstream.publish("log.a", b"a later one is answered")
    assert not future.done()
    assert jetstream.publish_async_pending() == 1


async def test_a_message_id_is_known_to_the_whole_stream_and_not_to_its_subject(
    jetstream: JetStreamContext,
) -> None:
    """T16: two events with one id on two subjects are one. Rule: the id is the event's own, derived
    from its cause.
    """
    await add_log(jetstream)
    first = await jetstream.publish("log.a", b"one", headers={"Nats-Msg-Id": "1"})
    second = await jetstream.publish("log.b", b"two", headers={"Nats-Msg-Id": "1"})
    assert (second.duplicate, second.seq) == (True, first.seq)
    assert (await jetstream.stream_info("LOG")).state.messages == 1


@pytest.mark.parametrize("subject", ["log.*.a", "log.>", "log.straße"])
async def test_wildcards_and_letters_are_stored_as_literal_subjects(
    jetstream: JetStreamContext, subject: str
) -> None:
    """T18: a document named `*` would be read by no filter that means it. Rule: tokens are
    encoded.
    """
    await add_log(jetstream)
    sequence = (await jetstream.publish(subject, b"event")).seq
    assert (await jetstream.get_msg("LOG", sequence)).subject == subject


async def test_blanks_in_subjects_and_empty_tokens_are_errors_of_two_kinds(
    jetstream: JetStreamContext,
) -> None:
    """T18: one is refused by the client, the other looks like a stream that is missing. Rule:
    tokens are encoded.
    """
    await add_log(jetstream)
    for blank in " \t\r\n":
        with pytest.raises(BadSubjectError):
            await jetstream.publish(f"log.a{blank}b", b"event")
    with pytest.raises(NoStreamResponseError):
        await jetstream.publish("log..b", b"event")
