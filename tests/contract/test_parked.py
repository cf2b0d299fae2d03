"""The contract of the list of parked events, the same in memory and on a real server."""

import pytest

from contracts import subjects
from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from runtime.bus.parking.counts import count_parked
from runtime.bus.parking.port import ParkedEvent, ParkedPage
from tests.support.buses import Bus, numbered

pytestmark = pytest.mark.asyncio(loop_scope="module")


def record(
    sequence: int, durable: str = "chunker", *, about: str = "d", not_before: float = 5.0
) -> ParkedEvent:
    return ParkedEvent(
        durable=durable,
        sequence=sequence,
        subject=subjects.subject("w", about, "DocumentAdded"),
        reason="retried",
        event_type="DocumentAdded",
        attempts={"retry": 3},
        parked_at=1.0,
        not_before=not_before,
    )


async def test_what_is_parked_is_on_the_list_as_it_was_written(bus: Bus) -> None:
    revision = await bus.parked.put(record(7))
    (entry,) = await bus.parked.changes("chunker", 0)
    assert (entry.revision, entry.durable, entry.workspace, entry.sequence) == (
        revision,
        "chunker",
        "w",
        7,
    )
    assert entry.event == record(7)


async def test_each_durable_has_its_own_records(bus: Bus) -> None:
    for durable in ("chunker", "query-status"):
        assert await bus.parked.put(record(7, durable))
    assert [entry.durable for entry in await bus.parked.changes("query-status", 0)] == [
        "query-status"
    ]
    assert {entry.durable for entry in await bus.parked.changes("*", 0)} == {
        "chunker",
        "query-status",
    }


async def test_an_event_is_parked_once(bus: Bus) -> None:
    assert await bus.parked.put(record(7))
    assert await bus.parked.put(record(7, not_before=9.0)) == 0
    (entry,) = await bus.parked.changes("chunker", 0)
    assert entry.event == record(7)


async def test_of_two_who_claim_one_record_one_gets_it(bus: Bus) -> None:
    revision = await bus.parked.put(record(7))
    first = await bus.parked.put(record(7, not_before=30.0), revision)
    assert first > revision
    assert await bus.parked.put(record(7, not_before=31.0), revision) == 0
    assert not await bus.parked.remove(record(7), revision)
    (entry,) = await bus.parked.changes("chunker", 0)
    assert (entry.revision, entry.event) == (first, record(7, not_before=30.0))


async def test_what_is_removed_is_told_to_who_looks_and_can_not_be_claimed(bus: Bus) -> None:
    revision = await bus.parked.put(record(7))
    assert await bus.parked.remove(record(7), revision)
    (entry,) = await bus.parked.changes("chunker", revision)
    assert (entry.sequence, entry.event) == (7, None)
    assert await bus.parked.put(record(7), revision) == 0


async def test_changes_are_read_from_where_one_has_come_to(bus: Bus) -> None:
    revisions = [await bus.parked.put(record(number)) for number in (1, 2, 3)]
    assert [entry.sequence for entry in await bus.parked.changes("chunker", revisions[0])] == [2, 3]
    assert [entry.sequence for entry in await bus.parked.changes("chunker", 0, max_records=2)] == [
        1,
        2,
    ]
    await bus.parked.put(record(1, not_before=8.0), revisions[0])
    assert [entry.sequence for entry in await bus.parked.changes("chunker", revisions[2])] == [1]


async def test_the_events_themselves_come_from_the_log_in_its_order(bus: Bus) -> None:
    for number, about in enumerate("abab", 1):
        await bus.log.publish(numbered(number, about))
    result = await bus.parked.originals(
        [record(4, about="b"), record(1, about="a"), record(9, about="a")]
    )
    assert [message.sequence for message in result] == [1, 4]
    events = [decode(message.data, message.subject).data for message in result]
    assert [event.text for event in events if isinstance(event, DocumentAdded)] == [
        "text 1",
        "text 4",
    ]
    await result[0].ack()
    await result[0].heartbeat()
    assert await bus.parked.originals([]) == []


async def test_what_others_have_parked_hides_nothing_of_a_workspace(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.bus.parking.counts.MAX_RECORDS", 3)
    for sequence in range(1, 6):
        await bus.parked.put(record(sequence))
    subject = subjects.subject("v", "d", "DocumentAdded")
    late_record = record(9).model_copy(update={"subject": subject, "workspace": "v"})
    assert await bus.parked.put(late_record)
    (count,) = (await count_parked(bus.parked, "v")).counts
    assert (count.workspace, count.events, count.first) == ("v", 1, 9)


async def test_the_newest_of_many_records_are_counted_and_the_total_is_that_of_all(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.bus.parking.counts.MAX_RECORDS", 3)
    first_record = record(1)
    revision = await bus.parked.put(first_record)
    for sequence in range(2, 8):
        await bus.parked.put(record(sequence))
    await bus.parked.put(record(1, not_before=9.0), revision)
    page = await bus.parked.newest_page(3)
    assert ([entry.sequence for entry in page.records], page.total) == ([1, 7, 6], 7)
    counts = await count_parked(bus.parked)
    assert (counts.read_count, counts.total, counts.is_whole) == (3, 7, False)
    (count,) = counts.counts
    assert (count.events, count.first, count.is_least) == (3, 1, True)
    assert str(count).startswith("at least 3 events")


async def test_the_newest_records_of_a_workspace_are_found_behind_those_of_others(
    bus: Bus,
) -> None:
    subject = subjects.subject("v", "d", "DocumentAdded")
    for sequence in (1, 2):
        own_record = record(sequence).model_copy(update={"subject": subject, "workspace": "v"})
        await bus.parked.put(own_record)
    for sequence in range(3, 40):
        await bus.parked.put(record(sequence))
    page = await bus.parked.newest_page(1, "v")
    assert ([entry.sequence for entry in page.records], page.total) == ([2], 2)
    page = await bus.parked.newest_page(2, "v")
    assert ([entry.sequence for entry in page.records], page.total) == ([2, 1], 2)
    assert await bus.parked.newest_page(2, "nobody") == ParkedPage([], 0)


async def test_what_was_removed_is_not_among_the_newest(bus: Bus) -> None:
    revision = await bus.parked.put(record(1))
    await bus.parked.put(record(2))
    await bus.parked.remove(record(1), revision)
    page = await bus.parked.newest_page(5)
    assert ([entry.sequence for entry in page.records], page.total) == ([2], 1)
