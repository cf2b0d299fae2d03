"""A time limit holds, and who calls goes on, whatever the work does with its cancellation."""

import asyncio

import pytest

from runtime.concurrency.isolated import run_isolated, run_with_timeout
from runtime.errors import Unavailable


async def stubborn(endings: list[str]) -> None:
    """Takes a cancellation as the neo4j driver does: it goes on, and asks for another one."""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        assert task
        task.cancel()
    try:
        await asyncio.sleep(30)
    finally:
        endings.append("ended")


async def test_why_the_usual_time_limit_is_not_enough() -> None:
    async def limited() -> None:
        async with asyncio.timeout(0.01):
            await stubborn([])

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(limited())


async def test_work_that_takes_too_long_is_a_time_out_and_has_ended() -> None:
    endings: list[str] = []
    with pytest.raises(TimeoutError):
        await run_with_timeout(0.01, stubborn(endings))
    assert endings == ["ended"]


async def test_work_in_time_gives_what_it_gives() -> None:
    async def quick() -> int:
        return 7

    async def failing() -> int:
        raise ValueError("no")

    assert await run_with_timeout(5, quick()) == 7
    with pytest.raises(ValueError, match="no"):
        await run_with_timeout(5, failing())


async def test_work_that_cancels_itself_is_a_time_out() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(TimeoutError):
        await run_with_timeout(5, cancelled())


async def test_who_is_cancelled_takes_its_work_along() -> None:
    endings: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            endings.append("ended")

    waiting = asyncio.create_task(run_with_timeout(30, work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)
    assert endings == ["ended"]


async def test_work_apart_that_cancels_itself_is_unavailable_and_its_caller_goes_on() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    async def quick() -> int:
        return 7

    with pytest.raises(Unavailable):
        await run_isolated(cancelled())
    assert await run_isolated(quick()) == 7


async def test_who_is_cancelled_takes_its_work_apart_along() -> None:
    endings: list[str] = []
    waiting = asyncio.create_task(run_isolated(stubborn(endings)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert endings == ["ended"]
