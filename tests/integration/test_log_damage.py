"""A log that lost messages is noticed by every service, and nothing is written to it until an
operator has decided.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.js import JetStreamContext

from contracts import subjects
from contracts.graph import Partition
from contracts.topology import CHECKPOINTS_BUCKET
from operations import checkpoints
from runtime.bus import topology
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.write_status import WriteStatus
from runtime.errors import InvalidInput, LogDamaged, Unavailable
from runtime.projections.integrity import Integrity
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.port import Rows, Table
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.port import Checkpoint
from tests.support.damage import cut_the_tail, flip_a_bit
from tests.support.nats_server import RunningNats, connected, reconnected, running_nats, until
from tests.support.services import page
from tests.support.trial_service import document, trial_service

EVENTS = 60


@dataclass
class Bus:
    """A real server, a connection to it, and a document store beside it."""

    server: RunningNats
    client: Client
    rows: Rows

    @property
    def jetstream(self) -> JetStreamContext:
        """The bus as services see it."""
        return self.client.jetstream()

    async def service(self, stage: str = "query") -> Integrity:
        """What a service that starts now knows; only the query service has the mark outside of the
        bus.
        """
        pointers = await NatsLiveGenerations.bind(self.jetstream)
        values = await self.values()
        keeper = self.rows if stage == "query" else None
        service = Integrity(
            stage, self.jetstream, pointers, values, WriteStatus(is_watched=True), mark_store=keeper
        )
        await service.look()
        return service

    async def values(self) -> NatsSharedValues:
        """The bucket of marks, notes and verdicts."""
        return await NatsSharedValues.bind(self.jetstream, CHECKPOINTS_BUCKET)

    async def end(self) -> int:
        """The last sequence of the log."""
        return await NatsLog(self.jetstream).last_sequence()

    async def damaged(self, damage: Callable[[RunningNats], None]) -> None:
        """Kill the server, damage its files, start it again."""
        await self.server.kill()
        damage(self.server)
        await self.server.restart()
        await reconnected(self.client)


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncGenerator[Bus]:
    async with _bus(tmp_path) as running:
        yield running


@asynccontextmanager
async def _bus(folder: Path) -> AsyncGenerator[Bus]:
    rows = SqliteRows(folder / "rows.db")
    await rows.prepare()
    try:
        async with running_nats(folder) as server, connected(server) as client:
            await topology.apply(client.jetstream())
            yield Bus(server, client, rows)
    finally:
        await rows.close()


async def fill(log: NatsLog, count: int = EVENTS, name: str = "doc") -> None:
    """Write that many events."""
    for number in range(count):
        await log.publish(document(f"{name}-{number}"))


@pytest.mark.parametrize("damage", [flip_a_bit, cut_the_tail])
async def test_a_shorter_log_is_not_written_to(
    bus: Bus, damage: Callable[[RunningNats], None]
) -> None:
    await fill(NatsLog(bus.jetstream))
    running = await bus.service()
    assert not running.writes.refusal
    await bus.damaged(damage)
    last_sequence = await bus.end()
    assert last_sequence < EVENTS, "the server says nothing of what it lost"
    for service in (running, await bus.service(), await bus.service("chunker")):
        await service.look()
        assert (
            f"it ends at sequence {last_sequence}, and had reached {EVENTS}"
            in service.writes.refusal
        )
        with pytest.raises(LogDamaged, match="accept-loss"):
            await NatsLog(bus.jetstream, service.writes).publish(document("new"))
    assert await bus.end() == last_sequence


async def test_what_was_written_since_the_last_look_counts_too(bus: Bus) -> None:
    service = await bus.service()
    await fill(NatsLog(bus.jetstream, service.writes))
    await bus.damaged(cut_the_tail)
    await service.look()
    assert "had reached" in service.writes.refusal


async def test_a_log_that_grew_again_is_told_by_its_message(bus: Bus) -> None:
    await fill(NatsLog(bus.jetstream))
    await bus.service()
    await bus.damaged(cut_the_tail)
    foreign = EVENTS - await bus.end() + 5
    await fill(NatsLog(bus.jetstream), foreign, "foreign")
    assert "another message stands at sequence 60" in (await bus.service()).writes.refusal
    assert "another message" in (await bus.service("chunker")).writes.refusal, (
        "the others are told by the bus"
    )
    # What was found stays found, also when nothing shows any more but the verdict itself.
    assert "another message" in (await bus.service()).writes.refusal


async def test_a_document_beyond_the_end_is_noticed_without_any_mark(bus: Bus) -> None:
    await fill(NatsLog(bus.jetstream), 3)
    await bus.rows.put(
        Table("documents", Partition("w", 1)), {"d": {"version": 9, "status": "processed"}}
    )
    assert (
        "the document store knows sequence 9, and the log ends at 3"
        in (await bus.service()).writes.refusal
    )


async def test_a_checkpoint_of_another_log_is_noticed(bus: Bus) -> None:
    await fill(NatsLog(bus.jetstream), 3)
    store = RowCheckpoints(bus.rows, "graph")
    await store.put_checkpoint(1, Checkpoint(2, "2020-01-01T00:00:00+00:00"))
    pointers = await NatsLiveGenerations.bind(bus.jetstream)
    merger = Integrity(
        "merger", bus.jetstream, pointers, await bus.values(), WriteStatus(is_watched=True)
    )
    merger.watch("graph", {"the document store": store}, ("merger",))
    await merger.look()
    assert "was filled from another log" in merger.writes.refusal


async def test_a_hole_is_noticed(bus: Bus) -> None:
    await fill(NatsLog(bus.jetstream), 9)
    await bus.service()
    await bus.jetstream.purge_stream("KB_EVENTS", subject=subjects.of_document("trial", "doc-4"))
    assert "1 of its messages are gone" in (await bus.service()).writes.refusal


async def test_a_write_at_a_taken_sequence_is_not_answered_as_done(bus: Bus) -> None:
    log = NatsLog(bus.jetstream, WriteStatus(is_watched=True, ends={"KB_EVENTS": 5}))
    log.writes.log_check.set()
    with pytest.raises(LogDamaged, match="written at sequence 1, but the log had reached 5"):
        await log.publish(document("a"))


async def test_nothing_is_written_between_the_return_of_the_bus_and_the_next_look(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.bus.nats.log.PUBLISH_PATIENCE", 0.5)
    service = await bus.service()
    log = NatsLog(bus.jetstream, service.writes)
    await service.writes.disconnected()
    with pytest.raises(Unavailable, match="could not be checked"):
        await log.publish(document("a"))
    assert await bus.end() == 0
    await service.look()
    assert await log.publish(document("a")) == 1


async def test_a_service_stops_consuming_and_says_why(bus: Bus, tmp_path: Path) -> None:
    await fill(NatsLog(bus.jetstream))
    await bus.service()
    folder = tmp_path / "service"
    folder.mkdir()
    async with trial_service(bus.server.url, folder, "query-status") as service:

        async def idle() -> bool:
            info = await bus.jetstream.consumer_info("KB_EVENTS", "query-status")
            return not info.num_pending and not info.num_ack_pending

        await until(idle, "everything is handled")
        await bus.service()
        await bus.damaged(cut_the_tail)

        async def refused() -> bool:
            status, body = await page(service, "ready")
            return status == 503 and "accept-loss" in body["problems"].get("log", "")

        await until(refused, "the service says what happened")
        last_sequence = await bus.end()
        await fill(NatsLog(bus.jetstream), 1, "foreign")
        await bus.service()
        info = await bus.jetstream.consumer_info("KB_EVENTS", "query-status")
        assert await bus.end() == last_sequence + 1, "the service published nothing about it"
        assert (info.ack_floor.stream_seq if info.ack_floor else 0) <= last_sequence


async def test_an_accepted_loss_lets_services_write_again(bus: Bus) -> None:
    await fill(NatsLog(bus.jetstream))
    running = await bus.service()
    with pytest.raises(InvalidInput, match="no loss to accept"):
        await checkpoints.require_loss(bus.jetstream, bus.rows)
    await bus.damaged(cut_the_tail)
    last_sequence = await bus.end()
    services = [running, await bus.service("merger")]
    assert "it ends at sequence" in await checkpoints.require_loss(bus.jetstream, bus.rows)
    await checkpoints.rewind_consumers(bus.jetstream)
    await checkpoints.accept_loss(bus.jetstream, bus.rows)
    for service in (*services, await bus.service("chunker")):
        await service.look()
        assert not service.writes.refusal
        await NatsLog(bus.jetstream, service.writes).publish(document(f"after-{service.stage}"))
    assert await bus.end() == last_sequence + 3
