"""Servers that stop answering without closing anything, as a machine does that hangs."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path


def freeze(pid: int) -> None:
    """Stop a process and its children, and return once every thread of them stands: a signal is
    only on its way when `kill` returns.
    """
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + 10
    while not all(map(_stands, Path(f"/proc/{pid}/task").glob("*/stat"))):
        assert time.monotonic() < end, f"process {pid} does not stand"
        time.sleep(0.005)
    for child in _children(pid):
        with suppress(ProcessLookupError):
            freeze(child)


def thaw(pid: int) -> None:
    """Have a process and its children go on."""
    for child in _children(pid):
        thaw(child)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    texts = (path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(child) for text in texts for child in text.split()]


def _stands(stat: Path) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):  # a thread, or a child, that has ended
        # The state follows the name, which may hold blanks and brackets.
        return stat.read_text().rpartition(")")[2].split()[0] in "Tt"
    return True
