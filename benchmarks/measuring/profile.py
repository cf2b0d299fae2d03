"""A sampling profile of one process, by py-spy, which must be on the PATH (`pip install py-spy`)."""

import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_NUMBER = re.compile(r":\d+\)$")
RATE = 200
"""Samples a second."""
SHOWN = 40


@contextmanager
def profiled(pid: int, folder: Path) -> Generator[Path]:
    """Sample the process while the block lasts; the file has one line a stack, callers first, with its samples."""
    if not (tool := shutil.which("py-spy")):
        raise SystemExit("--profile needs py-spy on the PATH: pip install py-spy")
    out = folder / "profile.txt"
    command = [tool, "record", "--pid", str(pid), "--rate", str(RATE), "--format", "raw", "--output", str(out)]
    with (folder / "py-spy.log").open("w") as log:
        process = subprocess.Popen([*command, "--duration", "unlimited"], stdout=log, stderr=log)
    try:
        yield out
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        if not out.exists():
            raise SystemExit((folder / "py-spy.log").read_text())


def hottest(profile: Path) -> str:
    """The functions in which most samples were, and those under which most were, as shares of all samples."""
    alone, under, every = Counter[str](), Counter[str](), 0
    for line in profile.read_text("utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [_NUMBER.sub(")", frame) for frame in stack.split(";")]
        alone[frames[-1]] += int(count)
        under.update(dict.fromkeys(frames, int(count)))
        every += int(count)
    lines = [f"{every} samples at {RATE} a second", "", "in the function itself:"]
    lines += [f"  {100 * count / every:5.1f} %  {frame}" for frame, count in alone.most_common(SHOWN)]
    lines += ["", "in it and what it calls:"]
    lines += [f"  {100 * count / every:5.1f} %  {frame}" for frame, count in under.most_common(2 * SHOWN)]
    return "\n".join(lines)
