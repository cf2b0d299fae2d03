"""CPU seconds, bytes written and resident memory of processes and their descendants, from /proc."""

import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20


@dataclass(frozen=True)
class Usage:
    """CPU seconds (user and system), bytes sent to the disk and bytes given to `write()` until now,
    MiB resident now.

    The kernel counts as sent all of a folio of the page cache in which anything was written. Where
    folios are large, as of ext4 since Linux 6.16, that is up to hundreds of times what reaches the
    device: `device_written` counts that. What is given to `write()` depends on neither; what goes
    to sockets is among it.
    """

    cpu: float = 0.0
    written: float = 0.0
    resident: float = 0.0
    wchar: float = 0.0

    def since(self, before: "Usage") -> "Usage":
        """What was used since then; memory is that of now."""
        return Usage(
            self.cpu - before.cpu,
            self.written - before.written,
            self.resident,
            self.wchar - before.wchar,
        )

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.cpu + other.cpu,
            self.written + other.written,
            self.resident + other.resident,
            self.wchar + other.wchar,
        )


Usages = dict[str, Usage]
"""Usage by name of the process."""


def usage(pid: int, *, apart: Iterable[int] = ()) -> Usage:
    """Of a process and all that descend from it, but for the processes `apart` and theirs. CPU in
    steps of 10 ms.
    """
    return sum((_of(member) for member in family(pid, apart=apart)), Usage())


def family(pid: int, *, apart: Iterable[int] = ()) -> list[int]:
    """A process and all that descend from it, but for those `apart`; empty when it has ended."""
    left = set(apart)
    try:
        children = children_of(pid)
    except OSError:
        return []
    return [
        pid,
        *(each for child in children if child not in left for each in family(child, apart=left)),
    ]


def children_of(pid: int) -> list[int]:
    """The processes that the threads of a process have started. Raises OSError when it has
    ended.
    """
    children: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        # A thread may end meanwhile: its children are those of another one.
        with suppress(FileNotFoundError):
            children += map(int, (thread / "children").read_text().split())
    return children


def memory(pid: int, *, apart: Iterable[int] = ()) -> float:
    """Return the MB of a process and all that descend from it, but for the processes `apart` and
    theirs; of a page that several share a part for each (PSS).
    """
    lines: list[str] = []
    for member in family(pid, apart=apart):
        with suppress(OSError):
            lines += Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def spent(before: Mapping[str, Usage], after: Mapping[str, Usage]) -> Usages:
    """What each process used between two readings."""
    return {name: now.since(before.get(name, Usage())) for name, now in after.items()}


def stored(folder: Path) -> dict[str, int]:
    """Bytes that each entry of a folder takes on the disk."""
    result: dict[str, int] = {}
    for path in folder.rglob("*"):
        try:
            size = path.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
        name = path.relative_to(folder).parts[0]
        result[name] = result.get(name, 0) + size
    return result


def device_written(folder: Path) -> float:
    """Bytes written until now to the device that holds the folder, by anybody, once all that waits
    is written; not a number where it is on none.
    """
    os.sync()
    number = folder.stat().st_dev
    counters = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
    # Sectors written: field 7 of the kernel's iostats; a sector has 512 bytes.
    return float(counters.read_text().split()[6]) * 512 if counters.exists() else math.nan


def load() -> str:
    """The load average of the last minute, for beside a figure."""
    return f"{os.getloadavg()[0]:.1f}"


def _of(pid: int) -> Usage:
    folder = Path(f"/proc/{pid}")
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        io = dict(line.split(": ") for line in (folder / "io").read_text().splitlines())
    except OSError:
        return Usage()
    # User and system time, and that of children that have ended and were waited for: fields 14 to
    # 17 of proc(5).
    cpu = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    resident = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / MIB
    return Usage(cpu, float(io["write_bytes"]), resident, float(io["wchar"]))
