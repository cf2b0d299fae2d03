"""Run seeds, and say which fail and how to repeat them."""

import argparse
import asyncio
import logging
import os
import sys
import time
from contextlib import nullcontext

import structlog

from tests.simulation.planted import PLANTED
from tests.simulation.run import Violation, simulate


def main() -> int:
    """Run the seeds asked for. Returns 1 if one fails, or if none finds a planted bug."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone, with its outcome")
    parser.add_argument("--planted", choices=PLANTED, help="with this bug, and only until it is found")
    given = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is part of a run
        os.execve(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]],
                  {**os.environ, "PYTHONHASHSEED": "0"})  # fmt: skip
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    seeds = [given.seed] if given.seed is not None else range(given.first, given.first + given.seeds)
    failures, began = 0, time.process_time()
    totals = [0, 0, 0, 0]
    for seed in seeds:
        try:
            with PLANTED[given.planted]() if given.planted else nullcontext():
                outcome = asyncio.run(simulate(seed))
        except Violation as violation:
            failures += 1
            print(f"seed {seed}: {violation}\n  again: python -m tests.simulation --seed {seed}")
            if given.planted:
                return 0
            continue
        figures = outcome.events, outcome.kills, outcome.failed_calls, outcome.repeats
        totals = [total + figure for total, figure in zip(totals, figures, strict=True)]
    events, kills, failed, repeats = totals
    print(
        f"{len(seeds)} seeds, {failures} failed: {events} events, {kills} kills, {failed} failed calls,"
        f" {repeats} repeated deliveries, {time.process_time() - began:.1f} s of CPU"
    )
    return 1 if failures or given.planted else 0


if __name__ == "__main__":
    sys.exit(main())
