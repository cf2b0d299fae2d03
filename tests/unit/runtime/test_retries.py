"""Delays before trying again: how they grow, that they are spread, and what a server or the caller
may ask for.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from runtime.errors import RateLimited, Retryable, Unavailable, longest_wait
from runtime.retries import Backoff, format_retry_after, parse_retry_after

BACKOFF = Backoff(first=1.0, longest=30.0)
AT_ONCE = Backoff(first=0.0, longest=0.0)


def test_delays_double_up_to_the_longest() -> None:
    exact = Backoff(first=1.0, longest=30.0, spread=0.0)
    assert [exact.delay(failures) for failures in range(1, 8)] == [
        1.0,
        2.0,
        4.0,
        8.0,
        16.0,
        30.0,
        30.0,
    ]
    assert exact.delay(100_000) == 30.0


@pytest.mark.parametrize("spread", [0.25, 1.0])
def test_delays_are_spread_so_that_replicas_do_not_come_back_as_one(spread: float) -> None:
    delays = [Backoff(1.0, 30.0, spread).delay(5) for _ in range(400)]
    assert len(set(delays)) > 300
    assert 16.0 * (1 - spread) <= min(delays) < 16.0 * (1 - 0.8 * spread)
    assert 16.0 * (1 + spread) >= max(delays) > 16.0 * (1 + 0.8 * spread)
    assert sum(delays) / 400 == pytest.approx(16.0, rel=0.2)


def test_a_server_that_asks_for_more_gets_more() -> None:
    assert BACKOFF.delay(1, 300.0) == 300.0
    assert BACKOFF.delay(1, 0.1) >= 0.75


async def test_work_is_repeated_until_it_does_not_fail_or_may_not_be_repeated() -> None:
    errors: list[Exception] = [
        Unavailable("away"),
        Unavailable("away"),
        Unavailable("away"),
        ValueError("a bug"),
    ]
    attempts: list[str] = []

    async def work() -> str:
        if len(attempts) < 3:
            attempts.append("tried")
            raise errors.pop(0)
        return "done"

    assert await AT_ONCE.retry(work, lambda error: isinstance(error, Retryable)) == "done"

    async def fail() -> None:
        raise errors[0]

    with pytest.raises(ValueError, match="a bug"):
        await AT_ONCE.retry(fail, lambda error: isinstance(error, Retryable))


async def test_work_is_tried_so_many_times_at_most_and_the_last_error_is_raised() -> None:
    tries = 0

    async def work() -> None:
        nonlocal tries
        tries += 1
        raise Unavailable(str(tries))

    with pytest.raises(Unavailable, match="3"):
        await AT_ONCE.retry(work, lambda _: True, 3)
    assert tries == 3


async def test_the_wait_between_two_attempts_is_the_one_the_error_asks_for() -> None:
    has_failed = False

    async def work() -> None:
        nonlocal has_failed
        if not has_failed:
            has_failed = True
            raise RateLimited("slowly", retry_after=0.2)

    since = asyncio.get_running_loop().time()
    await AT_ONCE.retry(work, lambda _: True)
    assert asyncio.get_running_loop().time() - since >= 0.2


@pytest.mark.parametrize("during", ["the work", "the wait"])
async def test_a_cancellation_ends_the_attempts(during: str) -> None:
    errors: list[Exception] = []

    async def work() -> None:
        if during == "the wait":
            raise Unavailable("away")
        await asyncio.sleep(60)

    def again(error: Exception) -> bool:
        errors.append(error)
        return isinstance(error, Retryable)

    task = asyncio.create_task(Backoff(60.0, 60.0).retry(work, again))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("1e9", 3600.0),
        ("nan", None),
        ("soon", None),
        ("inf", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 3600.0),
    ],
)
def test_retry_after_is_read_with_care(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, 3600.0) == seconds


def test_a_date_in_a_retry_after_is_meant_in_its_zone_or_in_utc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    soon = datetime.now(UTC) + timedelta(seconds=60)
    for header in (format_datetime(soon), format_datetime(soon.replace(tzinfo=None))):
        assert parse_retry_after(header) == pytest.approx(60, abs=2)


def test_a_date_counts_from_the_date_of_the_answer_whatever_our_clock_says() -> None:
    header = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert parse_retry_after(header, date="Wed, 21 Oct 2015 07:27:50 GMT") == 10.0
    assert parse_retry_after(header, date="no date") == 0.0


def test_a_retry_after_is_whole_seconds_and_at_least_one() -> None:
    assert [format_retry_after(seconds) for seconds in (0.0, 0.2, 1.0, 1.01, 30.0)] == [
        "1",
        "1",
        "1",
        "2",
        "30",
    ]


def test_of_several_errors_the_longest_wait_counts() -> None:
    short_wait = Unavailable("short", retry_after=1.0)
    long_wait = RateLimited("long", retry_after=9.0)
    error = longest_wait([Unavailable("away"), long_wait, short_wait], [])
    assert (str(error), error.retry_after, error.__cause__) == ("long", 9.0, long_wait)
