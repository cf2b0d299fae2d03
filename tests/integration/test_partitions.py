"""A log of several partitions on a real server: what is whole in one, what goes over all, what
is refused.
"""

from contextlib import aclosing
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import BudgetSet, FeedbackGiven
from contracts.partitions import LogPosition, partition_at, partition_of, stream_name
from contracts.topology import DAY
from operations import past_digest
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from runtime.bus import topology
from runtime.bus.memory import MemoryLog
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.mirrored_log import MirroredLog
from runtime.errors import ConfigurationError, InvalidInput
from services.merger.settings import MergerSettings
from tests.support.events import added, sealed
from tests.support.nats_server import BusServer, RunningNats, connected, until
from tests.support.partitioned_bus import COUNT, WORKSPACES
from tests.support.services import service
from tests.support.trial_service import document, trial_service
from tests.unit.operations.test_bulk_load import DIGESTS, recorded


async def publish_recorded(jetstream: JetStreamContext) -> MemoryLog:
    """Publish the recorded events as another system does: to their subjects, knowing nothing."""
    log = recorded(MemoryLog())
    for message in log.messages:
        await jetstream.publish(message.subject, message.data, headers=dict(message.headers))
    return log


async def test_a_number_of_partitions_is_chosen_once_and_the_server_has_to_map_to_it(
    server: BusServer, partitioned_log: JetStreamContext
) -> None:
    assert await topology.check(partitioned_log) == []
    assert await topology.apply(partitioned_log) == []
    with pytest.raises(ConfigurationError, match="made with 3 partitions and keeps them"):
        await topology.apply(partitioned_log, partitions=4)
    async with connected(server) as client:
        with pytest.raises(ConfigurationError, match=r"mappings .*partition\(2,1\)"):
            await topology.apply(client.jetstream(timeout=5), partitions=2)


async def test_all_partitions_know_ids_for_as_long_as_an_operator_says(
    partitioned_log: JetStreamContext,
) -> None:
    async def windows() -> set[float]:
        infos = [await partitioned_log.stream_info(stream_name(number)) for number in range(COUNT)]
        return {info.config.duplicate_window for info in infos}

    blobs = (await partitioned_log.stream_info("KB_BLOBS")).config.duplicate_window
    assert await windows() == {DAY}
    assert len(await topology.apply(partitioned_log, duplicate_window=600.0)) == COUNT
    assert await windows() == {600.0}
    assert await topology.check(partitioned_log) == []
    assert await topology.apply(partitioned_log) == []
    assert (await partitioned_log.stream_info("KB_BLOBS")).config.duplicate_window == blobs


async def test_a_workspace_is_whole_in_one_partition_whoever_publishes(
    partitioned_server: RunningNats, partitioned_log: JetStreamContext
) -> None:
    log = NatsLog(partitioned_log)
    for workspace in WORKSPACES:
        # A connection that has not asked how many partitions there are.
        async with connected(partitioned_server) as client:
            own_log = NatsLog(client.jetstream(timeout=5))
            first = await own_log.publish(sealed(added("d", "one"), workspace=workspace))
            await own_log.publish(sealed(BudgetSet(money=1.0), workspace=workspace))
        await partitioned_log.publish(f"kb.v1.{workspace}.d.DocumentDeleted", b"{}")
        partition = partition_of(workspace, COUNT)
        assert partition_at(first) == partition
        newest_message = await log.newest(workspace, "d", "DocumentAdded")
        assert newest_message is not None
        assert newest_message.sequence == first
        sequences = [
            message.sequence
            async for page in log.read(0, [subjects.of_workspace(workspace)])
            for message in page
        ]
        assert sequences == [first, first + 1, first + 2]
        assert await log.last(workspace) == first + 2
        state = (await partitioned_log.stream_info(stream_name(partition))).state
        assert state.messages == len(sequences)
    sequences_of_all = [message.sequence async for page in log.read() for message in page]
    assert sequences_of_all == sorted(sequences_of_all)
    assert len(sequences_of_all) == 3 * len(WORKSPACES)


async def test_what_is_said_about_questions_is_where_their_workspace_is(
    partitioned_server: RunningNats,
) -> None:
    for workspace in WORKSPACES:
        async with connected(partitioned_server) as client:
            log = NatsLog(client.jetstream(timeout=5))
            sequence = await log.publish(
                sealed(FeedbackGiven(rating="up", question="Who?"), workspace=workspace)
            )
            assert partition_at(sequence) == partition_of(workspace, COUNT)
            history = log.history(workspace, None, "FeedbackGiven")
            assert [message.sequence async for message in history] == [sequence]


async def test_a_feed_of_a_workspace_follows_its_partition_and_its_place_is_no_place_of_all(
    partitioned_log: JetStreamContext,
) -> None:
    log, feed = NatsLog(partitioned_log), NatsEventFeed(partitioned_log)
    for workspace in WORKSPACES:
        sequence = await log.publish(sealed(added("d", "one"), workspace=workspace))
        filter = subjects.of_workspace(workspace)
        messages, remaining_count = await feed.page(filter, 0, 10)
        assert ([message.sequence for message in messages], remaining_count) == ([sequence], 0)
        async with aclosing(feed.follow(filter, sequence - 1, 1.0)) as pages:
            assert [message.sequence for message in await anext(pages)] == [sequence]
        assert await feed.count(filter, sequence) == 0
    for call in (
        feed.last_sequence(subjects.ALL),
        feed.count(subjects.ALL),
        log.last_sequence(),
    ):
        with pytest.raises(ConfigurationError, match="a log of 3 partitions"):
            await call


