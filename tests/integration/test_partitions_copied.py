"""A log of several partitions is backed up, restored and repaired event by event, each partition at
its own sequences.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from nats.js import JetStreamContext

from contracts.events import FeedbackGiven
from contracts.partitions import first_sequence, partition_of, stream_name
from operations.audit import audit_log
from operations.backup.bus_state import consumer_floors
from operations.backup.restoring import Restore
from operations.backup.taking import Backup
from operations.backup.verifying import VerifiedBackup, verify
from operations.repair.log import plan_repair, replace_log, write_repaired
from operations.repair.sources import BackupSource
from runtime.bus import topology
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.log import NatsLog
from runtime.bus.records import line_of
from runtime.errors import ConfigurationError, InvalidInput
from runtime.stores.documents.memory import MemoryRows
from tests.support.events import added, sealed
from tests.support.nats_server import connected, running_nats
from tests.support.partitioned_bus import (
    COUNT,
    WORKSPACES,
    empty_partitioned_bus,
    partitioned_bus,
)


def ignore(_: object) -> None: ...


async def fill(bus: JetStreamContext, first: int, end: int) -> None:
    log = NatsLog(bus)
    for number in range(first, end):
        for workspace in WORKSPACES:
            await log.publish(sealed(added(f"d{number}", "text"), workspace=workspace))
    for workspace in WORKSPACES:
        await log.publish(sealed(FeedbackGiven(rating="up", question="Q"), workspace=workspace))


@pytest_asyncio.fixture
async def bus(tmp_path: Path) -> AsyncGenerator[JetStreamContext]:
    async with partitioned_bus(tmp_path / "first") as server, connected(server) as client:
        await fill(client.jetstream(timeout=5), 0, 4)
        yield client.jetstream(timeout=5)


async def lines_of(bus: JetStreamContext) -> list[bytes]:
    return [
        line_of(record)
        for number in range(COUNT)
        async for page in read_records(bus, stream_name(number))
        for record in page
    ]


async def lose(bus: JetStreamContext, workspace: str, document: str) -> int:
    """Remove an event as no erasure does, and return its sequence."""
    message = await NatsLog(bus).newest(workspace, document, "DocumentAdded")
    assert message is not None
    await bus.delete_msg(stream_name(partition_of(workspace, COUNT)), message.sequence)
    return message.sequence


async def back_up(bus: JetStreamContext, folder: Path) -> VerifiedBackup:
    await Backup(bus, folder, ignore).run()
    backup = verify([folder], ignore)
    assert backup.problems == ()
    return backup


async def test_a_backup_goes_on_in_its_folder_and_is_restored_event_by_event(
    bus: JetStreamContext, tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    first_backup = await back_up(bus, folder)
    assert first_backup.messages == 5 * COUNT
    await lose(bus, "w", "d0")  # a hole at the beginning of a partition, and one within another
    await lose(bus, "a", "d2")
    await fill(bus, 4, 7)
    second_backup = await back_up(bus, folder)
    assert second_backup.last.position == await NatsLog(bus).end()
    reader = await bus.pull_subscribe_bind(consumer="query-status", stream=stream_name(1))
    for message in await reader.fetch(2, timeout=5):
        await message.ack_sync()
    floors = await consumer_floors(bus)
    assert floors["query-status.1"] == first_sequence(1) + 1
    with pytest.raises(InvalidInput, match="--since is a place in a log of one partition"):
        await Backup(bus, tmp_path / "behind", ignore).run(since=3)

    other_folder = tmp_path / "other"
    other_backup = await back_up(bus, other_folder)
    async with empty_partitioned_bus(tmp_path / "second") as server, connected(server) as client:
        restored_bus = client.jetstream(timeout=5)
        assert await Restore(restored_bus, other_backup, ignore).run() == other_backup.messages
        assert await lines_of(restored_bus) == await lines_of(bus)
        assert await topology.check(restored_bus) == []
        for name, floor in (await consumer_floors(restored_bus)).items():
            # A hole at the beginning of a partition counts as handled.
            assert 0 <= floor - floors[name] <= 1, name
        assert await Restore(restored_bus, other_backup, ignore).run() == other_backup.messages, (
            "twice is once"
        )
        await fill(restored_bus, 7, 8)
        with pytest.raises(InvalidInput, match="another event"):
            await Restore(restored_bus, first_backup, ignore).run()


async def test_a_backup_is_restored_only_to_as_many_partitions(
    bus: JetStreamContext, tmp_path: Path
) -> None:
    backup = await back_up(bus, tmp_path / "backup")
    async with running_nats(tmp_path / "one") as server, connected(server) as client:
        jetstream = client.jetstream(timeout=5)
        with pytest.raises(ConfigurationError, match="does not map events to 3 partitions"):
            await Restore(jetstream, backup, ignore).run()
        await topology.apply(jetstream)
        with pytest.raises(ConfigurationError, match="was made with 1 partitions"):
            await Restore(jetstream, backup, ignore).run()
        await NatsLog(jetstream).publish(sealed(added("d", "text"), workspace="w"))
        with pytest.raises(InvalidInput, match="a log of 3 partitions"):
            await Backup(jetstream, tmp_path / "backup", ignore).run()


async def test_what_a_partition_lost_comes_back_to_its_place(
    bus: JetStreamContext, tmp_path: Path
) -> None:
    backup = await back_up(bus, tmp_path / "backup")
    lines = await lines_of(bus)
    rows = MemoryRows()
    assert (await audit_log(bus, bus, rows, ignore)).problems == []
    lost_sequences = {await lose(bus, "a", "d1"), await lose(bus, "w", "d3")}
    assert len((await audit_log(bus, bus, rows, ignore)).problems) > 0

    source = BackupSource(backup)
    plan = await plan_repair(bus, source)
    assert (set(plan.lost_sequences), plan.changed_sequences) == (lost_sequences, [])
    await write_repaired(bus, source, plan, tmp_path / "copy", ignore)
    assert await replace_log(bus, rows, tmp_path / "copy", ignore, 1) == len(lines)
    assert await lines_of(bus) == lines
    assert (await audit_log(bus, bus, rows, ignore)).problems == []
    assert await topology.check(bus) == []
