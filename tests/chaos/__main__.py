"""Run trials of chaos on real stacks, and say which fail and how to repeat them.

A stack serves ten trials. As root its data folder is a file system of its own, which faults fill.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.chaos.trial import Outcome, machine, trial
from tests.support.small_disk import small_disk

TRIALS = 10
"""Trials on one stack, unless one fails: a rebuild reads the log of all of them."""

MEGABYTES = 2000


def main() -> int:
    """Run the seeds asked for. Returns 1 if one fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many trials")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    seeds = list(range(arguments.first, arguments.first + arguments.seeds))
    while seeds:
        with (
            tempfile.TemporaryDirectory() as folder,
            _disk(Path(folder) / "data") as disk,
            machine(Path(folder) / "data", disk=disk) as (stack, calm),
        ):
            for _ in range(min(TRIALS, len(seeds))):
                outcomes.append(trial(stack, calm, seeds.pop(0)))
                print(_line(outcomes[-1]), flush=True)
                if outcomes[-1].problems:
                    print(
                        stack.stack.run("doctor").stdout, stack.stack.logs(), sep="\n", flush=True
                    )
                    break
    print(_table(outcomes))
    return 1 if any(outcome.problems for outcome in outcomes) else 0


@contextmanager
def _disk(folder: Path) -> Generator[bool]:
    """Make the folder a disk that can be filled, and yield whether this process may."""
    with ExitStack() as mounts:
        try:
            mounts.enter_context(small_disk(folder, MEGABYTES))
        except pytest.skip.Exception:
            yield False
        else:
            yield True


def _line(outcome: Outcome) -> str:
    """Return what happened in a trial, and how to repeat one that failed."""
    faults = "; ".join(map(str, outcome.faults))
    line = f"seed {outcome.seed}: {outcome.seconds:.0f} s: {faults}"
    if outcome.problems:
        again = f"again: python -m tests.chaos --first {outcome.seed} --seeds 1"
        line += "".join(f"\n  FAILED: {problem}" for problem in outcome.problems) + f"\n  {again}"
    return line


def _table(outcomes: list[Outcome]) -> str:
    """Return a table in Markdown: how often each fault happened, and in how many trials that
    failed.
    """
    fault_counts = Counter[tuple[str, str]]()
    failure_counts = Counter[tuple[str, str]]()
    for outcome in outcomes:
        kinds = {(fault.kind, fault.victim) for fault in outcome.faults}
        fault_counts.update(kinds)
        if outcome.problems:
            failure_counts.update(kinds)
    rows = [
        f"| {kind} | {victim} | {count} | {failure_counts[kind, victim]} |"
        for (kind, victim), count in sorted(fault_counts.items())
    ]
    failed_trials = sum(bool(outcome.problems) for outcome in outcomes)
    return "\n".join(
        [
            f"\n{len(outcomes)} trials, {failed_trials} failed\n",
            "| fault | of | trials | failed |",
            "|---|---|---|---|",
            *rows,
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
