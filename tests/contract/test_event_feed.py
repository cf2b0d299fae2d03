"""The contract of an event feed, the same in memory and on a real server."""

import asyncio
from contextlib import aclosing

import pytest

from contracts import subjects
from runtime.bus.feed.memory import MemoryEventFeed
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
