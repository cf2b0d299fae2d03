"""A semaphore that shares fairly: who asks for much waits behind itself, and not in front of
others.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


class FairSemaphore:
    """At most `at_once` holders. Waiters are served by key: the key that holds least comes first,
    then round robin.

    `most_of_one`: how many of them one key may hold, however many are free; None: all.
    """

    def __init__(self, at_once: int, most_of_one: int | None = None) -> None:
        self._free = at_once
        self._most_of_one = at_once if most_of_one is None else most_of_one
        self._held = Counter[str]()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[Callable[[], None]]:
        """Wait for a turn of this key, and have it until the block ends, or until what is yielded
        is called.
        """
        await self._acquire(key)
        is_held = True

        def release() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._release(key)

        try:
            yield release
        finally:
            release()

    async def _acquire(self, key: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(
                    key
                )  # it was given in the very moment in which nobody waited any more
            else:
                self._forget(key, turn)
            raise

    def _release(self, key: str) -> None:
        self._free += 1
        self._held[key] -= 1
        if not self._held[key]:
            del self._held[key]
        self._serve()

    def _forget(self, key: str, turn: asyncio.Future[None]) -> None:
        if key in self._waiting:
            self._waiting[key].remove(turn)
            if not self._waiting[key]:
                del self._waiting[key]

    def _serve(self) -> None:
        while self._free:
            key = min(self._waiting, key=self._held.__getitem__, default=None)
            if key is None or self._held[key] >= self._most_of_one:
                return
            turn = self._waiting[key].popleft()
            if self._waiting[key]:
                self._waiting.move_to_end(key)
            else:
                del self._waiting[key]
            if not turn.done():
                self._free -= 1
                self._held[key] += 1
                turn.set_result(None)
