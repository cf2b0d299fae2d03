"""Waiting for one of several events."""

import asyncio

import pytest

from runtime.concurrency.events import first_of


async def test_the_first_event_ends_it_and_so_does_the_time() -> None:
    first, second = asyncio.Event(), asyncio.Event()
    waiting = asyncio.create_task(first_of([first, second], 3600))
    await asyncio.sleep(0)
    second.set()
    await waiting
    await first_of([second], 3600)
    await first_of([first], 0)


async def test_a_cancellation_that_comes_with_the_event_is_not_lost() -> None:
    event = asyncio.Event()

    async def waiting_twice() -> None:
        await first_of([event], 3600)
        await asyncio.Event().wait()

    for turns in range(6):
        event.clear()
        task = asyncio.create_task(waiting_twice())
        await asyncio.sleep(0)
        event.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(5):
                await task
