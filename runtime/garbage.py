"""How often Python looks for garbage in cycles.

By default it looks whenever 700 more objects exist, and now and then at all of them: a fifth of the CPU of a merger,
and half of that of a rebuild, whose process holds all drivers and services.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

OBJECTS = 20_000
"""New objects after which the youngest are looked at: thousands stay for a whole batch, and nearly none are cycles."""


def collect_seldom() -> None:
    """Look less often, and never again at what exists by now."""
    gc.freeze()
    gc.set_threshold(OBJECTS, 20, 50)


@contextmanager
def collecting_seldom() -> Generator[None]:
    """Look less often inside, and not at what exists by then."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
