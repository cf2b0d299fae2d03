"""How our runtime keeps clear of the traps of consuming: a real service process on a real server.

T1 declared streams, T2 termination, T3 bare naks, T6 and T7 prefetch, T8 silence, T17 batches. T4
and T5 need no guard here: the edge publishes what a handler returns, and a handler that returns
nothing publishes nothing (tested below). T14 and T20 stand with the declarations and names in
test_traps_declarations.py. T19 concerns permissions of accounts, which the embedded server has none
of.
"""

import asyncio
import signal
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.topology import CONSUMERS, STREAMS
from runtime.bus.nats.log import NatsLog
from tests.support.nats_server import BusServer, RunningNats, until
from tests.support.trial_log import until_acknowledged, until_answered
from tests.support.trial_service import document, health, trial_service


async def count(jetstream: JetStreamContext, stream: str) -> int:
    return (await jetstream.stream_info(stream)).state.messages


async def declared(jetstream: JetStreamContext) -> list[object]:
    streams = [(await jetstream.stream_info(stream.name)).config for stream in STREAMS]
    durables = [
        (await jetstream.consumer_info(durable.stream, durable.name)).config
        for durable in CONSUMERS
    ]
    return [*streams, *durables]


async def test_a_service_leaves_streams_and_durables_as_they_were(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T1: compared field by field after a service started, worked and ended."""
    before = await declared(jetstream)
    async with trial_service(server.url, tmp_path) as service:
        await NatsLog(jetstream).publish(document("a"))
        await until_answered(jetstream, "a")
        service.signal(signal.SIGTERM)
        assert await service.wait() == 0
    assert await declared(jetstream) == before


async def test_what_may_succeed_later_comes_again_after_a_delay(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T2 and T3: neither dropped nor delivered again at once."""
    async with trial_service(server.url, tmp_path):
        await NatsLog(jetstream).publish(document("later"))
        answer = await until_answered(jetstream, "later")
        message = await jetstream.get_last_msg(
            "KB_EVENTS", subjects.subject("trial", "later", "DocumentAdded")
        )
        assert message.time and answer.time
        assert (answer.time - message.time).total_seconds() > 0.7
        assert await count(jetstream, "KB_ADVISORIES") == 0


async def test_an_error_nobody_foresaw_neither_drops_the_event_nor_spins(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T2 and T3: it waits for its next delivery, unacknowledged, while others are handled."""
    async with trial_service(server.url, tmp_path):
        log = NatsLog(jetstream)
        await log.publish(document("bug"))
        await log.publish(document("a"))
        await until_answered(jetstream, "a")
        info = await jetstream.consumer_info("KB_EVENTS", "chunker")
        assert info.num_ack_pending == 1
        assert info.delivered.consumer_seq <= 4
        assert await count(jetstream, "KB_ADVISORIES") == 0


async def test_poison_is_set_aside_once_with_its_reason_and_never_terminated(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T2: the loss of an event is an event in the log and a copy in KB_DEAD."""
    async with trial_service(server.url, tmp_path):
        await NatsLog(jetstream).publish(document("poison"))
        await until_answered(jetstream, "poison", "StageFailed")
        await until_acknowledged(jetstream, "chunker")
        dead = await jetstream.get_last_msg("KB_DEAD", "dead.chunker")
        assert dead.headers is not None and dead.headers["Kb-Reason"] == "Poison: it is poison"
        assert await count(jetstream, "KB_DEAD") == 1
        assert await count(jetstream, "KB_ADVISORIES") == 0


async def test_a_service_takes_only_what_it_works_on(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T6 and T7: four workers hold four messages, and the other sixteen are free for a replica."""
    (tmp_path / "hold").touch()
    async with trial_service(server.url, tmp_path, workers=4):
        for number in range(20):
            await NatsLog(jetstream).publish(document(f"doc-{number}"))

        async def all_busy() -> bool:
            # Without a waiting pull the server hands out nothing more: this is the final state, not
            # a moment of it.
            info = await jetstream.consumer_info("KB_EVENTS", "chunker")
            return info.num_ack_pending >= 4 and info.num_waiting == 0

        await until(all_busy, "four busy workers, and nobody who asks for more")
        # A pull that ends just as the server answers it leaves a message behind, which comes again
        # later.
        assert (await jetstream.consumer_info("KB_EVENTS", "chunker")).num_ack_pending <= 8
        (tmp_path / "hold").unlink()
        await until_acknowledged(jetstream, "chunker")
    assert await count(jetstream, "KB_EVENTS") == 40


async def test_workers_whose_messages_come_at_the_same_moment_handle_them_side_by_side(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """Messages of several fetches are several batches: one worker's batch would be handled one
    after the other.
    """
    (tmp_path / "hold").touch()
    marker_files = [tmp_path / f"begun-doc-{number}" for number in range(16)]
    for number in range(16):
        await NatsLog(jetstream).publish(document(f"doc-{number}"))
    async with trial_service(server.url, tmp_path, workers=16):

        async def all_begun() -> bool:
            return all(
                await asyncio.gather(*(asyncio.to_thread(file.exists) for file in marker_files))
            )

        await until(all_begun, "sixteen handlers at work", seconds=60)
        (tmp_path / "hold").unlink()
        await until_acknowledged(jetstream, "chunker")


async def test_a_deleted_durable_makes_the_service_unready_but_not_dead(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T8: nothing is handled any more, and the health page says so."""
    async with trial_service(server.url, tmp_path) as service:
        await jetstream.delete_consumer("KB_EVENTS", "chunker")

        async def unready() -> bool:
            return await health(service, "ready") == 503

        await until(unready, "503 from the health page")
        assert await health(service, "live") == 200


async def test_a_connection_closed_for_good_ends_the_process(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T8: whatever supervises it starts it again; the event it held is delivered then."""
    async with trial_service(server.url, tmp_path) as service:
        await NatsLog(jetstream).publish(document("hang-up"))

        async def ended() -> bool:
            return not service.alive

        await until(ended, "the end of the process")
        assert await service.wait() == 1


@pytest.mark.own_nats
async def test_a_service_outlives_its_server_and_goes_on_when_it_is_back(
    server: RunningNats, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T8: it reconnects for ever and is unready meanwhile."""
    async with trial_service(server.url, tmp_path) as service:
        await server.kill()

        async def unready() -> bool:
            return await health(service, "ready") == 503

        await until(unready, "503 while the server is down")
        await server.restart()
        await NatsLog(jetstream).publish(document("a"))
        await until_answered(jetstream, "a")
        assert await health(service, "ready") == 200


@pytest.mark.own_nats
async def test_a_service_ends_when_told_to_even_while_the_server_is_down(
    server: RunningNats, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T8: stopping must not wait for a server that may never come back."""
    async with trial_service(server.url, tmp_path) as service:
        await server.kill()
        service.signal(signal.SIGTERM)

        async def ended() -> bool:
            return not service.alive

        await until(ended, "the end of the process")
        assert await service.wait() == 0


async def test_what_a_service_works_on_when_told_to_end_is_finished_and_acknowledged(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T7: the event in flight is not left to expire, and nothing waits behind it inside the
    process.
    """
    async with trial_service(server.url, tmp_path) as service:
        await NatsLog(jetstream).publish(document("slow"))
        await NatsLog(jetstream).publish(document("next"))

        async def taken() -> bool:
            return (await jetstream.consumer_info("KB_EVENTS", "chunker")).num_ack_pending == 1

        await until(taken, "a handler at work")
        service.signal(signal.SIGTERM)
        assert await service.wait() == 0
    info = await jetstream.consumer_info("KB_EVENTS", "chunker")
    assert (info.num_ack_pending, info.ack_floor.stream_seq, info.num_pending) == (0, 1, 1)
    assert (await until_answered(jetstream, "slow")).seq == 3


async def test_one_undecodable_body_does_not_keep_its_siblings_from_the_handler(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T17: the batch is decoded message by message; the bad one is set aside, the others are
    handled at once.
    """
    log = NatsLog(jetstream)
    await log.publish(document("a"))
    await jetstream.publish(subjects.subject("trial", "b", "DocumentAdded"), b"\xff not an event")
    await log.publish(document("poison"))
    await log.publish(document("c"))
    async with trial_service(server.url, tmp_path, durable="query-status"):
        await until_answered(jetstream, "a")
        await until_answered(jetstream, "c")
        await until_acknowledged(jetstream, "query-status")
    assert await count(jetstream, "KB_DEAD") == 2
    assert await count(jetstream, "KB_ADVISORIES") == 0


async def test_a_handler_without_events_publishes_nothing(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """T5: the consumer of all events sees the answer too, and answers it with nothing."""
    async with trial_service(server.url, tmp_path, durable="query-status"):
        await NatsLog(jetstream).publish(document("a"))
        await until_answered(jetstream, "a")
        await until_acknowledged(jetstream, "query-status")
    assert await count(jetstream, "KB_EVENTS") == 2
