"""The rate limiter of one process, with the bus in memory: turns, waits, pauses, and a bus that
does not answer.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from runtime.bus.memory import MemorySharedValues
from runtime.errors import Poison, RateLimited, Unavailable
from runtime.models import rate_limiter
from runtime.models.limits import FAILURES_TO_OPEN, Limits
from runtime.models.rate_limiter import RateLimiter
from runtime.models.rate_limiters import RateLimiters, pause_notices

Make = Callable[..., RateLimiter]


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
async def limiter() -> AsyncIterator[Make]:
    """Makes rate limiters, and closes them."""
    limiters: list[RateLimiter] = []

    def make(
        limits: Limits, values: MemorySharedValues | None = None, **options: float
    ) -> RateLimiter:
        limiters.append(RateLimiter("m at a host", limits, values, **options))
        return limiters[-1]

    yield make
    await asyncio.gather(*(limiter.close() for limiter in limiters))


async def fail(limiter: RateLimiter, error: Exception) -> None:
    with pytest.raises(type(error)):
        async with limiter.call():
            raise error


async def most_at_once(limiters: list[RateLimiter], calls: int) -> int:
    under_way = peak = 0

    async def one(limiter: RateLimiter) -> None:
        nonlocal under_way, peak
        async with limiter.call():
            under_way += 1
            peak = max(peak, under_way)
            await asyncio.sleep(0.005)
            under_way -= 1

    await asyncio.gather(*(one(limiters[number % len(limiters)]) for number in range(calls)))
    return peak


async def heard_of_each_other(replicas: list[RateLimiter]) -> None:
    """Have a call under way in both, long enough for a beat or two."""
    async with replicas[0].call(), replicas[1].call():
        await asyncio.sleep(2 * rate_limiter.HEARTBEAT)


@pytest.mark.parametrize("replicas", [1, 2, 3])
async def test_no_more_calls_are_under_way_than_the_limit(limiter: Make, replicas: int) -> None:
    values = MemorySharedValues()
    assert await most_at_once([limiter(Limits(calls=4), values) for _ in range(replicas)], 24) == 4


async def test_without_limits_everybody_is_let_in(limiter: Make) -> None:
    for free in (limiter(Limits(), MemorySharedValues()), limiter(Limits())):
        barrier = asyncio.Barrier(50)

        async def come_in(free: RateLimiter = free, barrier: asyncio.Barrier = barrier) -> None:
            async with free.call():
                await barrier.wait()

        async with asyncio.timeout(30):
            await asyncio.gather(*(come_in() for _ in range(50)))


async def test_many_calls_cost_few_trips_to_the_bus(limiter: Make) -> None:
    values = Watched()
    replicas = [
        limiter(Limits(calls=8, requests=60_000, tokens=60_000_000), values) for _ in range(2)
    ]
    for _ in range(10):
        await most_at_once(replicas, 80)
    assert values.writes <= values.reads < 80


async def test_what_is_held_is_given_back_when_nothing_runs(limiter: Make) -> None:
    values = MemorySharedValues()
    first = limiter(Limits(calls=2), values)
    second = limiter(Limits(calls=2), values)
    await most_at_once([first], 4)
    await first.close()
    assert b'"shares":{}' in (await values.read(first.key))[0]
    assert await most_at_once([second], 4) == 2


async def test_a_person_does_not_wait_for_ever(limiter: Make) -> None:
    busy_limiter = limiter(Limits(calls=1), max_wait=0.1)
    async with busy_limiter.call():
        with pytest.raises(RateLimited, match=r"no turn within 0\.1 s"):
            async with busy_limiter.call():
                pass
    async with busy_limiter.call():
        pass


async def test_a_paused_provider_is_not_called_and_the_error_says_for_how_long(
    limiter: Make,
) -> None:
    values = MemorySharedValues()
    first = limiter(Limits(calls=2), values)
    second = limiter(Limits(calls=2), values)
    await fail(first, RateLimited("slow down", retry_after=40))
    with pytest.raises(RateLimited, match="slow down") as caught:
        async with second.call():
            raise AssertionError("it was called")
    assert 35 < (caught.value.retry_after or 0) <= 40
    assert await pause_notices(values) == [await first.note()]
    assert "slow down" in (await pause_notices(values))[0]


async def test_failures_of_all_replicas_together_open_the_breaker(limiter: Make) -> None:
    values = MemorySharedValues()
    replicas = [limiter(Limits(calls=2), values) for _ in range(2)]
    for number in range(FAILURES_TO_OPEN):
        await fail(replicas[number % 2], Unavailable("HTTP 500"))
    for replica in replicas:
        with pytest.raises(RateLimited, match="HTTP 500"):
            async with replica.call():
                raise AssertionError("it was called")


async def test_what_a_provider_refuses_for_its_content_shows_that_it_is_well(limiter: Make) -> None:
    provider_limiter = limiter(Limits(calls=2), MemorySharedValues())
    for _ in range(3):
        for _ in range(FAILURES_TO_OPEN - 1):
            await fail(provider_limiter, Unavailable("HTTP 500"))
        await fail(provider_limiter, Poison("too long"))
    assert await provider_limiter.note() is None


async def test_a_429_without_a_word_pauses_for_a_moment(limiter: Make) -> None:
    provider_limiter = limiter(Limits(calls=2), MemorySharedValues())
    await fail(provider_limiter, RateLimited("slow down"))
    with pytest.raises(RateLimited) as caught:
        async with provider_limiter.call():
            pass
    assert 0 < (caught.value.retry_after or 0) <= rate_limiter.DEFAULT_PAUSE


async def test_a_cancelled_call_gives_its_turn_back(limiter: Make) -> None:
    provider_limiter = limiter(Limits(calls=1), MemorySharedValues())
    start = asyncio.Event()

    async def hang() -> None:
        async with provider_limiter.call():
            start.set()
            await asyncio.sleep(60)

    hanging = asyncio.create_task(hang())
    await start.wait()
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    async with asyncio.timeout(2), provider_limiter.call():
        pass


async def test_without_the_bus_a_replica_goes_by_its_own_part_and_comes_back(
    limiter: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limiter, "LOCAL_LIMITS_DURATION", 0.2)
    values = Watched()
    replicas = [limiter(Limits(calls=4), values) for _ in range(2)]
    await heard_of_each_other(replicas)
    values.down = True
    assert await most_at_once(replicas, 16) <= 4
    values.down = False
    await asyncio.sleep(0.25)
    await heard_of_each_other(replicas)
    assert await most_at_once(replicas, 16) == 4


async def test_a_bus_that_never_answered_leaves_the_whole_limit(limiter: Make) -> None:
    values = Watched()
    values.down = True
    assert await most_at_once([limiter(Limits(calls=3), values)], 9) == 3


async def test_a_value_nobody_can_read_counts_as_none(limiter: Make) -> None:
    values = MemorySharedValues()
    provider_limiter = limiter(Limits(calls=2), values)
    await values.write(provider_limiter.key, b"[]", 0)
    assert await most_at_once([provider_limiter], 4) == 2


async def test_limiters_of_one_use_and_key_share_a_state_and_tell_people(limiter: Make) -> None:
    values = MemorySharedValues()
    first = RateLimiters(values)
    second = RateLimiters(values)
    first_limiter = first.limiter("language model", "m at a host", "url m", Limits(calls=1))
    other_limiter = second.limiter("language model", "m at a host", "url m", Limits(calls=1))
    embeddings = second.limiter("embeddings", "m at a host", "url m", Limits(calls=1))
    assert first_limiter.key == other_limiter.key != embeddings.key
    await fail(first_limiter, RateLimited("slow down", retry_after=9))
    assert "slow down" in (await second.notes["language model"]() or "")
    assert await second.notes["embeddings"]() is None
    await asyncio.gather(first_limiter.close(), other_limiter.close(), embeddings.close())


async def test_calls_one_after_another_cost_few_trips_to_the_bus(limiter: Make) -> None:
    values = Watched()
    provider_limiter = limiter(Limits(calls=8), values)
    for _ in range(8):
        async with provider_limiter.call():
            pass
        await asyncio.sleep(
            1.5 * rate_limiter.HEARTBEAT / 10
        )  # longer than the limiter looks whether anything runs
    assert values.reads <= 3
