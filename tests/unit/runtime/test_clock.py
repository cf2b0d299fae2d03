"""The machine's clock is set back, or forward: nothing waits for as long as that, and the step is
found.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial

import pytest
import pytest_asyncio

from runtime.bus.memory import MemorySharedValues
from runtime.clock import SETTLING, ClockWatch, SetBack, Waits, legal_time
from runtime.clock_steps import ClockSteps
from runtime.errors import RateLimited
from runtime.models import limits as rules
from runtime.models.limits import LEASE_DURATION, LONGEST_PAUSE, Demand, Limits, ProviderState
from runtime.models.rate_limiter import RateLimiter
from runtime.models.rate_limiters import pause_notices
from services.gateway.auth.credentials import Tokens
from services.gateway.webhooks.endpoints import EndpointState
from services.gateway.webhooks.sender import GIVE_UP, LEAST_FAILURES, failed
from services.merger.main import debounce
from tests.support.access import SECRET

NOW = 1_900_000_000.0
DAY = 86_400.0


class Clock:
    """The clocks of a process: time passes for both, and somebody sets the machine's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real, self.monotonic = NOW, 1000.0
        monkeypatch.setattr(time, "time", lambda: self.real)
        monkeypatch.setattr(time, "monotonic", lambda: self.monotonic)

    def pass_by(self, seconds: float) -> None:
        self.real += seconds
        self.monotonic += seconds

    def set(self, seconds: float) -> None:
        self.real += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize("step", [-DAY, -30.0, 30.0, DAY])
def test_a_step_of_the_clock_is_found_once(clock: Clock, step: float) -> None:
    watch = ClockWatch()
    clock.pass_by(10.0)
    assert watch.step() == 0.0
    clock.set(step)
    clock.pass_by(1.0)
    assert watch.step() == pytest.approx(step)
    assert watch.step() == 0.0


def test_what_ntp_corrects_all_day_is_no_step(clock: Clock) -> None:
    watch = ClockWatch()
    for _ in range(100):
        clock.pass_by(1.0)
        clock.set(-0.5)
        assert watch.step() == 0.0


def test_a_legal_time_stands_and_a_further_one_is_cut() -> None:
    assert legal_time(NOW + 10.0, 10.0, NOW) == NOW + 10.0
    assert legal_time(NOW + 12.0, 10.0, NOW) == NOW + 12.0, "clocks of two machines differ"
    assert legal_time(NOW + DAY, 10.0, NOW) == NOW + 10.0
    assert legal_time(NOW - DAY, 10.0, NOW) == NOW - DAY


def test_a_wait_ends_although_its_time_has_yet_to_come(clock: Clock) -> None:
    waits = Waits()
    assert waits.left("a", NOW + DAY, 60.0) == pytest.approx(60.0)
    clock.pass_by(40.0)
    assert waits.left("a", NOW + DAY, 60.0) == pytest.approx(20.0)
    clock.set(-DAY)
    clock.pass_by(20.0)
    assert waits.left("a", NOW + DAY, 60.0) == 0.0
    assert waits.left("a", NOW + 2 * DAY, 60.0) == pytest.approx(60.0), "it was written anew"
    assert waits.left("b", NOW - 5 * DAY, 60.0) == 0.0


def test_as_many_waits_are_remembered_as_there_is_room_for(clock: Clock) -> None:
    waits = Waits(max_keys=2)
    for name in "abc":
        waits.left(name, NOW + 30.0, 60.0)
    clock.pass_by(20.0)
    clock.set(-DAY)
    assert waits.left("c", NOW + 30.0, 60.0) == pytest.approx(10.0)
    assert waits.left("a", NOW + 30.0, 60.0) == pytest.approx(60.0)


@pytest.mark.parametrize("step", [-DAY, -30.0])
def test_a_pause_lasts_no_longer_than_it_was_meant_to(step: float) -> None:
    state = ProviderState()
    assert rules.record_failure(state, "slow down", 2.0, probing=False, now=NOW)
    rules.cut_times(state, NOW + step)
    assert rules.seconds_paused(state, NOW + step) == 2.0
    rules.cut_times(state, NOW + step + 1.5)
    assert rules.seconds_paused(state, NOW + step + 1.5) == pytest.approx(0.5)
    assert "since" in (rules.pause_notice(state, NOW + step) or "")


def test_a_pause_of_a_release_that_wrote_no_length_is_cut_at_the_longest() -> None:
    fields = ProviderState(until=NOW + DAY).model_dump(exclude={"pause"})
    state = ProviderState.model_validate(fields)
    rules.cut_times(state, NOW)
    assert rules.seconds_paused(state, NOW) == LONGEST_PAUSE


