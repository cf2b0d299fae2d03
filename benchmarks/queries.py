"""How fast questions find their context, what they cost, and how often they find it.

    YARDSTICK_DATA=FOLDER python -m benchmarks.queries [--documents 200] [--asked 100] [--modes
        naive,mix,walk] [--at-once 1,8] [--stores embedded production] [--peer-python PYTHON]
        [--workers 1] [--warming 16] [--profile SERVICE] [--set NAME=VALUE]

Indexes the first N documents of the yardstick with its mock model, then asks `POST /query/data`
over HTTP: retrieval only, each question new, its keywords extracted by the mock model. One side
runs after the other; PYTHON is that of a virtual environment with `lightrag-hku[api]==1.5.7`, whose
own HTTP server is asked the same; it has no `walk`.

`--asked` questions for each mode and each number of clients; `--workers`: WORKERS of our query
service. Prints tables in Markdown: latency and questions a second of each side, and the share of
questions whose passage is among the chunks returned; then milliseconds of CPU a question by
process. Those to warm up are not counted; with `--warming 0` a row has the first questions of a
process. What indexing took is printed first, as `benchmarks.index` does.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from benchmarks.index import indexed, report
from benchmarks.measuring.asking import ask, connections, found
from benchmarks.measuring.model import mock_model
from benchmarks.measuring.opening import PEERS, Opened, add_sides, given_sides, opened
from benchmarks.measuring.processes import Usages, load, spent
from benchmarks.measuring.profile import profiled
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import Question, documents, questions

MODES = ("naive", "local", "global", "hybrid", "mix", "walk")
OURS_ALONE = ("walk",)
WARMING = 16
"""Questions asked before each row for every process that answers, unless `--warming` says
otherwise: Python's and the drivers' first calls are slower.
"""
WARMERS = 8
"""Connections that these are asked over, so that each process is asked."""
LONGEST_REST, AT_REST = 30.0, 0.2
"""Seconds that a side has to come to rest, and seconds of CPU a second of all its processes that
are rest.
"""

Row = tuple[str, int]
"""Mode, and how many questions at once."""


@dataclass(frozen=True)
class Figures:
    """What a row of questions took."""

    p50: float
    p95: float
    rate: float
    found: float
    asked: int
    spent: Usages
    load: str


@dataclass(frozen=True)
class Task:
    """What each side is asked."""

    documents: int
    asked: int
    rows: Sequence[Row]
    workers: int
    warming: int


def main() -> None:
    """Run the sides and print their tables."""
    given = arguments().parse_args()
    task = Task(
        given.documents,
        given.asked,
        list(product(given.modes, given.at_once)),
        given.workers,
        given.warming,
    )
    results: dict[str, dict[Row, Figures]] = {}
    for name in given_sides(given):
        with (
            mock_model() as model,
            opened(
                name, model, peer_python=given.peer_python, **settings(name, task, given.set)
            ) as side,
        ):
            print(
                f"{name}: {report(indexed(side, documents(task.documents), model))}\n", flush=True
            )
            with profiled(side, given.profile):
                results[name] = rows(name, side, task)
    print(
        f"{task.documents} documents, {task.asked} questions a row, {task.workers} query "
        "process(es)\n"
    )
    print(times(results))
    for name, figures in results.items():
        print(f"\n{name}: milliseconds of CPU a question\n\n{costs(figures)}")


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--asked", type=int, default=100, help="questions per row")
    parser.add_argument("--modes", type=modes, default="naive,mix,walk")
    parser.add_argument("--at-once", type=numbers, default="1,8")
    add_sides(parser)
    parser.add_argument("--workers", type=int, default=1, help="processes of the query service")
    parser.add_argument("--warming", type=int, default=WARMING, help="questions before each row")
    return parser


def settings(name: str, task: Task, given: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The settings of a side: LightRAG's are as it ships."""
    return {} if name in PEERS else {"WORKERS": str(task.workers), **dict(given)}


def rows(name: str, side: Opened, task: Task) -> dict[Row, Figures]:
    """Every row that this side has, each with questions that were not asked before."""
    wanted = [row for row in task.rows if not (name in PEERS and row[0] in OURS_ALONE)]
    warming = task.warming * task.workers
    enough = len(task.rows) * (task.asked + warming)
    fresh = iter(questions(documents(task.documents), enough))
    results: dict[Row, Figures] = {}
    for mode, at_once in wanted:
        results[mode, at_once] = row(side, fresh, (mode, at_once), warming, task.asked)
        print(name, mode, at_once, results[mode, at_once], file=sys.stderr)
    return results


def row(side: Opened, fresh: Iterator[Question], what: Row, warming: int, count: int) -> Figures:
    """Ask some to warm up, then the questions that are measured."""
    mode, at_once = what
    first, asked = list(islice(fresh, warming)), list(islice(fresh, count))
    with connections(side.api, WARMERS) as connected:
        ask(connected, first, mode)
    rest(side)
    with connections(side.api, at_once) as connected:
        load_before, before = load(), side.usages()
        done = ask(connected, asked, mode)
        used = spent(before, side.usages())
    share = found(asked, done.answers)
    return Figures(
        done.percentile(0.5), done.percentile(0.95), done.rate, share, len(asked), used, load_before
    )


def rest(side: Opened) -> None:
    """Wait until no process of the side works: what it reads beside the first questions is not the
    others' cost.
    """
    end = time.monotonic() + LONGEST_REST
    used, before = math.inf, sum(each.cpu for each in side.usages().values())
    while used > AT_REST and time.monotonic() < end:
        time.sleep(1.0)
        now = sum(each.cpu for each in side.usages().values())
        used, before = now - before, now


def modes(text: str) -> list[str]:
    """Names separated by commas. Raises ArgumentTypeError for one that is no mode."""
    names = text.split(",")
    if unknown := set(names) - set(MODES):
        raise argparse.ArgumentTypeError(
            f"no mode: {', '.join(sorted(unknown))}; there are {', '.join(MODES)}"
        )
    return names


def numbers(text: str) -> list[int]:
    """Numbers separated by commas."""
    return [int(each) for each in text.split(",")]


def times(results: dict[str, dict[Row, Figures]]) -> str:
    """A row for each mode, concurrency and side."""
    every = dict.fromkeys(row for figures in results.values() for row in figures)
    lines = [
        [
            mode,
            str(at_once),
            side,
            number(of.p50),
            number(of.p95),
            number(of.rate),
            f"{100 * of.found:.0f} %",
            of.load,
        ]
        for mode, at_once in every
        for side, figures in results.items()
        if (of := figures.get((mode, at_once)))
    ]
    return table(
        ["mode", "at once", "side", "p50 ms", "p95 ms", "per s", "passage found", "load before"],
        lines,
    )


def costs(figures: dict[Row, Figures]) -> str:
    """A row for each mode and concurrency: CPU milliseconds a question of each process."""
    names = list(next(iter(figures.values())).spent)
    lines = [
        [mode, str(at_once), *(number(of.spent[name].cpu * 1000 / of.asked, 2) for name in names)]
        for (mode, at_once), of in figures.items()
    ]
    return table(["mode", "at once", *names], lines)


if __name__ == "__main__":
    main()
