"""Rebuilds over a log of several partitions on a real server: of all, to a time, and to a sequence
of each.
"""

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import BudgetSet
from contracts.partitions import LogPosition, stream_name
from operations import bulk_load
from operations.rebuild import Rebuild
from runtime.bus.codec import encode
from runtime.bus.memory import MemoryLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_evidence import observe_log
from runtime.bus.points import position_at, position_of, sequence_at
from runtime.errors import InvalidInput
from services.merger.settings import MergerSettings
from tests.integration.test_partitions import publish_recorded
from tests.support.events import added, sealed
from tests.support.nats_server import RunningNats, connected
from tests.support.partitioned_bus import COUNT, WORKSPACES
from tests.unit.operations.test_bulk_load import (
    DIGESTS,
    PROJECTIONS,
    LexicalEmbedder,
    digests,
    stores,
)


def rebuild(jetstream: JetStreamContext, generations: MemoryLiveGenerations) -> Rebuild:
    return Rebuild(
        NatsLog(jetstream),
        generations,
        stores(),
        LexicalEmbedder(64),
        list(PROJECTIONS),
        lambda _: None,
        MergerSettings(),
    )


async def test_a_rebuild_to_a_time_stops_there_in_each_partition(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    await publish_recorded(partitioned_log)
    early = await log.end()
    newest = [page[-1] async for page in log.read(page=1)]
    last_time = max(message.published_at for message in newest)
    for workspace in WORKSPACES:
        await log.publish(sealed(added("late", "One more."), workspace=workspace))
    assert await position_at(log, last_time.isoformat()) == early
    assert await position_at(log, "now") == await log.end()
    assert await position_at(log, "2020-01-01") == LogPosition.start(COUNT)
    work = rebuild(partitioned_log, MemoryLiveGenerations())
    work.until = early
    await work.fill("w")
    assert work.position == early
    expected_digests = {key: value for key, value in DIGESTS.items() if key[1] != "status"}
    actual_digests = await digests(work.stores, work.generations)
    assert {key: actual_digests[key] for key in expected_digests} == expected_digests


async def test_a_rebuild_stops_at_a_sequence_of_each_partition(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    await publish_recorded(partitioned_log)
    early = await log.end()
    for workspace in WORKSPACES:
        await log.publish(sealed(added("late", "One more."), workspace=workspace))
    assert await position_of(log, early.sequences[::-1]) == early
    assert (await position_of(log, early.sequences[2:], "w")).sequences[2] == early.sequences[2]
    for sequences, workspace, complaint in (
        (early.sequences[:2], None, "one of partition 2 is missing, where sequences begin at"),
        (early.sequences[:2], "w", r"one of partition 2 is missing, .* or give a time"),
        ((1, *early.sequences), None, "two of the sequences are of the same partition"),
        ((early.sequences[0] + 2,), None, "there is no sequence"),
        ((2**60,), None, "there is no sequence"),
    ):
        with pytest.raises(InvalidInput, match=complaint):
            await position_of(log, sequences, workspace)
    work = rebuild(partitioned_log, MemoryLiveGenerations())
    work.until = await position_of(log, early.sequences)
    await work.fill("w")
    assert work.position == early
    with pytest.raises(InvalidInput, match=r"stands in partition 0 .* workspace in partition 2"):
        await sequence_at(log, "w", str(early.sequences[0]))


async def test_a_rebuild_reads_all_partitions_and_what_enters_any_of_them_later(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    await publish_recorded(partitioned_log)
    first_work = rebuild(partitioned_log, MemoryLiveGenerations())
    await first_work.run("w")
    assert first_work.position == await log.end()
    assert first_work.events == (await observe_log(partitioned_log)).last_sequence
    expected_digests = {key: value for key, value in DIGESTS.items() if key[1] != "status"}
    actual_digests = await digests(first_work.stores, first_work.generations)
    assert {key: actual_digests[key] for key in expected_digests} == expected_digests

    pointers = MemoryLiveGenerations()
    stepwise_work = rebuild(partitioned_log, pointers)
    await stepwise_work.fill("w")
    for workspace in WORKSPACES:  # the first partition after the last one, too
        await log.publish(sealed(added("late", "One more."), workspace=workspace))
    assert not stepwise_work.position.includes(await log.end())
    candidate = stepwise_work.candidate()
    later_work = rebuild(partitioned_log, pointers)
    later_work.stores = stepwise_work.stores
    later_work.__post_init__()
    await later_work.promote(candidate)
    assert later_work.position == await log.end()
    second_work = rebuild(partitioned_log, MemoryLiveGenerations())
    await second_work.run("w")
    assert await digests(later_work.stores, later_work.generations) == await digests(
        second_work.stores, second_work.generations
    )


async def test_a_durable_for_which_there_was_nothing_does_not_hold_up_a_way_back(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    for workspace in WORKSPACES:
        await log.publish(sealed(BudgetSet(money=1.0), workspace=workspace))
    assert await log.handled_position() == LogPosition.start(COUNT)
    for number in range(COUNT):
        reader = await partitioned_log.pull_subscribe_bind(
            consumer="query-status", stream=stream_name(number)
        )
        for message in await reader.fetch(1, timeout=5):
            await message.ack_sync()
        await reader.unsubscribe()
    assert await log.handled_position() == await log.end()


async def test_a_bounded_rebuild_reads_no_partition_much_further_than_its_end(
    partitioned_server: RunningNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_load, "PAGE", 10)
    async with connected(partitioned_server) as client:
        jetstream = client.jetstream(timeout=5)
        log = NatsLog(jetstream)
        for workspace in WORKSPACES:
            await log.publish(sealed(added("early", "One."), workspace=workspace))
        work = rebuild(jetstream, MemoryLiveGenerations())
        work.until = await log.end()
        body = encode(sealed(added("late", "More."), workspace="w"))
        for workspace in WORKSPACES:
            for number in range(200):
                subject = subjects.subject(workspace, f"late-{number}", "DocumentAdded")
                await jetstream.publish_async(subject, body)
        await jetstream.publish_async_completed()
        received_before = client.stats["in_msgs"]
        await work.fill("w")
        assert work.events == len(WORKSPACES)
        # Read twice, for the bounds of documents and for all; one page is asked for ahead.
        assert client.stats["in_msgs"] - received_before < 2 * 3 * 2 * 10 + 100
