"""Moving a workspace to another partition on a real server: what it has stays readable, what comes
goes on in order, and what other systems publish is carried once.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import FeedbackGiven, GoldenRunEnded
from contracts.partitions import (
    LogPosition,
    first_sequence,
    partition_at,
    stream_name,
)
from contracts.placements import Placement
from operations import partition_move
from operations.partition_move import move_workspace, plan_move
from runtime.bus import topology
from runtime.bus.feed.newest import newest_first
from runtime.bus.log_metadata import read_placements, write_placements
from runtime.bus.nats import placing
from runtime.bus.nats.carrier import Carrier
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import forget_streams, log_streams
from runtime.bus.points import position_of, sequence_at
from runtime.bus.port import Message
from runtime.bus_examination import examine_bus
from runtime.errors import ConfigurationError, InvalidInput, Unavailable
from runtime.golden import questions as golden
from tests.support.events import added, sealed
from tests.support.moved_workspaces import (
    MOVED,
    ignore,
    move,
    publish,
    publish_as_another_system,
    read_sequences,
)
from tests.support.nats_server import RunningNats, connected
from tests.support.partitioned_bus import COUNT


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move at once; tests that are about the wait itself set it back."""
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 0.0)


async def test_events_stay_where_they_are_and_further_ones_enter_the_other_partition(
    partitioned_log: JetStreamContext,
) -> None:
    log, feed = NatsLog(partitioned_log), NatsEventFeed(partitioned_log)
    before = [await publish(partitioned_log, name) for name in ("one", "two")]
    feedback = sealed(FeedbackGiven(rating="up", question="Q"), workspace=MOVED)
    first_answer = await log.publish(feedback)
    plan = await move(partitioned_log, 2)
    assert (plan.events, plan.placement.partition) == (2, 0)
    after = [await publish(partitioned_log, name, "again") for name in ("three", "one")]
    assert list(map(partition_at, after)) == [2, 2]
    answer = sealed(FeedbackGiven(rating="down", question="Q"), id="later", workspace=MOVED)
    second_answer = await log.publish(answer)

    filter = subjects.of_workspace(MOVED)
    assert await read_sequences(partitioned_log, filter) == [*before, *after]
    assert await read_sequences(partitioned_log, subjects.of_document(MOVED, "one")) == [
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
    assert await topology.check(partitioned_log) == []
    assert await topology.apply(partitioned_log) == []


async def test_what_is_read_from_the_newest_back_goes_on_in_the_partition_that_was_left(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    run = GoldenRunEnded(results=(), position=1, by_model=True)
    sequences = [await publish(partitioned_log, "one")]
    await golden.publish(log, MOVED, run, "tests")
    await move(partitioned_log, 2)
    assert await golden.last_live_run(log, MOVED)
    sequences.append(await publish(partitioned_log, "two"))
    assert await golden.last_live_run(log, MOVED)
    filter = subjects.of_type_in(MOVED, "DocumentAdded")
    async with aclosing(newest_first(NatsEventFeed(partitioned_log), filter)) as messages:
        assert [message.sequence async for message in messages] == sequences[::-1]


async def test_what_cannot_be_moved_is_refused_with_the_way_out(
    partitioned_log: JetStreamContext, jetstream: JetStreamContext
) -> None:
    with pytest.raises(InvalidInput, match="partitions 0 to 2, and no 3"):
        await plan_move(partitioned_log, MOVED, 3)
    await move(partitioned_log, 1)
    assert (await plan_move(partitioned_log, MOVED, 1)).is_done
    with pytest.raises(InvalidInput, match=r"partition 0 are smaller: .* can be moved to 2"):
        await plan_move(partitioned_log, MOVED, 0)
    await move(partitioned_log, 2)
    with pytest.raises(InvalidInput, match="can be moved to no other partition"):
        await plan_move(partitioned_log, MOVED, 0)
    with pytest.raises(ConfigurationError, match="this log has one partition"):
        await plan_move(jetstream, MOVED, 1)


async def test_a_feed_that_is_open_goes_on_in_the_other_partition(
    partitioned_log: JetStreamContext,
) -> None:
    feed = NatsEventFeed(partitioned_log)
    filters = subjects.of_workspace(MOVED), subjects.of_document(MOVED, "one")
    follows = [feed.follow(filter, 0, 1.0) for filter in filters]
    follow_all = feed.follow_all(LogPosition.start(COUNT), 1.0)
    before = await publish(partitioned_log, "one")

    async def next_sequences(pages: AsyncGenerator[list[Message]]) -> list[int]:
        async for messages in pages:
            if messages:
                return [message.sequence for message in messages]
        return []

    async with aclosing(follows[0]), aclosing(follows[1]), aclosing(follow_all):
        assert [await next_sequences(follow) for follow in follows] == [[before]] * 2
        await move(partitioned_log, 1)
        await publish_as_another_system(partitioned_log, added("one", "foreign"), "foreign")
        after = await publish(partitioned_log, "one", "again")
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
    partitioned_log: JetStreamContext, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(placing, "MOVE_SECONDS", 0.5)
    before = await publish(partitioned_log, "one")
    calls = 0
    original = getattr(partition_move, step)

    async def killed(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if step == "write_placements" and calls == 1:
            return await original(*arguments)
        raise Killed

    plan = await plan_move(partitioned_log, MOVED, 1)
    with monkeypatch.context() as patch:
        patch.setattr(partition_move, step, killed)
        with pytest.raises(Killed):
            await move_workspace(partitioned_log, plan, ignore)
    with pytest.raises(
        Unavailable, match=r"is being moved to partition 1 .* --to 1` goes on"
    ) as no:
        await publish(partitioned_log, "two")
    assert no.value.retry_after == pytest.approx(0.5)
    with pytest.raises(InvalidInput, match="is being moved to partition 1: finish that"):
        await plan_move(partitioned_log, MOVED, 2)
    findings = [finding async for finding in examine_bus(partitioned_log, None)]
    assert any("is being moved to partition 1" in finding.what for finding in findings)
    assert await read_sequences(partitioned_log, subjects.of_workspace(MOVED)) == [before]
    # Others notice nothing, and what is about questions waits for nothing.
    await NatsLog(partitioned_log).publish(sealed(added("d"), workspace="a"))
    await NatsLog(partitioned_log).publish(
        sealed(FeedbackGiven(rating="up", question="Q"), workspace=MOVED)
    )
    foreign = await publish_as_another_system(partitioned_log, added("foreign"), "foreign")

    second_move = await move(partitioned_log, 1)
    assert second_move.is_resumed
    await Carrier(partitioned_log).carry()
    after = await publish(partitioned_log, "two")
    assert partition_at(after) == 1
    assert await read_sequences(partitioned_log, subjects.of_workspace(MOVED)) == [
        before,
        foreign,  # before the end that the second run noted
        after,
    ]


async def test_publishers_wait_and_what_was_published_before_is_known(
    partitioned_server: RunningNats,
    partitioned_log: JetStreamContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 3.0)
    async with connected(partitioned_server) as client:
        publisher = client.jetstream(timeout=5)
        await log_streams(publisher)
        before = await publish(publisher, "one")
        plan = await plan_move(partitioned_log, MOVED, 1)
        moving = asyncio.create_task(move_workspace(partitioned_log, plan, ignore))
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
    all_sequences = await read_sequences(partitioned_log, subjects.of_workspace(MOVED))
    assert all_sequences[:-1] == [before, *sequences]


async def test_of_two_runs_of_a_move_the_later_one_ends_it(
    partitioned_log: JetStreamContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_move, "WAIT_SECONDS", 1.0)
    plan = await plan_move(partitioned_log, MOVED, 1)
    first_run = asyncio.create_task(move_workspace(partitioned_log, plan, ignore))
    await asyncio.sleep(0.3)
    second_plan = await plan_move(partitioned_log, MOVED, 1)
    await move_workspace(partitioned_log, second_plan, ignore)
    with pytest.raises(InvalidInput, match="another run moves workspace"):
        await first_run
    assert (await read_placements(partitioned_log))["other"].partitions == (0, 1)


async def test_an_older_program_refuses_a_log_of_which_workspaces_were_moved(
    partitioned_log: JetStreamContext,
) -> None:
    await move(partitioned_log, 1)
    metadata = (await partitioned_log.stream_info(stream_name(0))).config.metadata or {}
    assert int(metadata["lightstream.topology"]) == 103
    placements = await read_placements(partitioned_log)
    assert placements[MOVED] == replace(
        Placement((0, 1), placements[MOVED].ends, workspace=MOVED),
        moved_at=placements[MOVED].moved_at,
    )
    await write_placements(partitioned_log, placements)
    forget_streams(partitioned_log)
    assert (await log_streams(partitioned_log)).placements == placements
