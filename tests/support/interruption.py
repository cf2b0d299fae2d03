"""Programs that a test interrupts, as Ctrl-C does."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Start programs as a terminal does: where the tests run in the background, Ctrl-C is ignored,
    also by these.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
