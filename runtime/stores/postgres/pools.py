"""One pool of connections per process and database, whichever stores are in it.

A server gives a hundred connections unless told otherwise, to all services together.
"""

import asyncio
from typing import Any

import asyncpg

CLOSING = 5.0
"""Seconds that a pool has for ending its connections in good order."""


class SharedPool:
    """The connections to one database in one event loop; the last of its users closes them."""

    def __init__(self, key: tuple[asyncio.AbstractEventLoop, str], size: int) -> None:
        self.users = 0
        self.has_answered = False
        self._key = key
        self._size = size
        self._pool: Any = None
        self._making = asyncio.Lock()

    async def acquire(self) -> Any:
        """Return a connection, when one is free."""
        async with self._making:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._key[1], min_size=0, max_size=self._size, reset=_nothing
                )
        connection = await self._pool.acquire()
        self.has_answered = True
        return connection

    async def release(self, connection: Any) -> None:
        """Take a connection back."""
        await self._pool.release(connection)

    async def leave(self) -> None:
        """Close all connections, if this was the last user."""
        self.users -= 1
        if self.users:
            return
        _pools.pop(self._key, None)
        if self._pool is None:
            return
        try:
            async with asyncio.timeout(CLOSING):
                await self._pool.close()
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self._pool.terminate()


_pools: dict[tuple[asyncio.AbstractEventLoop, str], SharedPool] = {}


def joined_pool(dsn: str, size: int) -> SharedPool:
    """Return the pool of this database in the running loop, with one user more. `size`: its most
    connections, if this user is the first.
    """
    key = (asyncio.get_running_loop(), dsn)
    pool = _pools.setdefault(key, SharedPool(key, size))
    pool.users += 1
    return pool


async def _nothing(connection: Any) -> None:
    """Reset nothing: no statement of ours leaves anything behind in its session."""
