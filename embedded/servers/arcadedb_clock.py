"""ArcadeDB's coarse clock, set twice a second instead of a hundred times.

A thread of ArcadeDB writes the time into a field every 10 ms, for as long as the process lives:
more than half of the CPU of an idle server. The time only tells which pages and databases were used
last, so half a second is as good.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

CLOCK = "com.arcadedb.utility.CoarseClock"
THREAD = "ArcadeDB-CoarseClock"


def take_over_clock() -> Callable[[], None]:
    """End the thread, and return what sets the clock in its place. Where this ArcadeDB has no such
    clock, or no such thread, all stays as it is, and what is returned does nothing.
    """
    import jpype  # noqa: PLC0415

    java_class = cast(Callable[[str], Any], jpype.JClass)
    try:
        clock_field = java_class(CLOCK).class_.getDeclaredField("now")
        clock_field.setAccessible(True)
    except jpype.JException:
        return _do_nothing
    all_threads = cast(Iterable[Any], java_class("java.lang.Thread").getAllStackTraces().keySet())
    threads = [thread for thread in all_threads if str(thread.getName()) == THREAD]
    if not threads:
        return _do_nothing
    for thread in threads:
        thread.interrupt()
    system = java_class("java.lang.System")

    def set_clock() -> None:
        clock_field.setLong(None, system.currentTimeMillis())

    return set_clock


def _do_nothing() -> None:
    """Leave the clock to ArcadeDB."""
