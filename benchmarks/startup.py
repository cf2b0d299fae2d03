"""How long the embedded stack takes to start, what it costs idle, and what a command costs.

    python -m benchmarks.startup [--runs 3] [--idle 10] [--peer-python PYTHON]

Starts a stack in a new folder once, to have everything compiled and in the page cache, then again
and again. Seconds are from the call of `lightstream up` until it returns, ready; CPU is that of all
processes until then. Then it is left alone for so many seconds: memory, CPU and bytes written of
each process. Last, the CPU of commands, user and system. LightRAG's server, where PYTHON has it, is
started the same number of times. Prints tables in Markdown.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measuring.model import mock_model
from benchmarks.measuring.opening import AS_IT_IS, Opened, opened
from benchmarks.measuring.processes import Usage, Usages, load, spent
from benchmarks.measuring.sides import CLIENT
from benchmarks.measuring.tables import number, table
from tests.support.commands import LIGHTSTREAM

SIDES = {AS_IT_IS: "LightRAG's server", "embedded": "embedded stack"}
COMMANDS = (["--help"], ["status"], ["config"], ["doctor"])
TIMES = 5
"""How often each command is run; the table has the median."""


def main() -> None:
    """Run it and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--idle", type=float, default=10.0, help="seconds")
    parser.add_argument("--peer-python", type=Path)
    given = parser.parse_args()
    starts: list[list[str]] = []
    rest: dict[str, Usages] = {}
    commands: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, mock_model() as model:
        for name in SIDES if given.peer_python else ["embedded"]:
            took: list[tuple[float, float]] = []
            for turn in range(given.runs + 1):
                before, began = load(), time.monotonic()
                with opened(
                    name, model, peer_python=given.peer_python, keep=Path(folder) / name
                ) as side:
                    seconds, cpu = time.monotonic() - began, total(side.usages())
                    if turn:
                        took.append((seconds, cpu))
                    if turn == given.runs:
                        rest[name] = idle(side, given.idle)
                        commands = (
                            commands
                            if name == AS_IT_IS
                            else [command(side.folder, each) for each in COMMANDS]
                        )
            values = [number(median(each[i] for each in took)) for i in (0, 1)]
            starts.append([SIDES[name], str(given.runs), *values, before])
    print(table(["start", "runs", "ready after, s", "CPU until then, s", "load before"], starts))
    for name, usages in rest.items():
        print(f"\n{SIDES[name]}, idle for {given.idle:.0f} s\n\n{resting(usages, given.idle)}")
    print("\n" + table(["command", "CPU, s", "seconds"], commands))


def total(usages: Usages) -> float:
    """CPU seconds of all processes but this one."""
    return sum(used.cpu for name, used in usages.items() if name != CLIENT)


def idle(side: Opened, seconds: float) -> Usages:
    """What its processes use while nothing is asked of them."""
    time.sleep(seconds / 2)  # what follows a start comes to an end
    before = side.usages()
    time.sleep(seconds)
    return {name: used for name, used in spent(before, side.usages()).items() if name != CLIENT}


def resting(usages: Usages, seconds: float) -> str:
    """A row of each process."""
    every = [*usages.items(), ("all", sum(usages.values(), Usage()))]
    lines = [
        [
            name,
            number(used.resident, 0),
            number(used.cpu * 1000 / seconds),
            number(used.written / 1000 / seconds),
        ]
        for name, used in every
    ]
    return table(["process", "MiB resident", "CPU, ms a second", "kB written a second"], lines)


def command(folder: Path, arguments: Sequence[str]) -> list[str]:
    """The medians of CPU and seconds of a command about the stack in that folder."""
    data = [] if arguments == ["--help"] else ["--data", str(folder)]
    took: list[tuple[float, float]] = []
    for _ in range(TIMES):
        began = time.monotonic()
        process = subprocess.Popen(
            [LIGHTSTREAM, *arguments, *data], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        took.append((used.ru_utime + used.ru_stime, time.monotonic() - began))
    return [
        f"lightstream {' '.join(arguments)}",
        *(number(median(each[i] for each in took), 2) for i in (0, 1)),
    ]


if __name__ == "__main__":
    main()
