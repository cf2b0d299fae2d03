"""Processes by pid and start time: a pid alone may belong to another program after its process has
ended. On Linux /proc tells both, elsewhere psutil.
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
    """Clock ticks between the start of the machine and that of the process, without /proc
    microseconds since 1970; a program keeps it when it execs.
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
    working_folder, words = _command(identity.pid)
    paths = [working_folder, *map(Path, words)]
    return any(path is not None and path.is_relative_to(folder) for path in paths)


def _command(pid: int) -> tuple[Path | None, list[str]]:
    """Return the working directory and the command line of a process, as far as they are told."""
    if not PROC.exists():
        return _command_by_psutil(pid)
    with suppress(OSError):
        working_folder = (PROC / str(pid) / "cwd").readlink()
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        return working_folder, [os.fsdecode(word) for word in words if word]
    return None, []


def _command_by_psutil(pid: int) -> tuple[Path | None, list[str]]:
    import psutil  # noqa: PLC0415 - it is there where /proc is not

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return Path(process.cwd()), process.cmdline()
    return None, []


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
    """Return when the process with this pid started; None without a living one."""
    if not PROC.exists():
        return _started_by_psutil(pid)
    try:
        stat = (PROC / str(pid) / "stat").read_text("ascii", "replace")
    except OSError:
        return None
    # Field 22 of proc(5).
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


def _started_by_psutil(pid: int) -> int | None:
    import psutil  # noqa: PLC0415 - it is there where /proc is not

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        is_dead = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        return None if is_dead else round(process.create_time() * 1_000_000)
    return None
