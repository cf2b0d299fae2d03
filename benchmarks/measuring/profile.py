"""A sampling profile of one process, by py-spy, which must be on the PATH (`pip install
py-spy`).
"""

import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measuring.opening import Opened

_NUMBER = re.compile(r":\d+\)$")
RATE = 200
"""Samples a second."""
SHOWN = 40


@contextmanager
def profiled(side: Opened, name: str | None) -> Generator[None]:
    """Sample the process of that name while the block lasts, then print its hottest functions;
    without a name nothing.

    Exits when py-spy is not there or cannot read the process.
    """
    if not name or name not in side.pids():
        yield
        return
    if not (tool := shutil.which("py-spy")):
        raise SystemExit("--profile needs py-spy on the PATH: pip install py-spy")
    with tempfile.TemporaryDirectory() as folder:
        out, log = Path(folder) / "stacks.txt", Path(folder) / "log.txt"
        command = [
            tool,
            "record",
            "--pid",
            str(side.pids()[name]),
            "--rate",
            str(RATE),
            "--format",
            "raw",
        ]
        with log.open("w") as errors:
            process = subprocess.Popen(
                [*command, "--output", str(out)], stdout=errors, stderr=errors
            )
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
        if not out.exists():
            raise SystemExit(log.read_text())
        print(f"Profile of {name}: {hottest(out)}\n")


def hottest(profile: Path) -> str:
    """The functions in which most samples were, and those under which most were, as shares of all
    samples.
    """
    alone, under, every = Counter[str](), Counter[str](), 0
    for line in profile.read_text("utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [_NUMBER.sub(")", frame) for frame in stack.split(";")]
        alone[frames[-1]] += int(count)
        under.update(dict.fromkeys(frames, int(count)))
        every += int(count)
    lines = [f"{every} samples at {RATE} a second", "", "in the function itself:"]
    lines += [
        f"  {100 * count / every:5.1f} %  {frame}" for frame, count in alone.most_common(SHOWN)
    ]
    lines += ["", "in it and what it calls:"]
    lines += [
        f"  {100 * count / every:5.1f} %  {frame}" for frame, count in under.most_common(2 * SHOWN)
    ]
    return "\n".join(lines)
