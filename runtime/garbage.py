"""How often Python looks for garbage in cycles.

By default it looks whenever 700 more objects exist, and now and then at all of them: a fifth of the
CPU of a merger, and half of that of a rebuild, whose process holds all drivers and services.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

OBJECTS = 20_000
"""New objects after which the youngest are looked at: thousands stay for a whole batch, and nearly
none are cycles.
"""

BULK_OBJECTS = 200_000
"""The same while a log is loaded: a group of 2,000 events is 50,000 objects and more, which stay
until it is done.
"""


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
