"""Replicas in processes and on connections of their own share one provider's limits over a real
nats-server.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import pairwise

import pytest
import pytest_asyncio

from runtime.errors import RateLimited
from runtime.models.chat import EndpointChat
from runtime.models.limits import FAILURES_TO_OPEN, LEASE_DURATION, Limits
from runtime.models.rate_limiter import HEARTBEAT
from tests.support.limited_caller import QUESTION, answered, process, replica
from tests.support.nats_server import BusServer, RunningNats, until
from tests.support.openai_provider import WARM, Provider, serving
from tests.support.shared_servers import SharedServers
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("jetstream")  # replicas find the product's topology

Run = Callable[[str, int, Limits], Awaitable[None]]

WINDOW = 3.0
UNDER_WAY = 0.3
"""Seconds in place of a minute, and that one request may take longer to the provider than
another.
"""


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@pytest.fixture
def two_processes(server: BusServer, provider: Provider, shared_servers: SharedServers) -> Run:
    """Run two replicas of that model with so many calls each until every call was answered."""

    async def run(model: str, calls: int, limits: Limits) -> None:
        async with AsyncExitStack() as stack:
            arguments = (shared_servers, server.url, provider.url, model, calls, limits)
            children = [await stack.enter_async_context(process(*arguments)) for _ in range(2)]
            async with asyncio.timeout(PATIENCE):
                outputs = [(await child.communicate())[0] for child in children]
        assert outputs == [f"{calls}\n".encode()] * 2

    return run


def limited(provider: Provider) -> list[float]:
    """When the requests came that the limits hold for."""
    requests = zip(provider.requests, provider.times, strict=True)
    return [at for request, at in requests if request["model"] != WARM]


def most_within(times: list[float], seconds: float) -> int:
    return max(sum(begin <= moment < begin + seconds for moment in times) for begin in times)


async def test_two_processes_never_have_more_calls_under_way_than_the_limit(
    provider: Provider, two_processes: Run
) -> None:
    await two_processes("slow", 40, Limits(calls=3))
    assert len(limited(provider)) == 80
    assert provider.most_running == 3


async def test_two_processes_never_make_more_requests_in_a_window_than_the_limit(
    provider: Provider, two_processes: Run
) -> None:
    await two_processes("good", 40, Limits(requests=20, window=WINDOW))
    times = limited(provider)
    assert len(times) == 80
    assert 15 <= most_within(limited(provider), WINDOW - UNDER_WAY) <= 20
    assert times[-1] - times[0] < 6 * WINDOW


async def test_two_processes_never_use_more_tokens_in_a_window_than_the_limit(
    provider: Provider, two_processes: Run
) -> None:
    await two_processes("costs:100", 30, Limits(tokens=2000, window=WINDOW))
    assert len(limited(provider)) == 60
    # Estimates begin at 500 tokens an answer and come down to what answers have; what was too much
    # is given back.
    assert 10 <= most_within(limited(provider), WINDOW - UNDER_WAY) <= 20


async def test_the_calls_of_a_killed_process_come_back(
    server: BusServer, provider: Provider, shared_servers: SharedServers
) -> None:
    limits = Limits(calls=2)
    async with (
        process(shared_servers, server.url, provider.url, "hang", 2, limits) as holder,
        replica(server.url, provider.url, "hang", limits) as (chat, _),
    ):

        async def both_hang() -> bool:
            return provider.running == 2

        await until(both_hang, "two calls")
        holder.kill()
        begin = time.monotonic()
        waiting = [asyncio.create_task(chat.complete(QUESTION)) for _ in range(2)]

        async def both_are_let_in() -> bool:
            return len(limited(provider)) == 4

        await until(both_are_let_in, "the calls of the other process", seconds=LEASE_DURATION + 5)
        assert time.monotonic() - begin > LEASE_DURATION / 2 - 1
        await asyncio.gather(*waiting)


async def test_a_wait_that_one_replica_is_asked_for_holds_for_all(
    server: BusServer, provider: Provider
) -> None:
    async with (
        replica(server.url, provider.url, "good", Limits(calls=4)) as (first, _),
        replica(server.url, provider.url, "good", Limits(calls=4)) as (second, limiter),
    ):
        await second.complete(QUESTION)
        provider.busy_until = time.time() + 5.0
        with pytest.raises(RateLimited, match="asks to wait"):
            await first.complete(QUESTION)
        request_count = len(provider.requests)
        await asyncio.sleep(2 * HEARTBEAT)  # what a replica knows is not older
        with pytest.raises(RateLimited, match="slow down") as caught:
            await second.complete(QUESTION)
        assert 0 < (caught.value.retry_after or 0) < 5
        assert "is paused since" in (await limiter.note() or "")
        assert len(provider.requests) == request_count
        await asyncio.gather(answered(first), answered(second))
        assert provider.times[request_count] >= provider.busy_until - 0.1
        assert len(provider.requests) == request_count + 2
        assert await limiter.note() is None


async def test_a_provider_that_is_down_is_probed_by_one_call_until_it_is_back(
    server: BusServer, provider: Provider
) -> None:
    async with (
        replica(server.url, provider.url, "good", Limits(calls=2)) as (first, limiter),
        replica(server.url, provider.url, "good", Limits(calls=2)) as (second, _),
    ):
        provider.down = True
        asking = [asyncio.create_task(answered(chat)) for chat in [first] * 5 + [second] * 5]

        def times() -> list[float]:
            """Return when the question was asked; others control whether the provider is to
            blame.
            """
            requests = zip(provider.requests, provider.times, strict=False)
            return [
                at
                for request, at in requests
                if request["messages"][-1]["content"] == QUESTION[-1].content
            ]

        def probes() -> list[float]:
            """Return when the provider was asked after the last question: a probe asks the control
            first.
            """
            return [at for at in provider.times if at > times()[-1] + 0.5]

        async def probed() -> bool:
            return len(times()) >= FAILURES_TO_OPEN and len(probes()) >= 2

        await until(probed, "two probing calls")
        note = await limiter.note()
        assert note is not None
        assert "HTTP 500" in note
        # After the breaker opened, at most the calls that were under way, then one at a time.
        assert all(later - earlier > 0.8 for earlier, later in pairwise(probes()))
        assert len(times()) <= FAILURES_TO_OPEN + 1
        provider.down = False
        async with asyncio.timeout(30):
            await asyncio.gather(*asking)
        assert await limiter.note() is None


@pytest.mark.own_nats
async def test_without_the_bus_each_replica_goes_by_its_part(
    server: RunningNats, provider: Provider
) -> None:
    limits = Limits(calls=4)

    async def ask(chat: EndpointChat) -> None:
        await asyncio.gather(*(answered(chat) for _ in range(60)))

    async with (
        replica(server.url, provider.url, "slow", limits) as (first, first_limiter),
        replica(server.url, provider.url, "slow", limits) as (second, second_limiter),
    ):
        asking = asyncio.gather(ask(first), ask(second))

        async def both_know_both() -> bool:
            return all(
                len(limiter._state.shares) == 2 for limiter in (first_limiter, second_limiter)
            )

        await until(both_know_both, "two replicas that know of each other")
        assert len(provider.requests) < 120
        await server.kill()
        async with asyncio.timeout(60):
            await asking
        assert len(provider.requests) == 120
        assert provider.most_running == 4
        await server.restart()
