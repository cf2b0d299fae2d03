"""Calls that share requests: who comes while one is under way goes into the next, and nobody gets
another's result.
"""

import asyncio
from contextlib import suppress

import pytest

from runtime.concurrency.shared_calls import SharedCalls
from runtime.errors import Unavailable


class Server:
    """Answers each request when it is let go; notes what was asked together."""

    def __init__(self, limit: int = 3) -> None:
        self.asked: list[list[int]] = []
        self.go, self.fails = asyncio.Semaphore(0), False
        self.calls = SharedCalls[str, int, int](self.request, limit)

    async def request(self, key: str, items: list[int]) -> list[int]:
        self.asked.append(items)
        await self.go.acquire()
        if self.fails:
            raise Unavailable("down")
        return [item * 10 for item in items]

    async def several(self, *items: int, key: str = "a") -> list[asyncio.Task[int]]:
        """Ask for all of these at once."""
        tasks = [asyncio.create_task(self.calls.ask(key, item)) for item in items]
        for _ in range(3):
            await asyncio.sleep(0)
        return tasks


async def test_who_asks_alone_is_asked_for_at_once() -> None:
    server = Server()
    server.go.release()
    assert await server.calls.ask("a", 1) == 10
    server.go.release()
    assert await server.calls.ask("a", 2) == 20
    assert server.asked == [[1], [2]]


async def test_what_comes_while_a_request_is_under_way_goes_together_and_no_more_than_may() -> None:
    server = Server()
    tasks = await server.several(1)
    tasks += await server.several(2, 3, 4, 5, 6)
    for _ in range(3):
        server.go.release()
    assert await asyncio.gather(*tasks) == [10, 20, 30, 40, 50, 60]
    assert server.asked == [[1], [2, 3, 4], [5, 6]]


async def test_keys_do_not_wait_for_each_other() -> None:
    server = Server()
    tasks = [*await server.several(1), *await server.several(2, key="b")]
    assert server.asked == [[1], [2]]
    server.go.release()
    server.go.release()
    assert await asyncio.gather(*tasks) == [10, 20]


async def test_one_that_is_cancelled_is_not_asked_for_and_leaves_the_others_alone() -> None:
    server = Server()
    first, second, third = *await server.several(1), *await server.several(2, 3)
    first.cancel()
    second.cancel()
    with suppress(asyncio.CancelledError):
        await first
    server.go.release()
    server.go.release()
    assert await third == 30
    assert server.asked == [[1], [3]]


async def test_an_error_is_that_of_all_in_the_request_and_of_no_other() -> None:
    server = Server()
    server.fails = True
    tasks = [*await server.several(1), *await server.several(2, 3)]
    server.go.release()
    with pytest.raises(Unavailable):
        await tasks[0]
    server.fails = False
    server.go.release()
    assert await asyncio.gather(*tasks[1:]) == [20, 30]
