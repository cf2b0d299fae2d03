"""Run seeds, and say which fail and how to repeat them. A run that is interrupted says how to go on
with the rest.
"""

import argparse
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict
from functools import lru_cache
from types import FrameType
from unittest import mock

import structlog

from contracts.envelope import Envelope
from contracts.events import Event
from offline.embeddings import lexical
from runtime.bus import processor
from runtime.bus.codec import decode
from tests.simulation.clock import SimulatedLoop, simulated_time
from tests.simulation.planted import PLANTED
from tests.simulation.run import simulate

COLLECT = 400
"""Seeds between two collections of garbage, which take long: at half a megabyte a seed, many fit
into memory.
"""

FIRST_REPORT = 10
"""Seeds after which a run first says how far it is; then it does when it collects garbage."""

INTERRUPTED = 130
"""The code of a run that was stopped by Ctrl-C, as shells have it."""


def main() -> int:
    """Run the seeds asked for. Returns 1 if one fails, or if none finds a planted bug."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone, with its outcome")
    parser.add_argument(
        "--planted", choices=PLANTED, help="with this bug, and only until it is found"
    )
    arguments = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is part of a run
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.simulation", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    seeds = (
        range(arguments.seed, arguments.seed + 1)
        if arguments.seed is not None
        else range(arguments.first, arguments.first + arguments.seeds)
    )
    began = time.process_time()
    failures, totals, seed_count = _run(seeds, arguments.planted)
    if arguments.planted and failures:
        return 0
    print(
        f"{seed_count} seeds, {failures} failed: {totals['events']} events, "
        f"{totals['kills']} kills, {totals['failed_calls']} failed calls, "
        f"{totals['repeats']} repeated deliveries, {totals['parked']} parked events, "
        f"{totals['twice']} events twice in the log, "
        f"{totals['clock_steps']} steps of the clock, {time.process_time() - began:.1f} s of CPU"
    )
    if seed_count < len(seeds) and not arguments.planted:
        arguments_left = f"--first {seeds[seed_count]} --seeds {len(seeds) - seed_count}"
        print(f"go on: python -m tests.simulation {arguments_left}")
        return INTERRUPTED
    return 1 if failures or arguments.planted else 0


def _run(seeds: range, bug: str | None) -> tuple[int, Counter[str], int]:
    """Run the seeds, with a planted bug until one finds it, or until somebody interrupts.

    Returns how many failed, the sums of outcomes, and how many seeds have run.
    """
    is_interrupted = _interruption()
    failures = 0
    totals = Counter[str]()
    seed_count = 0
    gc.freeze()  # what is imported need not be looked through
    gc.disable()
    # Each message is delivered to many: events are values, and read once.
    decoded_once = mock.patch.object(
        processor, "decode", lambda data, subject, _: _decoded(data, subject)
    )
    embedded_once = mock.patch.object(lexical, "vector", lru_cache(maxsize=10_000)(lexical.vector))
    with (
        simulated_time() as loop,
        decoded_once,
        embedded_once,
        PLANTED[bug]() if bug else nullcontext(),
    ):
        for seed in seeds:
            failures += _fails(seed, loop, bug, totals)
            seed_count += 1
            if seed_count == FIRST_REPORT or seed_count % COLLECT == 0:
                print(
                    f"{seed_count} of {len(seeds)} seeds, {failures} failed",
                    file=sys.stderr,
                    flush=True,
                )
            if seed_count % COLLECT == 0:
                gc.collect()
            if bug and failures:
                break
            if is_interrupted.is_set():
                print("interrupted", file=sys.stderr)
                break
    return failures, totals, seed_count


def _interruption() -> threading.Event:
    """Return what a Ctrl-C sets, so that the seed under way is ended first; a second one ends all
    at once.
    """
    is_interrupted = threading.Event()

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        is_interrupted.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, on_interrupt)
    return is_interrupted


def _fails(seed: int, loop: SimulatedLoop, bug: str | None, totals: Counter[str]) -> bool:
    """Run a seed and add its outcome to the totals. Returns whether it fails, after saying how."""
    try:
        totals.update(asdict(simulate(seed, loop)))
    except Exception as violation:  # whatever it is, the seed repeats it
        option = f" --planted {bug}" if bug else ""
        print(f"seed {seed}: {type(violation).__name__}: {violation}")
        print(f"  again: python -m tests.simulation --seed {seed}{option}", flush=True)
        return True
    return False


@lru_cache(maxsize=1000)
def _decoded(data: bytes, subject: str) -> Envelope[Event]:
    return decode(data, subject)


if __name__ == "__main__":
    sys.exit(main())
