"""Moving a workspace to another partition on a real server: what it has stays readable, what comes
goes on in order, and what other systems publish is carried once.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import Event, FeedbackGiven
from contracts.partitions import (
    LogPosition,
    first_sequence,
    partition_at,
    partition_of,
    stream_name,
)
from contracts.placements import Placement
from operations import partition_move
from operations.audit import audit_log
from operations.backup.restoring import Restore
from operations.backup.taking import Backup
from operations.backup.verifying import verify
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from operations.partition_move import PartitionMove, move_workspace, plan_move
from runtime.bus import topology
from runtime.bus.codec import encode
from runtime.bus.log_metadata import read_placements, write_placements
from runtime.bus.nats import placing
from runtime.bus.nats.carrier import CARRIED_FROM, Carrier, uncarried_count
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import forget_streams, log_streams
from runtime.bus.points import position_of, sequence_at
from runtime.bus.port import Message
from runtime.bus.repetitions import subject_of
from runtime.bus_examination import examine_bus
from runtime.errors import ConfigurationError, InvalidInput, Unavailable
from runtime.projections.log_archive import LogArchive, archived_records
from runtime.stores.documents.memory import MemoryRows
from tests.support.events import added, sealed
from tests.support.nats_server import RunningNats, connected, until
from tests.support.partitioned_bus import COUNT, empty_partitioned_bus, partitioned_bus
from tests.support.services import service

MOVED = "other"
"""A workspace whose hash names partition 0."""


@pytest_asyncio.fixture
async def bus(tmp_path: Path) -> AsyncGenerator[RunningNats]:
    async with partitioned_bus(tmp_path) as server:
        yield server


@pytest_asyncio.fixture
async def log_bus(
    bus: RunningNats, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[JetStreamContext]:
    # Tests that are about the wait itself set it back.
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 0.0)
    async with connected(bus) as client:
        yield client.jetstream(timeout=5)


def ignore(_: object) -> None:
    """Report nothing."""


async def move(jetstream: JetStreamContext, target: int, workspace: str = MOVED) -> PartitionMove:
    plan = await plan_move(jetstream, workspace, target)
    await move_workspace(jetstream, plan, ignore)
    return plan


async def publish(jetstream: JetStreamContext, id: str, text: str = "text") -> int:
    return await NatsLog(jetstream).publish(sealed(added(id, text), id=id, workspace=MOVED))


async def publish_as_another_system(jetstream: JetStreamContext, event: Event, id: str) -> int:
    """Publish to the subject of the event, knowing nothing of partitions."""
    envelope = sealed(event, id=id, workspace=MOVED)
    ack = await jetstream.publish(
        subject_of(envelope), encode(envelope), headers={"Nats-Msg-Id": id}
    )
    return ack.seq


async def read_sequences(jetstream: JetStreamContext, filter: str) -> list[int]:
    return [
        message.sequence async for page in NatsLog(jetstream).read(0, [filter]) for message in page
    ]


def names(messages: list[Message]) -> list[str]:
    return [subjects.document_token(message.subject) for message in messages]


async def test_events_stay_where_they_are_and_further_ones_enter_the_other_partition(
    log_bus: JetStreamContext,
) -> None:
    log, feed = NatsLog(log_bus), NatsEventFeed(log_bus)
    before = [await publish(log_bus, name) for name in ("one", "two")]
    golden = sealed(FeedbackGiven(rating="up", question="Q"), workspace=MOVED)
    first_answer = await log.publish(golden)
    plan = await move(log_bus, 2)
    assert (plan.events, plan.placement.partition) == (2, 0)
    after = [await publish(log_bus, name, "again") for name in ("three", "one")]
    assert list(map(partition_at, after)) == [2, 2]
    answer = sealed(FeedbackGiven(rating="down", question="Q"), id="later", workspace=MOVED)
    second_answer = await log.publish(answer)

    filter = subjects.of_workspace(MOVED)
    assert await read_sequences(log_bus, filter) == [*before, *after]
    assert await read_sequences(log_bus, subjects.of_document(MOVED, "one")) == [
        before[0],
        after[1],
    ]
    assert await log.last(MOVED) == after[1]
    assert await log.last_about(MOVED, "two") == before[1]
    assert await log.partitions_of(MOVED) == (0, 2)
    newest_messages = [await log.newest(MOVED, name, "DocumentAdded") for name in ("one", "two")]
    assert [m.sequence for m in newest_messages if m] == [after[1], before[1]]
    following_message = await log.following(before[1], filter)
    assert following_message is not None
    assert following_message.sequence == after[0]
    history = [m.sequence async for m in log.history(MOVED, None, "DocumentAdded", before[0])]
    assert history == [before[1], *after]
    answers = [m.sequence async for m in log.history(MOVED, None, "FeedbackGiven")]
    assert answers == [first_answer, second_answer]

    assert await feed.count(filter) == 4
    first_page, remaining_count = await feed.page(filter, 0, 3)
    assert ([m.sequence for m in first_page], remaining_count) == ([*before, after[0]], 1)
    second_page, remaining_count = await feed.page(filter, after[0], 3)
    assert ([m.sequence for m in second_page], remaining_count) == ([after[1]], 0)
    assert await sequence_at(log, MOVED, str(before[0])) == before[0]
    assert await sequence_at(log, MOVED, "now") == after[1]
    place = await position_of(log, [before[1]], MOVED)
    assert (place.sequences[0], place.sequences[2]) == (before[1], first_sequence(2) - 1)
    end = await log.end()
    assert await position_of(log, [after[0]], MOVED) == end.up_to(after[0])
    assert await topology.check(log_bus) == []
    assert await topology.apply(log_bus) == []


async def test_what_cannot_be_moved_is_refused_with_the_way_out(
    log_bus: JetStreamContext, jetstream: JetStreamContext
) -> None:
    with pytest.raises(InvalidInput, match="partitions 0 to 2, and no 3"):
        await plan_move(log_bus, MOVED, 3)
    await move(log_bus, 1)
    assert (await plan_move(log_bus, MOVED, 1)).is_done
    with pytest.raises(InvalidInput, match=r"partition 0 are smaller: .* can be moved to 2"):
        await plan_move(log_bus, MOVED, 0)
    await move(log_bus, 2)
    with pytest.raises(InvalidInput, match="can be moved to no other partition"):
        await plan_move(log_bus, MOVED, 0)
    with pytest.raises(ConfigurationError, match="this log has one partition"):
        await plan_move(jetstream, MOVED, 1)


async def test_what_other_systems_publish_is_carried_once_and_in_their_order(
    log_bus: JetStreamContext,
) -> None:
    log, feed = NatsLog(log_bus), NatsEventFeed(log_bus)
    before = await publish(log_bus, "one")
    await move(log_bus, 2)
    for number in range(3):  # versions of one document
        sequence = await publish_as_another_system(
            log_bus, added("new", f"text {number}"), f"foreign-{number}"
        )
        assert partition_at(sequence) == 0
    filter = subjects.of_workspace(MOVED)
    assert await read_sequences(log_bus, filter) == [before]
    assert (await log.last(MOVED), await feed.count(filter)) == (before, 1)
    assert await feed.page(filter, before, 10) == ([], 0)
    assert await log.newest(MOVED, "new", "DocumentAdded") is None
    streams = await log_streams(log_bus)
    assert await uncarried_count(log_bus, streams) == 3

    # Two gateways, of which one dies between its publication and its acknowledgement.
    carrier = Carrier(log_bus)
    pull = await log_bus.pull_subscribe_bind(consumer="carrier", stream=stream_name(0))
    [first_message] = await pull.fetch(1, timeout=5)
    assert await carrier._carry(first_message)  # pyright: ignore[reportPrivateUsage]
    await first_message.nak()
    assert sum(await asyncio.gather(carrier.carry(), Carrier(log_bus).carry())) == 3
    assert await uncarried_count(log_bus, streams) == 0
    page, remaining_count = await feed.page(filter, before, 10)
    texts = [b"text 0" in m.data or b"text 1" in m.data or b"text 2" in m.data for m in page]
    assert (names(page), texts, remaining_count) == (["new"] * 3, [True] * 3, 0)
    assert [f"text {number}".encode() in m.data for number, m in enumerate(page)] == [True] * 3
    assert all(partition_at(message.sequence) == 2 for message in page)
    assert len({message.headers[CARRIED_FROM] for message in page}) == 3
    all_sequences = [m.sequence async for p in log.read() for m in p]
    assert all_sequences == [before, *[message.sequence for message in page]]
    behind = [m.sequence async for p in log.read_behind(LogPosition.start(COUNT)) for m in p]
    assert behind == all_sequences
    assert await carrier.carry() == 0


async def test_workspaces_that_leave_the_same_partition_have_one_carrier(
    log_bus: JetStreamContext,
) -> None:
    second = next(f"w{n}" for n in range(99) if partition_of(f"w{n}", COUNT) == 0)
    await move(log_bus, 1)
    await publish_as_another_system(log_bus, added("first"), "first")
    early_envelope = sealed(added("early"), id="early", workspace=second)
    await log_bus.publish(subject_of(early_envelope), encode(early_envelope))
    assert await Carrier(log_bus).carry() == 1
    await move(log_bus, 2, second)
    late_envelope = sealed(added("late"), id="late", workspace=second)
    await log_bus.publish(subject_of(late_envelope), encode(late_envelope))
    await publish_as_another_system(log_bus, added("third"), "third")
    assert await Carrier(log_bus).carry() == 2
    feed = NatsEventFeed(log_bus)
    page, _ = await feed.page(subjects.of_workspace(second), 0, 10)
    assert [
        (partition_at(m.sequence), name) for m, name in zip(page, names(page), strict=True)
    ] == [
        (0, "early"),
        (2, "late"),
    ]
    page, _ = await feed.page(subjects.of_workspace(MOVED), 0, 10)
    assert names(page) == ["first", "third"]
    assert {partition_at(message.sequence) for message in page} == {1}


async def test_a_feed_that_is_open_goes_on_in_the_other_partition(
    log_bus: JetStreamContext,
) -> None:
    feed = NatsEventFeed(log_bus)
    filters = subjects.of_workspace(MOVED), subjects.of_document(MOVED, "one")
    follows = [feed.follow(filter, 0, 1.0) for filter in filters]
    follow_all = feed.follow_all(LogPosition.start(COUNT), 1.0)
    before = await publish(log_bus, "one")

    async def next_sequences(pages: AsyncGenerator[list[Message]]) -> list[int]:
        async for messages in pages:
            if messages:
                return [message.sequence for message in messages]
        return []

    async with aclosing(follows[0]), aclosing(follows[1]), aclosing(follow_all):
        assert [await next_sequences(follow) for follow in follows] == [[before]] * 2
        await move(log_bus, 1)
        await publish_as_another_system(log_bus, added("one", "foreign"), "foreign")
        after = await publish(log_bus, "one", "again")
        assert [await next_sequences(follow) for follow in follows] == [[after]] * 2
        followed_sequences: list[int] = []
        async for messages, _ in follow_all:
            followed_sequences += [message.sequence for message in messages]
            if len(followed_sequences) == 2:
                break
        assert followed_sequences == [before, after]


class Killed(Exception):
    """The process of a move ends here."""


@pytest.mark.parametrize("step", ["_left_behind", "have_carried", "write_placements"])
async def test_a_move_that_is_killed_anywhere_goes_on_when_it_is_run_again(
    log_bus: JetStreamContext, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(placing, "MOVE_SECONDS", 0.5)
    before = await publish(log_bus, "one")
    calls = 0
    original = getattr(partition_move, step)

    async def killed(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if step == "write_placements" and calls == 1:
            return await original(*arguments)
        raise Killed

    plan = await plan_move(log_bus, MOVED, 1)
    with monkeypatch.context() as patch:
        patch.setattr(partition_move, step, killed)
        with pytest.raises(Killed):
            await move_workspace(log_bus, plan, ignore)
    with pytest.raises(
        Unavailable, match=r"is being moved to partition 1 .* --to 1` goes on"
    ) as no:
        await publish(log_bus, "two")
    assert no.value.retry_after == pytest.approx(0.5)
    with pytest.raises(InvalidInput, match="is being moved to partition 1: finish that"):
        await plan_move(log_bus, MOVED, 2)
    findings = [finding async for finding in examine_bus(log_bus, None)]
    assert any("is being moved to partition 1" in finding.what for finding in findings)
    assert await read_sequences(log_bus, subjects.of_workspace(MOVED)) == [before]
    # Others notice nothing, and what is about questions waits for nothing.
    await NatsLog(log_bus).publish(sealed(added("d"), workspace="a"))
    await NatsLog(log_bus).publish(
        sealed(FeedbackGiven(rating="up", question="Q"), workspace=MOVED)
    )
    foreign = await publish_as_another_system(log_bus, added("foreign"), "foreign")

    again = await move(log_bus, 1)
    assert again.is_resumed
    await Carrier(log_bus).carry()
    after = await publish(log_bus, "two")
    assert partition_at(after) == 1
    assert await read_sequences(log_bus, subjects.of_workspace(MOVED)) == [
        before,
        foreign,  # before the end that the second run noted
        after,
    ]


async def test_publishers_wait_and_what_was_published_before_is_known(
    bus: RunningNats, log_bus: JetStreamContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 3.0)
    async with connected(bus) as client:
        publisher = client.jetstream(timeout=5)
        await log_streams(publisher)
        before = await publish(publisher, "one")
        plan = await plan_move(log_bus, MOVED, 1)
        moving = asyncio.create_task(move_workspace(log_bus, plan, ignore))
        sequences: list[int] = []
        while not moving.done():
            sequences.append(await publish(publisher, f"d{len(sequences)}"))
            await asyncio.sleep(0.1)
        end = await moving
        sequences.append(await publish(publisher, "last"))
        assert sequences == sorted(sequences)
        assert {partition_at(sequence) for sequence in sequences} == {0, 1}
        assert all(partition_at(sequence) or sequence <= end for sequence in sequences)
        # Published again, as after an answer that was lost.
        assert await publish(publisher, "one") == before
        assert await publish(publisher, "last") == sequences[-1]
        assert await publish(publisher, "one", "another text under the same id") > sequences[-1]
    read = await read_sequences(log_bus, subjects.of_workspace(MOVED))
    assert read[:-1] == [before, *sequences]


async def test_of_two_runs_of_a_move_the_later_one_ends_it(
    log_bus: JetStreamContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 1.0)
    plan = await plan_move(log_bus, MOVED, 1)
    first_run = asyncio.create_task(move_workspace(log_bus, plan, ignore))
    await asyncio.sleep(0.3)
    second_plan = await plan_move(log_bus, MOVED, 1)
    await move_workspace(log_bus, second_plan, ignore)
    with pytest.raises(InvalidInput, match="another run moves workspace"):
        await first_run
    assert (await read_placements(log_bus))["other"].partitions == (0, 1)


async def test_a_service_handles_what_was_carried_where_it_counts_and_nowhere_else(
    bus: RunningNats,
    log_bus: JetStreamContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 3.0)  # the chunker is to know of the move
    log = NatsLog(log_bus)
    async with service("chunker", tmp_path, NATS_URL=bus.url):
        await publish(log_bus, "one")
        await move_workspace(log_bus, await plan_move(log_bus, MOVED, 1), ignore)
        await publish_as_another_system(log_bus, added("foreign"), "foreign")
        await publish(log_bus, "two")
        assert await Carrier(log_bus).carry() == 1

        async def chunked() -> bool:
            return all(
                [await log.newest(MOVED, id, "ChunksCreated") for id in ("one", "two", "foreign")]
            )

        await until(chunked, "chunks of all documents")

        async def drained() -> bool:
            infos = [
                await log_bus.consumer_info(stream_name(number), "chunker")
                for number in range(COUNT)
            ]
            return not any((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)

        await until(drained, "acknowledgements of what was left behind")
    chunk_events = [message async for message in log.history(MOVED, None, "ChunksCreated")]
    assert sorted(names(chunk_events)) == ["foreign", "one", "two"]
    foreign_document = await log.newest(MOVED, "foreign", "DocumentAdded")
    assert foreign_document is not None
    assert partition_at(foreign_document.sequence) == 1
    versions = [message.data for message in chunk_events if b"foreign" in message.data]
    assert str(foreign_document.sequence).encode() in versions[0]


async def test_chains_archive_erasure_and_audit_go_over_both_partitions(
    log_bus: JetStreamContext,
) -> None:
    rows = MemoryRows()
    values = await NatsSharedValues.bind(log_bus, "KB_CHECKPOINTS")
    archive = LogArchive(log_bus, rows, values)
    for name in ("one", "two"):
        await publish(log_bus, name)
    await move(log_bus, 2)
    await publish_as_another_system(log_bus, added("one", "foreign"), "foreign")
    await Carrier(log_bus).carry()
    await publish(log_bus, "three")
    assert await archive.extend() == 5
    assert (await audit_log(log_bus, log_bus, rows, ignore)).problems == []
    chains = {partition.workspace for partition in await rows.partitions("chain")}
    assert chains >= {"other", "other.2"}

    plan = await plan_erasure(log_bus, MOVED, "one")
    assert sorted(map(partition_at, plan.leaves)) == [0, 0, 2]
    await publish_tombstones(log_bus, plan, "")
    await remove(log_bus, plan)
    remaining = [
        message
        async for page in NatsLog(log_bus, with_misplaced=True).read()
        for message in page
        if b"DocumentErased" not in message.data
    ]
    assert names(remaining) == ["two", "three"]
    assert (await audit_log(log_bus, log_bus, rows, ignore)).problems == []
    await archive.extend()
    archived_subjects = [record async for record in archived_records(rows)]
    assert subjects.subject(MOVED, "one", "DocumentAdded") not in {
        r.subject for r in archived_subjects
    }
    assert (await audit_log(log_bus, log_bus, rows, ignore)).problems == []


async def test_a_backup_knows_where_workspaces_were_moved_and_what_was_carried(
    log_bus: JetStreamContext, tmp_path: Path
) -> None:
    await publish(log_bus, "one")
    await move(log_bus, 2)
    await publish_as_another_system(log_bus, added("carried"), "carried")
    await Carrier(log_bus).carry()
    await publish_as_another_system(log_bus, added("waiting"), "waiting")
    await Backup(log_bus, tmp_path / "backup", ignore).run()
    backup = verify([tmp_path / "backup"], ignore)
    assert backup.problems == ()
    async with empty_partitioned_bus(tmp_path / "second") as server, connected(server) as client:
        restored_bus = client.jetstream(timeout=5)
        await Restore(restored_bus, backup, ignore).run()
        assert await read_placements(restored_bus) == await read_placements(log_bus)
        assert await topology.check(restored_bus) == []
        await Carrier(restored_bus).carry()
        page, _ = await NatsEventFeed(restored_bus).page(subjects.of_workspace(MOVED), 0, 10)
        assert names(page) == ["one", "carried", "waiting"]
        assert partition_at(await publish(restored_bus, "new")) == 2


async def test_an_older_program_refuses_a_log_of_which_workspaces_were_moved(
    log_bus: JetStreamContext,
) -> None:
    await move(log_bus, 1)
    metadata = (await log_bus.stream_info(stream_name(0))).config.metadata or {}
    assert int(metadata["lightstream.topology"]) == 103
    placements = await read_placements(log_bus)
    assert placements[MOVED] == replace(
        Placement((0, 1), placements[MOVED].ends, workspace=MOVED),
        moved_at=placements[MOVED].moved_at,
    )
    await write_placements(log_bus, placements)
    forget_streams(log_bus)
    assert (await log_streams(log_bus)).placements == placements
