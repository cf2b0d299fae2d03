"""What a log lost comes back to its own place, from the archive or from a backup; what stood in its
place is kept.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.js import JetStreamContext

from contracts import subjects
from contracts.topology import CHECKPOINTS_BUCKET
from operations.audit import audit_log
from operations.backup.taking import Backup
from operations.backup.verifying import verify
from operations.repair.log import plan_repair, replace_log, write_repaired
from operations.repair.sources import ArchiveSource, BackupSource, Source
from runtime.bus import topology
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.records import Record, line_of
from runtime.bus.write_status import WriteStatus
from runtime.errors import InvalidInput
from runtime.projections.integrity import Integrity
from runtime.projections.log_archive import LogArchive
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows
from tests.support.damage import cut_the_tail, flip_a_bit
from tests.support.nats_server import RunningNats, connected, reconnected
from tests.support.trial_service import document

pytestmark = pytest.mark.own_nats

EVENTS = 60


@pytest.fixture
async def client(server: RunningNats) -> AsyncGenerator[Client]:
    async with connected(server) as client:
        yield client


@pytest.fixture
async def bus(client: Client) -> JetStreamContext:
    bus = client.jetstream()
    await topology.apply(bus)
    for number in range(EVENTS):
        await NatsLog(bus).publish(document(f"doc-{number}", workspace="ab"[number % 2]))
    return bus


async def records(bus: JetStreamContext) -> list[Record]:
    return [record async for page in read_records(bus, "KB_EVENTS") for record in page]


async def source_of(kind: str, bus: JetStreamContext, rows: Rows, folder: Path) -> Source:
    """A copy of the log as it is now."""
    if kind == "archive":
        await LogArchive(bus, rows, await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)).extend(
            subjects.ALL
        )
        return ArchiveSource(rows)
    await Backup(bus, folder, lambda _: None).run()
    return BackupSource(verify([folder], lambda _: None))


async def repaired(
    bus: JetStreamContext, rows: Rows, source: Source, copy: Path
) -> tuple[list[int], list[int]]:
    plan = await plan_repair(bus, source)
    await write_repaired(bus, source, plan, copy, lambda _: None)
    await replace_log(bus, rows, copy, lambda _: None, 1)
    return plan.lost_sequences, plan.changed_sequences


@pytest.mark.parametrize("kind", ["archive", "backup"])
@pytest.mark.parametrize("is_killed", [True, False])
async def test_what_a_damaged_log_lost_comes_back(
    server: RunningNats,
    client: Client,
    bus: JetStreamContext,
    tmp_path: Path,
    kind: str,
    is_killed: bool,
) -> None:
    rows = MemoryRows()
    before = [line_of(record) for record in await records(bus)]
    source = await source_of(kind, bus, rows, tmp_path / "source")
    assert not (await audit_log(bus, bus, rows, lambda _: None)).problems
    await (server.kill() if is_killed else server.process.stop())
    flip_a_bit(server)
    await server.restart()
    await reconnected(client)
    assert (await audit_log(bus, bus, rows, lambda _: None)).problems

    lost_sequences, changed_sequences = await repaired(bus, rows, source, tmp_path / "copy")

    assert lost_sequences and not changed_sequences
    assert [line_of(record) for record in await records(bus)] == before
    assert not (await audit_log(bus, bus, rows, lambda _: None)).problems
    service = Integrity(
        "query",
        bus,
        await NatsLiveGenerations.bind(bus),
        await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET),
        WriteStatus(is_watched=True),
        mark_store=rows,
    )
    await service.look()
    assert not service.writes.refusal
    assert await NatsLog(bus, service.writes).publish(document("after")) == EVENTS + 1
    first = (await bus.consumer_info("KB_EVENTS", "chunker")).ack_floor
    assert first and first.stream_seq < lost_sequences[0], "what came back is handled"


async def test_an_event_in_anothers_place_moves_to_the_end(
    server: RunningNats, client: Client, bus: JetStreamContext, tmp_path: Path
) -> None:
    rows = MemoryRows()
    before = [line_of(record) for record in await records(bus)]
    source = await source_of("archive", bus, rows, tmp_path)
    await server.kill()
    cut_the_tail(server)
    await server.restart()
    await reconnected(client)
    count_left = len(await records(bus))
    await NatsLog(bus).publish(document("new"))

    lost_sequences, changed_sequences = await repaired(bus, rows, source, tmp_path / "copy")

    after = await records(bus)
    assert changed_sequences == [count_left + 1] and lost_sequences == list(
        range(count_left + 2, EVENTS + 1)
    )
    assert [line_of(record) for record in after[:EVENTS]] == before
    assert (after[EVENTS].sequence, after[EVENTS].subject) == (
        EVENTS + 1,
        "kb.v1.trial.new.DocumentAdded",
    )
    assert not (await audit_log(bus, bus, rows, lambda _: None)).problems


async def test_a_sound_log_is_left_alone(bus: JetStreamContext, tmp_path: Path) -> None:
    plan = await plan_repair(bus, await source_of("archive", bus, rows := MemoryRows(), tmp_path))
    assert plan.restored == []
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "file").touch()
    with pytest.raises(InvalidInput, match="holds files"):
        await write_repaired(bus, ArchiveSource(rows), plan, tmp_path / "copy", lambda _: None)
