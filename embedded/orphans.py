"""Processes by pid and start time: a pid alone may belong to another program after its process has
ended.

Linux only, as it reads /proc. Without /proc no process is recognised, and none is terminated.
"""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessIdentity:
    """A process that cannot be mistaken for a later one with the same pid."""

    pid: int
    started: int
    """Clock ticks between the start of the machine and that of the process; a program keeps it when
    it execs.
    """

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity":
        """Return the process that has this pid now; one that is never alive when there is none."""
        return cls(pid, _started(pid) or 0)

    @property
    def alive(self) -> bool:
        """Return True while this very process runs."""
        return self.started > 0 and _started(self.pid) == self.started


def runs_in(identity: ProcessIdentity, folder: Path) -> bool:
    """Return True if the process runs and its command line or working directory is in the
    folder.
    """
    if not identity.alive:
        return False
    with suppress(OSError):
        if (PROC / str(identity.pid) / "cwd").readlink().is_relative_to(folder):
            return True
        words = (PROC / str(identity.pid) / "cmdline").read_bytes().split(b"\0")
        return any(Path(os.fsdecode(word)).is_relative_to(folder) for word in words if word)
    return False


def terminate(processes: Sequence[ProcessIdentity], *, grace: float) -> None:
    """SIGTERM to all, and SIGKILL to those, with their descendants, that still live after `grace`
    seconds.
    """
    for process in processes:
        with suppress(ProcessLookupError):
            if process.alive:
                os.kill(process.pid, signal.SIGTERM)
    if wait_for_exit(processes, grace):
        return
    for process in processes:
        with suppress(ProcessLookupError):
            if process.alive:
                leads = os.getpgid(process.pid) == process.pid
                (os.killpg if leads else os.kill)(process.pid, signal.SIGKILL)
    wait_for_exit(processes, 5.0)


def wait_for_exit(processes: Sequence[ProcessIdentity], seconds: float) -> bool:
    """Wait at most that long, and return True if all have ended."""
    until = time.monotonic() + seconds
    while any(process.alive for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def _started(pid: int) -> int | None:
    """Field 22 of /proc/<pid>/stat (proc(5)); None for a pid without a living process."""
    try:
        stat = (PROC / str(pid) / "stat").read_text("ascii", "replace")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])
