"""What watches all partitions of a log: the feed of all workspaces, and how far each one is."""

import asyncio
from contextlib import aclosing

import pytest
from nats.js import JetStreamContext

from contracts.partitions import LogPosition, partition_at
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus_examination import examine_bus
from runtime.metrics.bus_readings import read_deployment
from runtime.projections.partition_progress import read_partitions
from tests.support.events import added, sealed
from tests.support.metrics import counted
from tests.support.partitioned_bus import COUNT, WORKSPACES


async def test_a_feed_of_all_workspaces_follows_each_partition_and_goes_on_where_it_was(
    partitioned_log: JetStreamContext,
) -> None:
    log, feed = NatsLog(partitioned_log), NatsEventFeed(partitioned_log)
    sequences = [
        await log.publish(sealed(added(id, "one"), workspace=workspace))
        for id in ("d", "e")
        for workspace in WORKSPACES
    ]
    received: list[int] = []
    place = log_start = LogPosition.start(COUNT)

    async def follow(until_count: int) -> LogPosition:
        position = place
        async with aclosing(feed.follow_all(place, 30.0)) as pages, asyncio.timeout(30):
            while len(received) < until_count:
                messages, position = await anext(pages)
                received.extend(message.sequence for message in messages)
        return position

    place = await follow(1)  # of one partition; the others are where they were
    assert place != log_start
    # What enters while nobody follows, the first partition after the last one, too.
    for workspace in reversed(WORKSPACES):
        sequences.append(await log.publish(sealed(added("f", "one"), workspace=workspace)))
    place = LogPosition.of_text((await follow(len(sequences))).text)
    assert sorted(received) == sorted(sequences), "each once"
    for partition in range(COUNT):
        of_partition = [s for s in received if partition_at(s) == partition]
        assert of_partition == sorted(of_partition)
    assert place == await log.end()
    async with aclosing(feed.follow_all(place, 0.2)) as pages:
        assert await anext(pages) == ([], place)


@pytest.mark.parametrize("text", ["", "x", "5-5", "17592186044420", "1-17592186044420-3"])
def test_a_text_that_no_place_was_written_as_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no place in a log|invalid literal"):
        LogPosition.of_text(text)


async def test_each_partition_tells_its_size_and_what_is_left_of_it(
    partitioned_log: JetStreamContext,
) -> None:
    log = NatsLog(partitioned_log)
    for workspace, count in zip(WORKSPACES, (1, 0, 2), strict=True):
        for number in range(count):
            await log.publish(sealed(added(f"d{number}", "one"), workspace=workspace))
    partitions = await read_partitions(partitioned_log)
    assert [partition.events for partition in partitions] == [1, 0, 2]
    assert [partition.lags["status"] for partition in partitions] == [1, 0, 2]
    assert [partition.end for partition in partitions] == list((await log.end()).sequences)
    assert partitions[2].size > 0
    await read_deployment(partitioned_log, await NatsLiveGenerations.bind(partitioned_log))
    lag = "lightstream_partition_lag_events"
    assert await counted(lag, projection="status", stream="KB_EVENTS_2") == 2
    assert await counted("lightstream_stream_messages", stream="KB_EVENTS_2") == 2
    assert await counted("lightstream_projection_lag_events", projection="status") == 3
    findings = [finding.what async for finding in examine_bus(partitioned_log, None)]
    assert "query-status: 3 events wait, 2 of them in KB_EVENTS_2" in findings
