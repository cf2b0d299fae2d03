"""Run seeds, and say which fail and how to repeat them."""

import argparse
import gc
import logging
import os
import sys
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict
from functools import lru_cache
from unittest import mock

import structlog

from contracts.envelope import Envelope
from contracts.events import Event
from runtime.bus import processor
from runtime.bus.codec import decode
from tests.simulation.clock import simulated_time
from tests.simulation.planted import PLANTED
from tests.simulation.run import simulate

COLLECT = 400
"""Seeds between two collections of garbage, which take long: at half a megabyte a seed, many fit into memory."""


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
    seeds = (
        range(given.seed, given.seed + 1) if given.seed is not None else range(given.first, given.first + given.seeds)
    )
    began = time.process_time()
    failures, totals = _run(seeds, given.planted)
    if given.planted and failures:
        return 0
    print(
        f"{len(seeds)} seeds, {failures} failed: {totals['events']} events, {totals['kills']} kills,"
        f" {totals['failed_calls']} failed calls, {totals['repeats']} repeated deliveries, {totals['parked']} parked"
        f" events, {time.process_time() - began:.1f} s of CPU"
    )
    return 1 if failures or given.planted else 0


def _run(seeds: range, bug: str | None) -> tuple[int, Counter[str]]:
    """Run the seeds, with a planted bug until one finds it. Returns how many failed, and the sums of outcomes."""
    failures, totals = 0, Counter[str]()
    gc.freeze()  # what is imported need not be looked through
    gc.disable()
    # Each message is delivered to many: events are values, and read once.
    decoded_once = mock.patch.object(processor, "decode", lambda data, subject, _: _decoded(data, subject))
    with simulated_time() as loop, decoded_once, PLANTED[bug]() if bug else nullcontext():
        for seed in seeds:
            try:
                totals.update(asdict(simulate(seed, loop)))
            except Exception as violation:  # whatever it is, the seed repeats it
                failures += 1
                planted = f" --planted {bug}" if bug else ""
                print(f"seed {seed}: {type(violation).__name__}: {violation}")
                print(f"  again: python -m tests.simulation --seed {seed}{planted}", flush=True)
                if bug:
                    break
            if (seed + 1 - seeds.start) % COLLECT == 0:
                gc.collect()
    return failures, totals


@lru_cache(maxsize=1000)
def _decoded(data: bytes, subject: str) -> Envelope[Event]:
    return decode(data, subject)


if __name__ == "__main__":
    sys.exit(main())
