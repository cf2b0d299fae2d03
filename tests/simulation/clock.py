"""Simulated time: an event loop that jumps to its next timer, so that hours of waiting take no time and come again."""

import asyncio
import inspect
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

EPOCH = 1_772_366_400.0
"""Seconds since 1970 at which every run begins."""


class Deadlock(RuntimeError):
    """Every task waits, and no timer will ever wake one."""


class _JumpingSelector(selectors.SelectSelector):
    """Waits for nothing: the time that it would have waited is over at once."""

    loop: "SimulatedLoop"

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Deadlock
        self.loop.seconds += max(timeout, 0.0)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock is `seconds`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        selector = _JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.seconds


@contextmanager
def simulated_time() -> Iterator[SimulatedLoop]:
    """Inside, what asks for the time gets the loop's, and threads are computed in place: no seed orders them."""
    loop = SimulatedLoop()

    async def inline(function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        result = function(*given, **named)
        assert not inspect.isawaitable(result)
        return result

    with (
        mock.patch.object(asyncio, "to_thread", inline),
        mock.patch.object(time, "monotonic", loop.time),
        mock.patch.object(time, "time", lambda: EPOCH + loop.seconds),
    ):
        try:
            yield loop
        finally:
            loop.close()
