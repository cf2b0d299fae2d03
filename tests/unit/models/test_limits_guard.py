"""One process's guard, with the bus in memory: turns, patience, pauses, and a bus that does not answer."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from runtime.bus.memory import MemorySharedValues
from runtime.errors import Poison, RateLimited, Unavailable
from runtime.models import limits_guard
from runtime.models.limits import FAILURES, Limits
from runtime.models.limits_guard import Guard
from runtime.models.limits_shared import Guards, paused

Make = Callable[..., Guard]


class Watched(MemorySharedValues):
    """A bus that does not answer while `down`, and counts what is asked of it."""

    down = False
    reads = 0

    async def read(self, key: str) -> tuple[bytes, int]:
        self.reads += 1
        if self.down:
            raise Unavailable("the bus does not answer")
        return await super().read(key)


@pytest_asyncio.fixture
async def guard() -> AsyncIterator[Make]:
    """Makes guards, and closes them."""
    made: list[Guard] = []

    def make(limits: Limits, values: MemorySharedValues | None = None, **options: float) -> Guard:
        made.append(Guard("m at a host", limits, values, **options))
        return made[-1]

    yield make
    await asyncio.gather(*(one.close() for one in made))


async def fail(guard: Guard, error: Exception) -> None:
    with pytest.raises(type(error)):
        async with guard.call():
            raise error


async def most_at_once(guards: list[Guard], calls: int) -> int:
    under_way = most = 0

    async def one(guard: Guard) -> None:
        nonlocal under_way, most
        async with guard.call():
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.005)
            under_way -= 1

    await asyncio.gather(*(one(guards[number % len(guards)]) for number in range(calls)))
    return most


async def heard_of_each_other(replicas: list[Guard]) -> None:
    """Have a call under way in both, long enough for a beat or two."""
    async with replicas[0].call(), replicas[1].call():
        await asyncio.sleep(2 * limits_guard.BEAT)


@pytest.mark.parametrize("replicas", [1, 2, 3])
async def test_no_more_calls_are_under_way_than_the_limit(guard: Make, replicas: int) -> None:
    values = MemorySharedValues()
    assert await most_at_once([guard(Limits(calls=4), values) for _ in range(replicas)], 24) == 4


async def test_without_limits_everybody_is_let_in(guard: Make) -> None:
    for free in (guard(Limits(), MemorySharedValues()), guard(Limits())):
        everybody = asyncio.Barrier(50)

        async def come_in(free: Guard = free, everybody: asyncio.Barrier = everybody) -> None:
            async with free.call():
                await everybody.wait()

        async with asyncio.timeout(30):
            await asyncio.gather(*(come_in() for _ in range(50)))


async def test_many_calls_cost_few_trips_to_the_bus(guard: Make) -> None:
    values = Watched()
    replicas = [guard(Limits(calls=8, requests=60_000, tokens=60_000_000), values) for _ in range(2)]
    for _ in range(10):
        await most_at_once(replicas, 80)
    assert values.writes <= values.reads < 80


async def test_what_is_held_is_given_back_when_nothing_runs(guard: Make) -> None:
    values = MemorySharedValues()
    first, second = guard(Limits(calls=2), values), guard(Limits(calls=2), values)
    await most_at_once([first], 4)
    await first.close()
    assert b'"shares":{}' in (await values.read(first.key))[0]
    assert await most_at_once([second], 4) == 2


async def test_a_person_does_not_wait_for_ever(guard: Make) -> None:
    limited = guard(Limits(calls=1), patience=0.1)
    async with limited.call():
        with pytest.raises(RateLimited, match=r"no turn within 0\.1 s"):
            async with limited.call():
                pass
    async with limited.call():
        pass


async def test_a_paused_provider_is_not_called_and_the_error_says_for_how_long(guard: Make) -> None:
    values = MemorySharedValues()
    first, second = guard(Limits(calls=2), values), guard(Limits(calls=2), values)
    await fail(first, RateLimited("slow down", retry_after=40))
    with pytest.raises(RateLimited, match="slow down") as caught:
        async with second.call():
            raise AssertionError("it was called")
    assert 35 < (caught.value.retry_after or 0) <= 40
    assert await paused(values) == [await first.note()]
    assert "slow down" in (await paused(values))[0]


async def test_failures_of_all_replicas_together_open_the_breaker(guard: Make) -> None:
    values = MemorySharedValues()
    replicas = [guard(Limits(calls=2), values) for _ in range(2)]
    for number in range(FAILURES):
        await fail(replicas[number % 2], Unavailable("HTTP 500"))
    for one in replicas:
        with pytest.raises(RateLimited, match="HTTP 500"):
            async with one.call():
                raise AssertionError("it was called")


async def test_what_a_provider_refuses_for_its_content_shows_that_it_is_well(guard: Make) -> None:
    one = guard(Limits(calls=2), MemorySharedValues())
    for _ in range(3):
        for _ in range(FAILURES - 1):
            await fail(one, Unavailable("HTTP 500"))
        await fail(one, Poison("too long"))
    assert await one.note() is None


async def test_a_429_without_a_word_pauses_for_a_moment(guard: Make) -> None:
    one = guard(Limits(calls=2), MemorySharedValues())
    await fail(one, RateLimited("slow down"))
    with pytest.raises(RateLimited) as caught:
        async with one.call():
            pass
    assert 0 < (caught.value.retry_after or 0) <= limits_guard.PAUSE_WITHOUT_WORD


async def test_a_cancelled_call_gives_its_turn_back(guard: Make) -> None:
    one = guard(Limits(calls=1), MemorySharedValues())
    begun = asyncio.Event()

    async def hang() -> None:
        async with one.call():
            begun.set()
            await asyncio.sleep(60)

    hanging = asyncio.create_task(hang())
    await begun.wait()
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    async with asyncio.timeout(2), one.call():
        pass


async def test_without_the_bus_a_replica_goes_by_its_own_part_and_comes_back(
    guard: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits_guard, "ALONE", 0.2)
    values = Watched()
    replicas = [guard(Limits(calls=4), values) for _ in range(2)]
    await heard_of_each_other(replicas)
    values.down = True
    assert await most_at_once(replicas, 16) <= 4
    values.down = False
    await asyncio.sleep(0.25)
    await heard_of_each_other(replicas)
    assert await most_at_once(replicas, 16) == 4


async def test_a_bus_that_never_answered_leaves_the_whole_limit(guard: Make) -> None:
    values = Watched()
    values.down = True
    assert await most_at_once([guard(Limits(calls=3), values)], 9) == 3


async def test_a_value_nobody_can_read_counts_as_none(guard: Make) -> None:
    values = MemorySharedValues()
    one = guard(Limits(calls=2), values)
    await values.write(one.key, b"[]", 0)
    assert await most_at_once([one], 4) == 2


async def test_guards_of_one_use_and_key_share_a_state_and_tell_people(guard: Make) -> None:
    values = MemorySharedValues()
    first, second = Guards(values), Guards(values)
    one = first.guard("language model", "m at a host", "url m", Limits(calls=1))
    other = second.guard("language model", "m at a host", "url m", Limits(calls=1))
    embeddings = second.guard("embeddings", "m at a host", "url m", Limits(calls=1))
    assert one.key == other.key != embeddings.key
    await fail(one, RateLimited("slow down", retry_after=9))
    assert "slow down" in (await second.notes["language model"]() or "")
    assert await second.notes["embeddings"]() is None
    await asyncio.gather(one.close(), other.close(), embeddings.close())
