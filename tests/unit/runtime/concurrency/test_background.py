"""Work beside a block: it runs while the block does, and its end is never overlooked."""

import asyncio

import pytest
from structlog.testing import capture_logs

from runtime.concurrency.background import in_background


class Work:
    """Work that goes on until it is cancelled, and then puts its things away."""

    def __init__(self) -> None:
        self.started, self.put_away = asyncio.Event(), False

    async def run(self) -> None:
        try:
            self.started.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.put_away = True


async def test_work_runs_while_the_block_does_and_has_ended_behind_it() -> None:
    work = Work()
    with capture_logs() as logs:
        async with in_background(work.run()):
            await work.started.wait()
            assert not work.put_away
    assert work.put_away
    assert logs == []


async def test_an_error_of_the_block_ends_the_work_and_is_raised() -> None:
    work = Work()
    with pytest.raises(ValueError, match="of the block"):
        async with in_background(work.run()):
            await work.started.wait()
            raise ValueError("of the block")
    assert work.put_away


async def test_an_error_of_the_work_is_logged_at_once_and_the_block_goes_on() -> None:
    async def fail() -> None:
        raise ValueError("of the work")

    with capture_logs() as logs:
        async with in_background(fail()):
            while not logs:
                await asyncio.sleep(0)
            still_running = True
    assert still_running
    (line,) = logs
    assert line["event"] == "work in the background ended early"
    assert line["work"].endswith("fail")
    assert isinstance(line["exc_info"], ValueError)


async def test_work_that_ends_by_itself_is_no_error() -> None:
    async def finish() -> None:
        return

    with capture_logs() as logs:
        async with in_background(finish()):
            await asyncio.sleep(0)
    assert logs == []


async def test_a_block_that_is_cancelled_cancels_the_work() -> None:
    work = Work()

    async def block() -> None:
        async with in_background(work.run()):
            await asyncio.Event().wait()

    task = asyncio.create_task(block())
    await work.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.put_away
