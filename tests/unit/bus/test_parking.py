"""Which events are parked, and how they are taken up again: over the bus in memory."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from contracts.events import Event, StageFailed
from contracts.graph import Generations
from runtime.bus.memory import MemoryParkedEvents
from runtime.bus.parking.policy import PER_SECOND, RETRIES, ParkingPolicy
from runtime.bus.parking.port import ParkedEvent, ParkedRecord
from runtime.bus.parking.reader import ParkedReader
from runtime.bus.port import BUG_ATTEMPTS, Delivery
from runtime.bus.processor import each
from runtime.errors import ProviderPaused, Unavailable, longest_wait
from tests.support.events import added, chunked, document, sealed
from tests.support.processors import ProcessorBench, bench

WINDOW = 64


class FailingHandler:
    """Fails for documents whose name begins with one of `bad`; the others give an event."""

    def __init__(self, *names: str, error: Exception | None = None) -> None:
        self.bad, self.error = names, error or Unavailable("down")
        self.tried = Counter[str]()

    async def __call__(self, delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        about = delivery.event.aggregate_id
        self.tried[about] += 1
        if about.startswith(self.bad or "\0"):
            raise self.error
        return [chunked(document(about), "text")]


def parking(handle: Any, **fields: Any) -> tuple[ProcessorBench, MemoryParkedEvents]:
    table = bench(each(handle), max_ack_pending=WINDOW, **fields)
    parked_events = MemoryParkedEvents(table.log)
    table.processor.parking = ParkingPolicy(table.processor.durable, parked_events)
    return table, parked_events


def newer(table: ProcessorBench, about: str = "n") -> None:
    data = {
        "specversion": "1.0",
        "id": about,
        "source": "s",
        "type": "lightstream.DocumentAdded.v2",
        "workspace": "w",
        "subject": about,
        "data": {},
    }
    table.raw(json.dumps(data).encode(), f"kb.v1.w.{about}.DocumentAdded", about)


def records(parked_events: MemoryParkedEvents) -> list[ParkedEvent]:
    return [event for _, event in parked_events.records.values()]


async def test_an_event_of_a_newer_version_is_parked_at_once_and_says_what_it_is() -> None:
    table, parked_events = parking(FailingHandler())
    newer(table)
    table.append(sealed(added("d")))
    await table.deliver()
    assert table.unacknowledged == []
    (event,) = records(parked_events)
    assert (event.sequence, event.reason, event.event_type, event.version) == (
        1,
        "newer-version",
        "DocumentAdded",
        2,
    )
    assert (event.durable, event.workspace, event.document) == ("chunker", "w", "n")
    assert "newer than this code" in event.error


async def test_what_cannot_be_parked_comes_again_in_the_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(self: MemoryParkedEvents, event: ParkedEvent, revision: int = 0) -> int:
        raise Unavailable("the list does not answer")

    table, _ = parking(FailingHandler())
    monkeypatch.setattr(MemoryParkedEvents, "put", silent)
    newer(table)
    await table.deliver()
    assert table.unacknowledged == [1]


async def test_what_failed_often_is_parked_and_others_keep_their_place() -> None:
    table, parked_events = parking(FailingHandler("bad"))
    table.append(sealed(added("bad"), id="bad"))
    for _ in range(RETRIES):
        await table.deliver()
    assert (table.unacknowledged, records(parked_events)) == ([1], [])
    await table.deliver()
    assert table.unacknowledged == []
    (event,) = records(parked_events)
    assert (event.reason, event.attempts, event.error) == (
        "retried",
        {"retry": RETRIES + 1},
        "Unavailable: down",
    )
    assert event.not_before > event.parked_at + 60


async def test_while_others_succeed_a_workspace_in_trouble_keeps_its_share_of_the_window_only() -> (
    None
):
    table, parked_events = parking(FailingHandler("bad"))
    table.append(sealed(added("good"), id="good", workspace="quiet"))
    for number in range(WINDOW):
        table.append(sealed(added(f"bad{number}"), id=f"bad{number}", workspace="loud"))
    await table.deliver(1)
    for _ in range(2):
        await table.deliver()
    assert len(table.unacknowledged) <= WINDOW // 8
    assert len(records(parked_events)) >= WINDOW - WINDOW // 8
    assert {event.workspace for event in records(parked_events)} == {"loud"}


async def test_an_outage_for_everybody_moves_no_backlog_and_loses_nothing() -> None:
    handle = FailingHandler("d")
    table, parked_events = parking(handle)
    for number in range(WINDOW):
        table.append(sealed(added(f"d{number}"), id=f"d{number}"))
    for _ in range(4):
        await table.deliver()
    waiting = set(table.unacknowledged)
    parked_sequences = {event.sequence for event in records(parked_events)}
    assert waiting | parked_sequences == set(range(1, WINDOW + 1))
    assert len(parked_sequences) <= 2 * PER_SECOND
    handle.bad = ()
    await table.deliver()
    assert table.unacknowledged == []


async def test_outages_do_not_use_up_the_tries_of_a_bug() -> None:
    handle = FailingHandler("d")
    table = bench(each(handle))
    table.append(sealed(added("d")))
    for _ in range(3 * BUG_ATTEMPTS):
        await table.deliver()
    handle.error = RuntimeError("nobody foresaw this")
    for _ in range(BUG_ATTEMPTS - 1):
        await table.deliver()
        assert table.unacknowledged == [1], "an outage made an early bug final"
    handle.error = Unavailable("down again")
    await table.deliver()
    handle.error = RuntimeError("nobody foresaw this")
    await table.deliver()
    assert table.unacknowledged == []
    assert isinstance(table.published()[0].data, StageFailed)


class SteppedReader(ParkedReader):
    """A reader that a test moves on by hand."""

    async def step(self) -> None:
        await self.look()
        await self.take()
        await asyncio.gather(*self._tasks)


async def due(
    table: ProcessorBench, parked_events: MemoryParkedEvents, *abouts: str, workspace: str = "w"
) -> None:
    """Park these events, to be tried now."""
    for about in abouts:
        table.append(sealed(added(about), id=about, workspace=workspace))
        sequence = len(table.log.messages)
        await parked_events.put(
            ParkedEvent(
                durable="chunker",
                sequence=sequence,
                subject=table.log.messages[-1].subject,
                reason="retried",
                event_type="DocumentAdded",
                workspace=workspace,
                attempts={"retry": 9},
                parked_at=0.0,
                not_before=0.0,
            )
        )


async def test_what_is_due_is_handled_as_if_it_were_delivered_and_leaves_the_list() -> None:
    table, parked_events = parking(FailingHandler(), batch=10)
    await due(table, parked_events, "a", "b", "c")
    reader = SteppedReader(table.processor, parked_events)
    for _ in range(2):  # one first, for nobody knows whether the trouble is over
        await reader.step()
    assert {event.data.aggregate_id for event in table.published("ChunksCreated")} == {
        "a",
        "b",
        "c",
    }
    assert parked_events.records == {}
    await reader.step()
    assert await reader.note() is None


async def test_of_a_workspace_in_trouble_one_event_is_tried_and_not_each() -> None:
    handle = FailingHandler("bad")
    table, parked_events = parking(handle)
    await due(table, parked_events, *(f"bad{number}" for number in range(20)), workspace="loud")
    await due(table, parked_events, "good", workspace="quiet")
    reader = SteppedReader(table.processor, parked_events, slots=4)
    for _ in range(5):
        await reader.step()
    assert sum(handle.tried[f"bad{number}"] for number in range(20)) == 1
    assert handle.tried["good"] == 1
    assert len(parked_events.records) == 20
    assert (
        await reader.note()
        == "20 events that failed again and again are parked and tried now and then"
    )
    (again,) = [event for event in records(parked_events) if event.attempts["retry"] > 9]
    assert again.not_before > again.parked_at


@pytest.mark.parametrize("error", [Unavailable("down"), longest_wait([Unavailable("down")], [])])
async def test_what_failed_in_an_outage_is_tried_when_the_outage_is_over_and_not_much_later(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    handle = FailingHandler("", error=error)
    table, parked_events = parking(handle)
    table.processor.parking = ParkingPolicy(
        table.processor.durable, parked_events, clock=lambda: now
    )
    now += 100.0
    await due(table, parked_events, "a", "b")
    reader = SteppedReader(table.processor, parked_events)
    for _ in range(2):
        await reader.step()
        now += 5.0
    handle.bad = ()
    await reader.step()
    assert len(parked_events.records) == 2, "nothing says that the outage is over"
    table.append(sealed(added("c"), id="c"))
    await table.deliver()
    for _ in range(3):
        await reader.step()
    assert parked_events.records == {}


async def test_a_parked_event_is_tried_after_its_wait_although_the_clock_was_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wall_time = 1_900_000_000.0
    monotonic = 1000.0
    monkeypatch.setattr(time, "time", lambda: wall_time)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic)
    table, parked_events = parking(FailingHandler())
    await due(table, parked_events, "a")
    (event,) = records(parked_events)
    await parked_events.put(event.due_in(120.0), parked_events.records["chunker", 1][0])
    wall_time -= 86_400.0
    reader = SteppedReader(table.processor, parked_events)
    for _ in range(2):
        await reader.step()
        assert parked_events.records, "it was tried too early"
        wall_time = wall_time + 61.0
        monotonic = monotonic + 61.0
    await reader.step()
    assert parked_events.records == {}


async def test_an_event_whose_provider_was_not_called_has_used_up_no_try_and_comes_when_the_pause_ends() -> (  # noqa: E501
    None
):
    handle = FailingHandler("d", error=ProviderPaused("paused", retry_after=3.0))
    table, parked_events = parking(handle)
    table.append(sealed(added("d"), id="d"))
    for _ in range(3 * RETRIES):
        await table.deliver()
    assert all(3.0 < delay < 4.5 for delay in table.consumer.delays)
    assert (table.unacknowledged, records(parked_events)) == ([1], [])


async def test_a_parked_event_whose_provider_is_paused_is_due_when_the_pause_ends() -> None:
    handle = FailingHandler("a", error=ProviderPaused("paused", retry_after=3.0))
    table, parked_events = parking(handle)
    await due(table, parked_events, "a")
    await SteppedReader(table.processor, parked_events).step()
    (event,) = records(parked_events)
    assert 3.0 < event.wait < 4.5
    assert event.attempts == {"retry": 9}


def test_several_errors_of_which_none_was_tried_are_a_pause() -> None:
    pauses = [ProviderPaused("paused", retry_after=1.0), ProviderPaused("paused", retry_after=2.0)]
    error = longest_wait(pauses, [])
    assert isinstance(error, ProviderPaused)
    assert error.retry_after == 2.0
    assert not isinstance(longest_wait([*pauses, Unavailable("down")], []), ProviderPaused)


async def test_an_event_that_another_replica_has_claimed_is_left_to_it() -> None:
    handle = FailingHandler()
    table, parked_events = parking(handle)
    await due(table, parked_events, "a")
    first = SteppedReader(table.processor, parked_events)
    second = SteppedReader(table.processor, parked_events)
    await asyncio.gather(first.look(), second.look())
    await asyncio.gather(first.step(), second.step())
    assert handle.tried == {"a": 1}


async def test_a_newer_event_is_taken_up_when_the_code_knows_its_version_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, parked_events = parking(FailingHandler())
    newer(table)
    await table.deliver()
    old_reader = SteppedReader(table.processor, parked_events)
    for _ in range(3):
        await old_reader.step()
    assert (
        await old_reader.note()
        == "1 events of a version newer than this code are parked until it is upgraded"
    )
    assert len(parked_events.history) == 1, "it was tried by code that cannot read it"

    def knows(event_type: str, version: int) -> bool:
        return version <= 2

    monkeypatch.setattr("runtime.bus.parking.reader.knows", knows)
    upgraded_reader = SteppedReader(table.processor, parked_events)
    await upgraded_reader.look()
    assert [
        entry.sequence
        for entry in upgraded_reader._due(next(iter(upgraded_reader._workspaces.values())), 1.0)
    ] == [1]


async def test_an_event_that_was_erased_leaves_the_list() -> None:
    table, parked_events = parking(FailingHandler())
    await due(table, parked_events, "a")
    table.log.messages.clear()
    await SteppedReader(table.processor, parked_events).step()
    assert parked_events.records == {}


async def test_a_claim_is_renewed_while_the_event_is_worked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.bus.parking.policy.LEASE", 0.06)
    renewals: list[ParkedRecord] = []

    async def slow(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        while len(renewals) < 3:
            await asyncio.sleep(0.01)
            renewals[:] = [
                entry
                for entry in parked_events.history
                if entry.event and entry.event.not_before > 1.0
            ]
        return []

    table, parked_events = parking(slow, ack_wait=0.06)
    monkeypatch.setattr("runtime.bus.parking.reader.LEASE", 0.06)
    await due(table, parked_events, "a")
    async with asyncio.timeout(10):
        await SteppedReader(table.processor, parked_events).step()
    assert parked_events.records == {}
