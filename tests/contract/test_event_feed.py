"""The contract of an event feed, the same in memory and on a real server."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

import pytest

from contracts import subjects
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.feed.newest import newest_first
from runtime.bus.feed.port import EventFeed
from runtime.bus.memory import MemoryLog
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.port import Message
from tests.support.buses import Bus, MemoryBus, NatsBus, numbered
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")

OF_A = subjects.of_document("w", "a")


def feed_of(bus: Bus) -> EventFeed:
    if isinstance(bus, NatsBus):
        return NatsEventFeed(bus.jetstream)
    assert isinstance(bus, MemoryBus) and isinstance(bus.log, MemoryLog)
    return MemoryEventFeed(bus.log)


async def filled(bus: Bus, *abouts: str) -> None:
    first = await bus.log.last_sequence() + 1
    for number, about in enumerate(abouts, first):
        assert await bus.log.publish(numbered(number, about)) == number


@dataclass
class CountingFeed:
    """A feed that counts the events that it returns in pages."""

    feed: EventFeed
    event_count: int = 0

    async def last_sequence(self, subject: str) -> int:
        return await self.feed.last_sequence(subject)

    async def count(self, subject: str, after: int = 0) -> int:
        return await self.feed.count(subject, after)

    async def page(self, subject: str, after: int, limit: int) -> tuple[list[Message], int]:
        messages, remaining = await self.feed.page(subject, after, limit)
        self.event_count += len(messages)
        return messages, remaining


def sequences(messages: list[Message]) -> list[int]:
    return [message.sequence for message in messages]


async def test_pages_are_read_behind_a_place_with_how_many_come_behind_them(bus: Bus) -> None:
    feed = feed_of(bus)
    assert (
        await feed.page(OF_A, 0, 10),
        await feed.count(OF_A),
        await feed.last_sequence(OF_A),
    ) == (
        ([], 0),
        0,
        0,
    )
    await filled(bus, *"abababa")
    messages, remaining = await feed.page(OF_A, 1, 2)
    assert (sequences(messages), remaining) == ([3, 5], 1)
    assert [await feed.count(OF_A, after) for after in (0, 1, 6, 7, 99)] == [4, 3, 1, 0, 0]
    messages, remaining = await feed.page(subjects.of_workspace("w"), 0, 500)
    assert (sequences(messages), remaining) == ([1, 2, 3, 4, 5, 6, 7], 0)
    assert (await feed.page(subjects.of_workspace("v"), 0, 5), await feed.page(OF_A, 0, 0)) == (
        ([], 0),
        ([], 4),
    )


async def test_more_than_one_fetch_makes_one_page(bus: Bus) -> None:
    await filled(bus, *["a"] * 230)
    messages, remaining = await feed_of(bus).page(OF_A, 5, 220)
    assert (sequences(messages), remaining) == (list(range(6, 226)), 5)


async def test_events_are_read_from_the_newest_on_and_no_more_than_are_taken(bus: Bus) -> None:
    feed = CountingFeed(feed_of(bus))
    await filled(bus, *["a"] * 40, *"ab" * 60, *["b"] * 300)
    of_a = [*range(1, 41), *range(41, 161, 2)]
    for before in (None, 141, 40, 1, 0, 10_000):
        async with aclosing(newest_first(feed, OF_A, before, page=7)) as events:
            got = [message.sequence async for message in events]
        assert got == [place for place in reversed(of_a) if before is None or place < before]
    feed.event_count = 0
    async with aclosing(newest_first(feed, OF_A, page=7)) as events:
        assert [(await anext(events)).sequence for _ in range(10)] == of_a[:-11:-1]
    assert feed.event_count <= 2 * 14


async def test_a_follower_gets_what_is_there_and_then_what_comes_without_a_gap(bus: Bus) -> None:
    await filled(bus, *"ab" * 60)
    got = list[int]()
    async with aclosing(feed_of(bus).follow(OF_A, 1, PATIENCE)) as pages, asyncio.timeout(PATIENCE):
        while len(got) < 59:
            got += sequences(await anext(pages))
        await filled(bus, *"aba")
        while len(got) < 61:
            got += sequences(await anext(pages))
    assert got == [*range(3, 121, 2), 121, 123]


async def test_a_follower_is_told_of_silence_and_goes_on(bus: Bus) -> None:
    await filled(bus, *"ab")
    async with aclosing(feed_of(bus).follow(OF_A, 0, 0.2)) as pages, asyncio.timeout(PATIENCE):
        got = [sequences(await anext(pages)) for _ in range(3)]
        assert got == [[1], [], []]
        await filled(bus, "a")
        # Of a silence that was under way, one more may be told.
        while not (page := sequences(await anext(pages))):
            continue
        assert page == [3]
