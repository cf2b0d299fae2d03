"""The fair semaphore: turns by key, whoever came first with how many."""

import asyncio

import pytest

from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.models.call_scope import calls_for, calls_in_lane, turn_key


async def order_of(semaphore: FairSemaphore, keys: str) -> str:
    """The keys in the order in which they have a turn, while one that came before them holds
    everything.
    """
    order: list[str] = []

    async def take(key: str) -> None:
        async with semaphore.hold(key):
            order.append(key)
            await asyncio.sleep(0)

    async with semaphore.hold("first"):
        tasks = [asyncio.create_task(take(key)) for key in keys]
        await asyncio.sleep(0)
        assert order == []
    await asyncio.gather(*tasks)
    return "".join(order)


async def test_waiters_are_served_round_robin_by_key() -> None:
    assert await order_of(FairSemaphore(1), "aaaaabbc") == "abcabaaa"


async def test_of_one_key_the_first_comes_first() -> None:
    semaphore = FairSemaphore(1)
    order = list[int]()

    async def take(number: int) -> None:
        async with semaphore.hold("a"):
            order.append(number)

    await asyncio.gather(*(take(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_the_key_that_holds_least_comes_first() -> None:
    semaphore = FairSemaphore(2)
    release = asyncio.Event()
    order: list[str] = []

    async def take(key: str) -> None:
        async with semaphore.hold(key):
            order.append(key)
            await release.wait()

    async with semaphore.hold("b"):
        tasks = [asyncio.create_task(take(key)) for key in "aab"]
        await asyncio.sleep(0)
        assert order == ["a"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == ["a", "b"]
    release.set()
    await asyncio.gather(*tasks)


async def test_one_key_never_has_more_than_its_most() -> None:
    semaphore = FairSemaphore(3, 2)
    release = asyncio.Event()
    having = 0

    async def take(key: str) -> None:
        nonlocal having
        async with semaphore.hold(key):
            having += 1
            await release.wait()

    tasks = [asyncio.create_task(take("a")) for _ in range(5)]
    await asyncio.sleep(0)
    assert having == 2
    async with asyncio.timeout(1), semaphore.hold("b"):
        assert having == 2
    release.set()
    await asyncio.gather(*tasks)
    assert having == 5


@pytest.mark.parametrize("served_first", [False, True])
async def test_a_waiter_that_gives_up_takes_nothing_with_it(served_first: bool) -> None:
    semaphore = FairSemaphore(1)

    async def take() -> None:
        async with semaphore.hold("b"):
            pass

    async with semaphore.hold("a"):
        task = asyncio.create_task(take())
        await asyncio.sleep(0)
        if not served_first:
            task.cancel()
            await asyncio.sleep(0)
    if served_first:
        task.cancel()  # in the moment between being given the turn and having it
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    async with asyncio.timeout(1), semaphore.hold("c"):
        pass


async def test_calls_of_another_lane_of_a_workspace_do_not_stand_behind_the_first() -> None:
    semaphore = FairSemaphore(1)
    order: list[str] = []

    async def call(name: str, lane: str) -> None:
        with calls_for("w"), calls_in_lane(lane):
            async with semaphore.hold(turn_key()):
                order.append(name)
                await asyncio.sleep(0)

    async with semaphore.hold("first"):
        calls = [asyncio.create_task(call(f"book {number}", "")) for number in range(20)]
        calls.append(asyncio.create_task(call("note", "early")))
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    assert order.index("note") == 1
