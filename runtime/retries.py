"""How long to wait before trying again: delays that double, and what a Retry-After header asks for.

Every loop that repeats a call, and every redelivery, takes its delays from a `Backoff`.
"""

import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, TypeVar

import stamina

T = TypeVar("T")


class Attempts(Protocol):
    """The attempts of stamina at one piece of work: `for attempt in attempts`, `with attempt`, or
    with `async for`.
    """

    def __iter__(self) -> Iterator[stamina.Attempt]: ...
    def __aiter__(self) -> AsyncIterator[stamina.Attempt]: ...


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double from `first` up to `longest` seconds.

    Each is drawn at random from around its value, up to the part `spread` of it away: who failed at
    the same moment does not come back at the same moment.
    """

    first: float
    longest: float
    spread: float = 0.25

    def delay(self, failures: int, retry_after: float | None = None) -> float:
        """Return the seconds to wait after the `failures`-th failure in a row, never less than
        `retry_after`.
        """
        value = min(self.longest, self.first * 2.0 ** min(failures - 1, 100))
        return max(value * random.uniform(1 - self.spread, 1 + self.spread), retry_after or 0.0)  # noqa: S311

    def attempts(
        self, again: Callable[[Exception], bool], max_attempts: int | None = None
    ) -> Attempts:
        """Return attempts with these delays in between, at most so many, for as long as `again`
        says of the error.

        An error may name the least number of seconds to wait, as `retry_after`. The last error is
        raised.
        """
        return stamina.retry_context(on=self._delays(again), attempts=max_attempts, timeout=None)

    async def retry(
        self,
        work: Callable[[], Awaitable[T]],
        again: Callable[[Exception], bool],
        max_attempts: int | None = None,
    ) -> T:
        """Return what `work` returns in the first of such attempts in which it does not fail."""
        return await stamina.AsyncRetryingCaller(attempts=max_attempts, timeout=None)(
            self._delays(again), work
        )

    def _delays(self, again: Callable[[Exception], bool]) -> Callable[[Exception], bool | float]:
        """Return what stamina asks after each failure: False to give up, else the seconds to
        wait.
        """
        failures = 0

        def delay_after(error: Exception) -> bool | float:
            nonlocal failures
            failures += 1
            return again(error) and self.delay(failures, getattr(error, "retry_after", None))

        return delay_after


def parse_retry_after(
    header: str | None, longest: float = math.inf, *, date: str | None = None
) -> float | None:
    """Return the seconds that a Retry-After header asks to wait, given as a number or a date, at
    most `longest`.

    `date`: the Date header of the same answer. A date is counted from there: their clock need not
    agree with ours. None for a header that is neither. RFC 9110, section 10.2.3.
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        if (at := _parse_date(header)) is None:
            return None
        seconds = (at - (_parse_date(date or "") or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), longest) if math.isfinite(seconds) else None


def _parse_date(header: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    return at.replace(tzinfo=at.tzinfo or UTC)  # without a zone it is meant in UTC


def format_retry_after(seconds: float) -> str:
    """Return the value of a Retry-After header: whole seconds, rounded up, at least one."""
    return str(max(1, math.ceil(seconds)))
