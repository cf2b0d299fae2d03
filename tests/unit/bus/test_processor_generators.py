"""Events that a handler makes while earlier ones are published: the same ids again, and no half
acknowledged.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from contracts.envelope import Envelope
from contracts.events import Event
from contracts.graph import Generations
from runtime.bus.memory import MemoryMessage
from runtime.bus.port import Delivery, Events
from runtime.bus.processor import each
from runtime.bus.results import PUBLISHES_AT_ONCE
from runtime.errors import Poison, RateLimited, Unavailable
from tests.support.events import added, chunked, document, sealed
from tests.support.processors import ProcessorBench, RecordingLog, bench


def part(number: int, about: str = "d") -> Event:
    return chunked(document(about), f"text {number}", part=number, parts=9, first=number)


def streaming(count: int, error: Exception | None = None, notes: list[str] | None = None) -> Any:
    """Gives that many events, one by one, and then fails if it is to."""
    journal = notes if notes is not None else []

    async def events(about: str) -> AsyncGenerator[Event]:
        try:
            for number in range(count):
                journal.append(f"made {number}")
                yield part(number, about)
            if error:
                raise error
        finally:
            journal.append("closed")

    async def handle(delivery: Delivery[Any], _: Generations) -> Events:
        return events(delivery.event.aggregate_id)

    return each(handle)


def one(handle: Any) -> ProcessorBench:
    table = bench(handle)
    table.append(sealed(added()))
    return table


async def test_everything_is_published_before_its_cause_is_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = one(streaming(3))

    async def ack(message: MemoryMessage) -> None:
        table.log.events.append("ack")

    monkeypatch.setattr(MemoryMessage, "ack", ack)
    await table.deliver()
    assert table.log.events == ["publish ChunksCreated"] * 3 + ["ack"]
    assert [event.data for event in table.published()] == [part(0), part(1), part(2)]


async def test_the_first_event_is_in_the_log_while_the_next_one_is_still_made() -> None:
    waiting = asyncio.Event()

    async def events() -> AsyncGenerator[Event]:
        yield part(0)
        await asyncio.wait_for(waiting.wait(), 10)
        yield part(1)

    async def handle(delivery: Delivery[Any], _: Generations) -> Events:
        return events()

    table = one(each(handle))
    task = asyncio.create_task(table.deliver())
    async with asyncio.timeout(10):
        while not table.published():
            await asyncio.sleep(0)
    assert not task.done()
    waiting.set()
    await task
    assert len(table.published()) == 2
    assert table.unacknowledged == []


async def test_a_second_delivery_publishes_the_same_ids_and_so_nothing() -> None:
    table = one(streaming(5))
    (message,) = await table.deliver()
    before = list(table.log.messages)
    await table.processor.process([message])
    assert table.log.messages == before
    assert len(before) == 6


class Slow(RecordingLog):
    """A log that counts how many publications it is given at once."""

    now = most = 0

    async def publish(self, envelope: Envelope[Event]) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return await super().publish(envelope)


@pytest.mark.parametrize("as_list", [False, True], ids=["stream", "list"])
async def test_no_more_than_a_window_is_under_way_at_once(as_list: bool) -> None:
    count = PUBLISHES_AT_ONCE * 3 + 1

    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        return [part(number) for number in range(count)]

    table = one(each(handle) if as_list else streaming(count))
    table.log = table.processor.log = Slow(table.log.messages, ids=table.log.ids)
    await table.deliver()
    assert len(table.published()) == count
    assert table.log.most == PUBLISHES_AT_ONCE


@pytest.mark.parametrize(
    "error", [RateLimited("slowly", retry_after=77.0), Unavailable("gone", retry_after=77.0)]
)
async def test_a_stream_that_may_succeed_later_is_delivered_again(error: Exception) -> None:
    table = one(streaming(2, error))
    await table.deliver()
    assert table.unacknowledged == [1]
    assert table.consumer.delays == [77.0]
    table.processor.handle = streaming(3)
    await table.deliver()
    assert [event.data for event in table.published()] == [part(0), part(1), part(2)]
    assert table.unacknowledged == []


async def test_a_stream_that_can_never_end_well_is_a_failure_behind_what_was_published() -> None:
    notes: list[str] = []
    table = one(streaming(2, Poison("it can never be"), notes))
    await table.deliver()
    (failure,) = table.published("StageFailed")
    assert "it can never be" in failure.model_dump_json()
    assert table.unacknowledged == []
    assert notes == ["made 0", "made 1", "closed"]


async def test_a_log_that_takes_no_more_stops_the_making_of_events() -> None:
    notes: list[str] = []
    table = one(streaming(1000, notes=notes))
    table.log.refuse["ChunksCreated"] = Unavailable("the log is full")
    await table.deliver()
    assert notes[-1] == "closed"
    assert len(notes) <= PUBLISHES_AT_ONCE + 2
    assert table.unacknowledged == [1]


async def test_a_batch_with_one_broken_stream_is_handled_one_by_one() -> None:
    async def broken() -> AsyncGenerator[Event]:
        yield part(0, "bad")
        raise Poison("no")

    async def handle(delivery: Delivery[Any], generations: Generations) -> Events:
        if delivery.event.aggregate_id == "bad":
            return broken()
        return [part(0, delivery.event.aggregate_id)]

    table = bench(each(handle))
    for name in ("a", "bad", "b"):
        table.append(sealed(added(name), id=name))
    await table.deliver()
    assert {event.data.aggregate_id for event in table.published("ChunksCreated")} >= {"a", "b"}
    assert [event.data.aggregate_id for event in table.published("StageFailed")] == ["bad"]
    assert table.unacknowledged == []


async def test_a_stream_of_nothing_is_acknowledged() -> None:
    table = one(streaming(0))
    await table.deliver()
    assert (table.published(), table.unacknowledged) == ([], [])


async def test_a_stream_that_is_cancelled_is_closed_and_neither_acknowledged_nor_given_back() -> (
    None
):
    start = asyncio.Event()
    end = asyncio.Event()

    async def events() -> AsyncGenerator[Event]:
        try:
            yield part(0)
            start.set()
            await asyncio.Event().wait()
        finally:
            end.set()

    async def handle(delivery: Delivery[Any], _: Generations) -> Events:
        return events()

    table = one(each(handle))
    task = asyncio.create_task(table.deliver())
    await start.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert end.is_set()
    assert table.unacknowledged == [1]
