"""Calls of one kind that share requests: what is asked while a request is under way goes together
into the next one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")


class SharedCalls(Generic[K, T, R]):
    """At most one request for each key at a time, with at most `max_items` items; `request` returns
    a result for each.

    Who asks alone waits for nobody. Who is cancelled takes nothing from the others; an error of a
    request is that of all whose items were in it.
    """

    def __init__(
        self, request: Callable[[K, list[T]], Awaitable[Sequence[R]]], max_items: int
    ) -> None:
        self._request = request
        self._most = max_items
        self._waiting: dict[K, list[tuple[T, asyncio.Future[R]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, key: K, item: T) -> R:
        """Return the result for this item."""
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        if key in self._waiting:
            self._waiting[key].append((item, result))
        else:
            self._waiting[key] = [(item, result)]
            task = asyncio.create_task(self._serve(key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await result

    async def _serve(self, key: K) -> None:
        try:
            while requests := [
                (item, result) for item, result in self._waiting[key] if not result.done()
            ]:
                batch, self._waiting[key] = requests[: self._most], requests[self._most :]
                await self._answer(key, batch)
        finally:
            for _, result in self._waiting.pop(key):
                result.cancel()

    async def _answer(self, key: K, requests: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._request(key, [item for item, _ in requests])
            for (_, waiting), result in zip(requests, results, strict=True):
                if not waiting.done():
                    waiting.set_result(result)
        except Exception as error:
            for _, waiting in requests:
                if not waiting.done():
                    waiting.set_exception(error)
        finally:
            for _, waiting in requests:
                waiting.cancel()  # none that has its result: only if this task was cancelled
