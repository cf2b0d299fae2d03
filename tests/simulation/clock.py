"""Simulated time: an event loop that jumps to its next timer, so that hours of waiting take no time
and come again.
"""

import asyncio
import inspect
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from heapq import heappop, heappush
from typing import Any
from unittest import mock

EPOCH = 1_772_366_400.0
"""Seconds since 1970 at which every run begins."""


class Deadlock(RuntimeError):
    """Every task waits, and no timer will ever wake one."""


class _Call:
    """What the loop runs later, unless it is cancelled: no more of asyncio.Handle than tasks and
    futures need.
    """

    __slots__ = ("arguments", "callback", "context", "when")

    def __init__(
        self,
        callback: Callable[..., Any],
        arguments: tuple[Any, ...],
        context: Context | None,
        when: float,
    ):
        self.callback: Callable[..., Any] | None = callback
        self.arguments, self.when = arguments, when
        self.context = copy_context() if context is None else context

    def cancel(self) -> None:
        self.callback = None

    def cancelled(self) -> bool:
        return self.callback is None


def _wake(wake: asyncio.Future[None]) -> None:
    if not wake.done():
        wake.set_result(None)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock is `seconds`. It looks at no socket, and half of a run's CPU would be
    asyncio's own turns.

    `offset`: seconds by which the machine's clock was set forward since the run began, negative for
    back.
    """

    def __init__(self) -> None:
        self.seconds = self.offset = 0.0
        self._soon: deque[_Call] = deque()
        self._later: list[tuple[float, int, _Call]] = []
        self._timers = 0
        super().__init__()

    def time(self) -> float:
        return self.seconds

    def call_soon(self, callback: Any, *arguments: Any, context: Context | None = None) -> Any:
        call = _Call(callback, arguments, context, self.seconds)
        self._soon.append(call)
        return call

    def call_at(
        self, when: float, callback: Any, *arguments: Any, context: Context | None = None
    ) -> Any:
        call = _Call(callback, arguments, context, when)
        self._timers += 1
        heappush(self._later, (when, self._timers, call))
        return call

    def call_later(
        self, delay: float, callback: Any, *arguments: Any, context: Context | None = None
    ) -> Any:
        return self.call_at(self.seconds + delay, callback, *arguments, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self, coro: Any, *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self, context=context)

    async def sleep(self, seconds: float) -> None:
        """Do what `asyncio.sleep` does, in fewer calls."""
        wake = self.create_future()
        call = self.call_at(self.seconds + seconds, _wake, wake)
        try:
            await wake
        finally:
            call.callback = None

    def _run_once(self) -> None:
        """Run what is due; where nothing is, jump to the next timer. What a callback raises ends
        the run.
        """
        soon = self._soon
        later = self._later
        while later and later[0][2].callback is None:
            heappop(later)
        if not soon:
            if not later:
                raise Deadlock
            self.seconds = max(self.seconds, later[0][0])
        while later and later[0][0] <= self.seconds:
            soon.append(heappop(later)[2])
        for _ in range(len(soon)):
            call = soon.popleft()
            if call.callback is not None:
                call.context.run(call.callback, *call.arguments)


@contextmanager
def simulated_time() -> Iterator[SimulatedLoop]:
    """Inside, what asks for the time gets the loop's, and threads are computed in place: no seed
    orders them.

    The monotonic clock is never set.
    """
    loop = SimulatedLoop()

    async def inline(function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        assert not inspect.isawaitable(result)
        return result

    with (
        mock.patch.object(asyncio, "to_thread", inline),
        mock.patch.object(asyncio, "sleep", lambda delay: loop.sleep(delay)),
        mock.patch.object(time, "monotonic", loop.time),
        mock.patch.object(time, "time", lambda: EPOCH + loop.seconds + loop.offset),
    ):
        try:
            yield loop
        finally:
            loop.close()
