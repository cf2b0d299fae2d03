"""Compare several processes of every service with one of each, and print what came of it."""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from contracts.events import Stage
from tests.replicas.trial import Fleet, fleet, indexed, restarted_under_load
from tests.support.corpus import documents

ONE: Mapping[Stage, int] = {}
SEVERAL: Mapping[Stage, int] = {"chunker": 4, "extractor": 4, "merger": 3, "indexer": 3, "query": 2}

SECONDS = 900.0
"""Longest wait for documents."""


def _faults(running: Fleet) -> list[str]:
    return [f"{len(running.balancer.faults)} requests failed: {running.balancer.faults[:5]}"][
        : len(running.balancer.faults)
    ]


async def run(count: int, further: int) -> int:
    """Index `count` documents both ways, then restart the replicas while `further` ones come.
    Returns 1 for a fault.
    """
    names = iter(documents(count + further).items())
    first = dict(islice(names, count))
    second = dict(names)
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        async with fleet(Path(folder) / "one", ONE) as single_fleet:
            seconds_alone, expected_sums = await indexed(single_fleet, (first, second), SECONDS)
            problems += _faults(single_fleet)
        rate = count / seconds_alone
        print(
            f"one of each: {count} documents in {seconds_alone:.0f} s, {rate:.1f} a second",
            flush=True,
        )
        async with fleet(Path(folder) / "several", SEVERAL) as large_fleet:
            together, sums = await indexed(large_fleet, (first,), SECONDS)
            size = len(large_fleet.processes)
            print(
                (
                    f"{size} processes: {count} documents in {together:.0f} s, "
                    f"{count / together:.1f} a second"
                ),
                flush=True,
            )
            answer_count = await restarted_under_load(large_fleet, count, second, SECONDS)
            sums.append(await large_fleet.sums())
            problems += _faults(large_fleet)
            print(
                f"all {size} restarted in turn: {answer_count} questions answered and {further} "
                "documents added meanwhile"
            )
            print(
                f"answers by status: {dict(large_fleet.balancer.statuses)}; load of the machine: "
                f"{os.getloadavg()[0]:.0f}"
            )
    problems += [
        f"digests differ: {mine} {theirs}"
        for mine, theirs in zip(sums, expected_sums, strict=True)
        if mine != theirs
    ]
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.replicas", description=__doc__)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument(
        "--further", type=int, default=100, help="documents added while everything is restarted"
    )
    arguments = parser.parse_args()
    sys.exit(asyncio.run(run(arguments.documents, arguments.further)))