async def test_an_erasure_removes_a_document_from_its_partition_alone(
    partitioned_log: JetStreamContext,
) -> None:
    await publish_recorded(partitioned_log)
    before = [await partitioned_log.stream_info(stream_name(number)) for number in range(COUNT)]
    plan = await plan_erasure(partitioned_log, "w", "a")
    assert plan.history.leaves
    await publish_tombstones(partitioned_log, plan, "")
    await remove(partitioned_log, plan)
    after = [await partitioned_log.stream_info(stream_name(number)) for number in range(COUNT)]
    for number, (info_before, info_after) in enumerate(zip(before, after, strict=True)):
        is_own = number == partition_of("w", COUNT)
        assert (info_after.state.messages < info_before.state.messages) == is_own
    remaining_subjects = [
        message.subject
        async for page in NatsLog(partitioned_log).read(0, [subjects.of_document("w", "a")])
        for message in page
    ]
    assert {subject.rpartition(".")[2] for subject in remaining_subjects} == {"DocumentErased"}


async def test_a_service_takes_from_every_partition(
    partitioned_server: RunningNats, partitioned_log: JetStreamContext, tmp_path: Path
) -> None:
    log = NatsLog(partitioned_log)
    async with service("chunker", tmp_path, NATS_URL=partitioned_server.url):
        for workspace in WORKSPACES:
            await log.publish(sealed(added("d", f"A text of {workspace}."), workspace=workspace))

        async def chunked() -> bool:
            return all(
                [await log.newest(name, "d", "ChunksCreated") is not None for name in WORKSPACES]
            )

        await until(chunked, "chunks of a document in each partition")


async def handled_names(log: NatsLog, workspace: str) -> list[str]:
    """Return the documents of a workspace that the trial service has handled."""
    history = log.history(workspace, None, "DocumentDeleted")
    return [message.subject.split(".")[3] async for message in history]


async def test_a_workspace_does_not_wait_for_long_work_of_another_partition_or_of_its_own(
    partitioned_server: RunningNats, partitioned_log: JetStreamContext, tmp_path: Path
) -> None:
    log = NatsLog(partitioned_log)
    (tmp_path / "long").touch()
    long_workspaces = "other", "a"
    async with trial_service(partitioned_server.url, tmp_path, workers=2):
        for workspace in long_workspaces:  # all workers have work of the first partition
            for number in range(4):
                name = f"long-{number}"
                await log.publish(document(name, id=f"{workspace}-{name}", workspace=workspace))
        short_workspaces = "quiet", "small", "w"
        assert [partition_of(name, COUNT) for name in short_workspaces] == [0, 1, 2]
        for workspace in short_workspaces:
            for name in ("one", "two"):
                await log.publish(document(name, id=f"{workspace}-{name}", workspace=workspace))

        async def short_is_done() -> bool:
            return all([len(await handled_names(log, name)) == 2 for name in short_workspaces])

        await until(short_is_done, "documents of small workspaces beside long work")
        assert [await handled_names(log, name) for name in long_workspaces] == [[], []]
        (tmp_path / "long").unlink()

        async def all_is_done() -> bool:
            return all([len(await handled_names(log, name)) >= 4 for name in long_workspaces])

        await until(all_is_done, "the long work")
    for workspace in long_workspaces:
        assert sorted(await handled_names(log, workspace)) == [f"long-{n}" for n in range(4)]
    for workspace in short_workspaces:
        assert sorted(await handled_names(log, workspace)) == ["one", "two"]


async def test_readers_of_a_following_region_see_each_partition_as_far_as_its_stores_are(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    readers_log = MirroredLog(partitioned_log)
    sequences = [
        await log.publish(sealed(added("d", "one"), workspace=name)) for name in WORKSPACES
    ]
    applied_sequence = sequences[-1]
    assert await readers_log.following(0, subjects.ALL) is None
    stream = stream_name(partition_at(applied_sequence))
    await partitioned_log.reset_consumer(stream, "query-status", applied_sequence + 1)
    message = await readers_log.following(0, subjects.ALL)
    assert message is not None
    assert message.sequence == applied_sequence
    assert await readers_log.following(applied_sequence, subjects.ALL) is None
    assert (await readers_log.handled_position()).holds(applied_sequence)
    assert await readers_log.last(WORKSPACES[-1]) == applied_sequence
    assert await readers_log.last(WORKSPACES[0]) < sequences[0]


@pytest.mark.parametrize(
    ("place", "event_count"), [(LogPosition.start(3), 0), (LogPosition((5,)), 5)]
)
def test_a_position_counts_what_stands_before_it(place: LogPosition, event_count: int) -> None:
    assert place.event_count == event_count
    assert LogPosition.of_stored(place.stored, len(place.sequences)) == place


async def test_digests_of_the_past_are_refused_where_they_do_not_fit_in_memory(
    partitioned_log: JetStreamContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish_recorded(partitioned_log)
    log = past_digest.BoundedLog(partitioned_log)
    place = await log.last("w")
    result = await past_digest.fold_digests(log, "w", place, MergerSettings())
    assert result["graph"] == DIGESTS["w", "graph"]
    monkeypatch.setattr(past_digest, "MAX_BYTES", 1000)
    with pytest.raises(InvalidInput, match="too much for memory"):
        await past_digest.fold_digests(log, "w", place, MergerSettings())
