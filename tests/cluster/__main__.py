"""Kill servers of a cluster again and again while documents flow, and print what came of it as a
table.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path
from random import Random

from tests.cluster.trial import Trial, trial
from tests.support.nats_cluster import SIZE

AWAY = 2.0
"""Seconds for which a killed server is away, as when a container is started again."""

GOAL = 5.0
"""Seconds within which publishing goes on, if it can be had: servers elect another leader after 4
to 9 s.
"""


async def _kill_one(
    running: Trial, number: int, dice: Random, *, is_stopped: bool
) -> tuple[str, float, float]:
    """Kill the leader of the log or any server, every tenth with its disk; return which, and what
    `Trial.kill` does.
    """
    leader = await running.cluster.leader(running.jetstream)
    is_alone = len(running.cluster.servers) == 1
    victim = leader if number % 2 == 0 else dice.randrange(len(running.cluster.servers))
    is_emptied = number % 10 == 9 and not is_alone
    pause, later = await running.kill(victim, emptied=is_emptied, away=AWAY, stopped=is_stopped)
    kind = (
        "the only server" if is_alone else "the leader" if victim == leader else "another server"
    ) + (", its disk lost" if is_emptied else "")
    print(
        f"{number + 1}: {kind}: nothing confirmed for {pause:.1f} s, {later:.1f} s with a leader",
        flush=True,
    )
    return kind, pause, later


async def run(kills: int, seed: int, servers: int, *, is_stopped: bool) -> int:
    """Make so many kills. Returns 1 if anything is not as it must be."""
    dice = Random(seed)
    pauses = dict[str, list[float]]()
    later = dict[str, list[float]]()
    with tempfile.TemporaryDirectory() as folder:
        async with trial(Path(folder), servers) as running:
            for number in range(kills):
                kind, *pauses_of_kill = await _kill_one(
                    running, number, dice, is_stopped=is_stopped
                )
                for found, seconds in zip((pauses, later), pauses_of_kill, strict=True):
                    found.setdefault(kind, []).append(seconds)
                    found.setdefault("all", []).append(seconds)
            problems = await running.problems()
            print(
                "\nthe service wrote nothing for, and of it after the last election that it "
                "may have waited for (s):"
            )
            print(
                ", ".join(
                    f"{silence:.1f} {ours:.1f}"
                    for silence, ours in sorted(running.silences(shortest=1.5))
                )
            )
            print(
                f"\n{len(running.confirmed)} documents confirmed, {running.refused} publishes "
                "repeated after 30 s\n"
            )
    print(
        "| killed | times | median pause (s) | longest (s) | at most 5 s | of it with a "
        "leader: median | longest (s) |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind, result in sorted(pauses.items(), key=lambda row: (row[0] == "all", row)):
        soon = sum(pause <= GOAL for pause in result)
        ours = later[kind]
        figures = (statistics.median(result), max(result), statistics.median(ours), max(ours))
        print(
            "| {} | {} | {:.1f} | {:.1f} | {} | {:.1f} | {:.1f} |".format(
                kind, len(result), *figures[:2], soon, *figures[2:]
            )
        )
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--servers",
        type=int,
        choices=[1, SIZE],
        default=SIZE,
        help="1: alone, its streams compressed",
    )
    parser.add_argument(
        "--stop", action="store_true", help="tell servers to end instead of killing them"
    )
    arguments = parser.parse_args()
    sys.exit(
        asyncio.run(
            run(arguments.kills, arguments.seed, arguments.servers, is_stopped=arguments.stop)
        )
    )
