"""How often Python looks for garbage in cycles, and when freed memory goes back to the system.

By default it looks whenever 700 more objects exist, and now and then at all of them: a fifth of the
CPU of a merger, and half of that of a rebuild, whose process holds all drivers and services.
"""

import asyncio
import ctypes
import gc
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

OBJECTS = 20_000
"""New objects after which the youngest are looked at: thousands stay for a whole batch, and nearly
none are cycles.
"""

BULK_OBJECTS = 200_000
"""The same while a log is loaded: a group of 2,000 events is 50,000 objects and more, which stay
until it is done.
"""

RETURN_SECONDS = 30.0
"""Seconds between two times that freed memory is returned: each takes some milliseconds."""

BUSY_SECONDS = 0.5
"""Seconds of CPU since the last time without which it is not worth it."""


def collect_seldom(objects: int = OBJECTS) -> None:
    """Look less often, after so many new objects, and never again at what exists by now."""
    gc.freeze()
    gc.set_threshold(objects, 20, 50)


@contextmanager
def collecting_seldom() -> Generator[None]:
    """Look far less often inside, and not at what exists by then."""
    before = gc.get_threshold()
    collect_seldom(BULK_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def return_freed_memory() -> None:
    """Return to the system the pages that have nothing in them but what was freed.

    The GNU C library alone can, and by itself returns only what was allocated last.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def keep_returning_memory() -> None:
    """Return freed memory again and again, after work."""
    used = 0.0
    while True:
        await asyncio.sleep(RETURN_SECONDS)
        if time.process_time() - used > BUSY_SECONDS:
            used = time.process_time()
            await asyncio.to_thread(return_freed_memory)
