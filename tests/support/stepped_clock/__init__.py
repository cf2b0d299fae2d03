"""Steps the real-time clock of processes that are started with a preloaded library; the monotonic
one runs on.
"""

import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class SteppedClock:
    """The clock of all processes that have its `environment`. A server in Go asks the kernel, and
    is not moved.
    """

    library: Path
    offset: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which a process has this clock."""
        return {"LD_PRELOAD": str(self.library), "CLOCK_OFFSET_FILE": str(self.offset)}

    def set(self, seconds: float) -> None:
        """Let the clock be so many seconds ahead of the machine's from now on; negative: behind."""
        with self.offset.open("r+b") as file:
            file.write(struct.pack("=q", int(seconds * NANOSECONDS)))


def has_compiler() -> bool:
    """Return whether this machine can make the library."""
    return shutil.which("cc") is not None


def stepped_clock(folder: Path) -> SteppedClock:
    """Make the library in this folder, and a clock that agrees with the machine's."""
    library = folder / "stepped_clock.so"
    offset = folder / "clock_offset"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    offset.write_bytes(struct.pack("=q", 0))
    return SteppedClock(library, offset)
