"""Servers that stop answering without closing anything, as a machine does that hangs."""

import os
import signal
import time
from pathlib import Path


def freeze(pid: int) -> None:
    """Stop a process, and return once every thread of it stands: a signal is only on its way when
    `kill` returns.
    """
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + 10
    while not all(_stands(path) for path in Path(f"/proc/{pid}/task").glob("*/stat")):
        assert time.monotonic() < end, f"process {pid} does not stand"
        time.sleep(0.005)


def _stands(stat: Path) -> bool:
    # The state follows the name, which may hold blanks and brackets.
    return stat.read_text().rpartition(")")[2].split()[0] in "Tt"
