"""Locks by key, within one process."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from runtime.activity import waiting


class KeyLocks:
    """One lock per key, made when it is first wanted and forgotten when nobody holds or awaits
    it.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, keys: Iterable[str]) -> AsyncGenerator[None]:
        """Hold all of them. They are taken in sorted order, so two holders never wait for each
        other.
        """
        held_locks: list[asyncio.Lock] = []
        try:
            with waiting():  # for work of another batch, which has a watch of its own
                for key in sorted(set(keys)):
                    lock = self._locks.setdefault(key, asyncio.Lock())
                    await lock.acquire()
                    held_locks.append(lock)
            yield
        finally:
            for lock in held_locks:
                lock.release()