def test_a_lease_of_a_replica_that_was_killed_before_the_step_expires() -> None:
    state = ProviderState()
    assert rules.renew_lease(state, "killed", 4, Demand(4), NOW) == 4
    back = NOW - DAY
    rules.cut_times(state, back)
    assert rules.renew_lease(state, "living", 4, Demand(0, 4), back) == 0
    assert rules.renew_lease(state, "living", 4, Demand(0, 4), back + LEASE_DURATION) == 4


def test_what_was_reserved_before_the_step_counts_for_one_more_window() -> None:
    state = ProviderState()
    limits = Limits(requests=2)
    for _ in range(2):
        assert rules.reserve(state, limits, Demand(), NOW)
    back = NOW - DAY
    assert rules.reserve(state, limits, Demand(), back) is None, (
        "two were asked for within a minute"
    )
    assert rules.reserve(state, limits, Demand(), back + limits.window + 10.0)


@pytest_asyncio.fixture
async def replicas() -> AsyncIterator[list[RateLimiter]]:
    values = MemorySharedValues()
    limiters = [RateLimiter("a provider", Limits(calls=2, requests=60), values) for _ in range(2)]
    yield limiters
    await asyncio.gather(*(limiter.close() for limiter in limiters))


async def test_a_provider_that_asked_for_two_seconds_is_called_again_after_two(
    replicas: list[RateLimiter], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = replicas
    with pytest.raises(RateLimited):
        async with first.call():
            raise RateLimited("slow down", retry_after=2.0)
    wall_time = time.time
    monkeypatch.setattr(time, "time", lambda: wall_time() - DAY)
    assert first._values is not None
    assert "called again in 2 s" in (await pause_notices(first._values))[0]
    with pytest.raises(RateLimited) as error:
        async with second.call():
            raise AssertionError("it is paused")
    assert error.value.retry_after and error.value.retry_after <= 2.0
    await asyncio.sleep(2.1)
    for limiter in (second, first):
        async with limiter.call():
            pass
    assert await pause_notices(first._values) == []


async def test_calls_go_on_when_the_clock_is_set_while_they_run(
    replicas: list[RateLimiter], monkeypatch: pytest.MonkeyPatch
) -> None:
    wall_time = time.time
    async with asyncio.timeout(30):
        for offset in (0.0, -DAY, DAY, -30.0, -365 * DAY):
            monkeypatch.setattr(time, "time", partial(lambda ahead: wall_time() + ahead, offset))
            async with replicas[0].call(), replicas[1].call():
                pass


@pytest.mark.parametrize("ahead", [DAY, 30.0, 0.0])
async def test_changes_are_debounced_for_no_longer_than_the_setting(ahead: float) -> None:
    began = time.monotonic()
    await debounce(0.2, datetime.fromtimestamp(time.time() + ahead, UTC))
    assert 0.15 < time.monotonic() - began < 5.0


async def test_changes_of_long_ago_are_not_debounced() -> None:
    began = time.monotonic()
    await debounce(30.0, datetime.fromtimestamp(time.time() - DAY, UTC))
    assert time.monotonic() - began < 5.0


def test_an_endpoint_is_not_disabled_because_the_clock_was_set_forward() -> None:
    state = EndpointState(cursor=0)
    for number in range(LEAST_FAILURES):
        assert not state.disabled
        state = failed(state, "no answer", NOW + number * GIVE_UP)
    assert state.disabled


def test_a_token_that_was_issued_before_the_clock_was_set_back_is_good(clock: Clock) -> None:
    tokens = Tokens(SECRET)
    token = tokens.issue("ada", "user")
    clock.set(-DAY)
    assert tokens.read(token) is not None


async def test_a_process_tells_of_a_step_and_is_not_ready_for_a_moment(clock: Clock) -> None:
    steps = ClockSteps()
    assert await steps.problem() is None
    assert await steps.note() is None
    clock.set(-DAY)
    assert await steps.problem() == "the clock was set back by 86400 s just now"
    assert await steps.note() == "the clock was set back by 86400 s, to 2030-03-16 17:46:40 UTC"
    clock.pass_by(SETTLING + 1.0)
    assert await steps.problem() is None
    clock.set(3600.0)
    assert await steps.problem() is None, "a step forward hides nothing"
    assert (
        await steps.note()
        == "the clock was set forward by 3600 s, to 2030-03-16 18:46:51 UTC; 2 steps in all"
    )
    clock.pass_by(2 * DAY)
    assert await steps.note() is None


def test_a_store_that_goes_by_the_clock_is_not_asked_for_a_moment_after_it_was_set_back(
    clock: Clock,
) -> None:
    back = SetBack()
    clock.set(DAY)
    assert back.seconds() == 0.0
    clock.set(-30.0)
    assert back.seconds() == pytest.approx(30.0)
    clock.pass_by(SETTLING - 1.0)
    assert back.seconds() == pytest.approx(30.0)
    clock.pass_by(1.0)
    assert back.seconds() == 0.0
