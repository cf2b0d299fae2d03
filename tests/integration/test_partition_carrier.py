"""What is published to a partition that its workspace has left: it is carried once, counts where
the workspace is, and is exact in chains, archives and backups.
"""

import asyncio
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.partitions import (
    LogPosition,
    partition_at,
    partition_of,
    stream_name,
)
from operations import partition_move
from operations.audit import audit_log
from operations.backup.restoring import Restore
from operations.backup.taking import Backup
from operations.backup.verifying import verify
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from operations.partition_move import move_workspace, plan_move
from runtime.bus import topology
from runtime.bus.codec import encode
from runtime.bus.log_metadata import read_placements
from runtime.bus.nats.carrier import CARRIED_FROM, Carrier, uncarried_count
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.repetitions import subject_of
from runtime.projections.log_archive import LogArchive, archived_records
from runtime.stores.documents.memory import MemoryRows
from tests.support.events import added, sealed
from tests.support.moved_workspaces import (
    MOVED,
    document_tokens,
    ignore,
    move,
    publish,
    publish_as_another_system,
    read_sequences,
)
from tests.support.nats_server import RunningNats, connected, until
from tests.support.partitioned_bus import COUNT, empty_partitioned_bus
from tests.support.services import service


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move at once; tests that are about the wait itself set it back."""
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 0.0)


async def test_what_other_systems_publish_is_carried_once_and_in_their_order(
    partitioned_log: JetStreamContext,
) -> None:
    log, feed = NatsLog(partitioned_log), NatsEventFeed(partitioned_log)
    before = await publish(partitioned_log, "one")
    await move(partitioned_log, 2)
    for number in range(3):  # versions of one document
        sequence = await publish_as_another_system(
            partitioned_log, added("new", f"text {number}"), f"foreign-{number}"
        )
        assert partition_at(sequence) == 0
    filter = subjects.of_workspace(MOVED)
    assert await read_sequences(partitioned_log, filter) == [before]
    assert (await log.last(MOVED), await feed.count(filter)) == (before, 1)
    assert await feed.page(filter, before, 10) == ([], 0)
    assert await log.newest(MOVED, "new", "DocumentAdded") is None
    streams = await log_streams(partitioned_log)
    assert await uncarried_count(partitioned_log, streams) == 3

    # Two gateways, of which one dies between its publication and its acknowledgement.
    carrier = Carrier(partitioned_log)
    pull = await partitioned_log.pull_subscribe_bind(consumer="carrier", stream=stream_name(0))
    [first_message] = await pull.fetch(1, timeout=5)
    assert await carrier._carry(first_message)  # pyright: ignore[reportPrivateUsage]
    await first_message.nak()
    assert sum(await asyncio.gather(carrier.carry(), Carrier(partitioned_log).carry())) == 3
    assert await uncarried_count(partitioned_log, streams) == 0
    page, remaining_count = await feed.page(filter, before, 10)
    texts = [b"text 0" in m.data or b"text 1" in m.data or b"text 2" in m.data for m in page]
    assert (document_tokens(page), texts, remaining_count) == (["new"] * 3, [True] * 3, 0)
    assert [f"text {number}".encode() in m.data for number, m in enumerate(page)] == [True] * 3
    assert all(partition_at(message.sequence) == 2 for message in page)
    assert len({message.headers[CARRIED_FROM] for message in page}) == 3
    all_sequences = [m.sequence async for p in log.read() for m in p]
    assert all_sequences == [before, *[message.sequence for message in page]]
    behind = [m.sequence async for p in log.read_behind(LogPosition.start(COUNT)) for m in p]
    assert behind == all_sequences
    assert await carrier.carry() == 0


async def test_workspaces_that_leave_the_same_partition_have_one_carrier(
    partitioned_log: JetStreamContext,
) -> None:
    second = next(f"w{n}" for n in range(99) if partition_of(f"w{n}", COUNT) == 0)
    await move(partitioned_log, 1)
    await publish_as_another_system(partitioned_log, added("first"), "first")
    early_envelope = sealed(added("early"), id="early", workspace=second)
    await partitioned_log.publish(subject_of(early_envelope), encode(early_envelope))
    assert await Carrier(partitioned_log).carry() == 1
    await move(partitioned_log, 2, second)
    late_envelope = sealed(added("late"), id="late", workspace=second)
    await partitioned_log.publish(subject_of(late_envelope), encode(late_envelope))
    await publish_as_another_system(partitioned_log, added("third"), "third")
    assert await Carrier(partitioned_log).carry() == 2
    feed = NatsEventFeed(partitioned_log)
    page, _ = await feed.page(subjects.of_workspace(second), 0, 10)
    assert document_tokens(page) == ["early", "late"]
    assert [partition_at(message.sequence) for message in page] == [0, 2]
    page, _ = await feed.page(subjects.of_workspace(MOVED), 0, 10)
    assert document_tokens(page) == ["first", "third"]
    assert {partition_at(message.sequence) for message in page} == {1}


async def test_a_service_handles_what_was_carried_where_it_counts_and_nowhere_else(
    partitioned_server: RunningNats,
    partitioned_log: JetStreamContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 3.0)  # the chunker is to know of the move
    log = NatsLog(partitioned_log)
    async with service("chunker", tmp_path, NATS_URL=partitioned_server.url):
        await publish(partitioned_log, "one")
        await move_workspace(partitioned_log, await plan_move(partitioned_log, MOVED, 1), ignore)
        await publish_as_another_system(partitioned_log, added("foreign"), "foreign")
        await publish(partitioned_log, "two")
        assert await Carrier(partitioned_log).carry() == 1

        async def chunked() -> bool:
            return all(
                [await log.newest(MOVED, id, "ChunksCreated") for id in ("one", "two", "foreign")]
            )

        await until(chunked, "chunks of all documents")

        async def drained() -> bool:
            infos = [
                await partitioned_log.consumer_info(stream_name(number), "chunker")
                for number in range(COUNT)
            ]
            return not any((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)

        await until(drained, "acknowledgements of what was left behind")
    chunk_events = [message async for message in log.history(MOVED, None, "ChunksCreated")]
    assert sorted(document_tokens(chunk_events)) == ["foreign", "one", "two"]
    foreign_document = await log.newest(MOVED, "foreign", "DocumentAdded")
    assert foreign_document is not None
    assert partition_at(foreign_document.sequence) == 1
    versions = [message.data for message in chunk_events if b"foreign" in message.data]
    assert str(foreign_document.sequence).encode() in versions[0]


async def test_chains_archive_erasure_and_audit_go_over_both_partitions(
    partitioned_log: JetStreamContext,
) -> None:
    rows = MemoryRows()
    values = await NatsSharedValues.bind(partitioned_log, "KB_CHECKPOINTS")
    archive = LogArchive(partitioned_log, rows, values)
    for name in ("one", "two"):
        await publish(partitioned_log, name)
    await move(partitioned_log, 2)
    await publish_as_another_system(partitioned_log, added("one", "foreign"), "foreign")
    await Carrier(partitioned_log).carry()
    await publish(partitioned_log, "three")
    assert await archive.extend() == 5
    assert (await audit_log(partitioned_log, partitioned_log, rows, ignore)).problems == []
    chains = {partition.workspace for partition in await rows.partitions("chain")}
    assert chains >= {"other", "other.2"}

    plan = await plan_erasure(partitioned_log, MOVED, "one")
    assert sorted(map(partition_at, plan.leaves)) == [0, 0, 2]
    await publish_tombstones(partitioned_log, plan, "")
    await remove(partitioned_log, plan)
    remaining = [
        message
        async for page in NatsLog(partitioned_log, with_misplaced=True).read()
        for message in page
        if b"DocumentErased" not in message.data
    ]
    assert document_tokens(remaining) == ["two", "three"]
    assert (await audit_log(partitioned_log, partitioned_log, rows, ignore)).problems == []
    await archive.extend()
    archived_subjects = [record async for record in archived_records(rows)]
    assert subjects.subject(MOVED, "one", "DocumentAdded") not in {
        r.subject for r in archived_subjects
    }
    assert (await audit_log(partitioned_log, partitioned_log, rows, ignore)).problems == []


async def test_a_backup_knows_where_workspaces_were_moved_and_what_was_carried(
    partitioned_log: JetStreamContext, tmp_path: Path
) -> None:
    await publish(partitioned_log, "one")
    await move(partitioned_log, 2)
    await publish_as_another_system(partitioned_log, added("carried"), "carried")
    await Carrier(partitioned_log).carry()
    await publish_as_another_system(partitioned_log, added("waiting"), "waiting")
    await Backup(partitioned_log, tmp_path / "backup", ignore).run()
    backup = verify([tmp_path / "backup"], ignore)
    assert backup.problems == ()
    async with empty_partitioned_bus(tmp_path / "second") as server, connected(server) as client:
        restored_bus = client.jetstream(timeout=5)
        await Restore(restored_bus, backup, ignore).run()
        assert await read_placements(restored_bus) == await read_placements(partitioned_log)
        assert await topology.check(restored_bus) == []
        await Carrier(restored_bus).carry()
        page, _ = await NatsEventFeed(restored_bus).page(subjects.of_workspace(MOVED), 0, 10)
        assert document_tokens(page) == ["one", "carried", "waiting"]
        assert partition_at(await publish(restored_bus, "new")) == 2
