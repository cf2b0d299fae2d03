"""Audits the log in the background, a part at a time: at most one percent of a core, and never
beside an order.
"""

import asyncio
import os
import resource
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

FIRST = 30.0
INTERVAL = 900.0
"""Seconds until the first part, and at least between two."""

CPU_SECONDS = 10.0
"""Seconds of CPU of a part."""

SHARE = 100
"""The next part begins after so many times the seconds of CPU that the last one took."""

NICE = 19
"""Niceness of a part's process: whatever else runs goes first."""


async def audit_for_ever(options: Sequence[str], is_busy: Callable[[], bool]) -> None:
    """Audit one part after the other. `options` are those of every command, such as the data
    folder.
    """
    await asyncio.sleep(FIRST)
    while True:
        pause = INTERVAL
        if not is_busy():
            pause = max(INTERVAL, SHARE * await audit_part(options))
        await asyncio.sleep(pause)


async def audit_part(options: Sequence[str]) -> float:
    """Audit the next part in a process of its own, which notes on the bus what it found; return its
    seconds of CPU.
    """
    before = _children_seconds()
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cli",
        "audit",
        f"--part={CPU_SECONDS}",
        "--json",
        *options,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        with suppress(ProcessLookupError, PermissionError):
            os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
        await child.wait()
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.terminate()
            await child.wait()
    return _children_seconds() - before


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
