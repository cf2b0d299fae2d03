"""How long questions take while everything is rebuilt, with documents coming in or without.

    python -m benchmarks.rebuild_live [--documents 60] [--questions 60]

Starts a stack, adds documents, and asks for contexts one after the other: while nothing else
happens, while documents come in, and while `rebuild all` runs again and again, without and with
documents coming in. Prints p50 and p95 of each, CPU of the query service for a question, the
questions that failed, and whether a last rebuild finds what the services wrote.
"""

import argparse
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from benchmarks.measuring.processes import load, usage
from benchmarks.measuring.tables import number, table
from tests.support.commands import LIGHTSTREAM
from tests.support.corpus import documents
from tests.support.stack import Stack, environment, running

HEAD = ("meanwhile", "questions", "failed", "p50, ms", "p95, ms", "CPU of query, ms", "load before")
QUESTION = "Who met whom at the Customs House?"


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "data") as stack:
        stack.add(documents(given.documents))
        stack.settled(given.documents)
        asked(stack, given.questions // 4)  # fills the caches that every later question has
        rows = [row("nothing", stack, given.questions, lambda _: None)]
        rows.append(
            row("documents", stack, given.questions, lambda over: ingest(stack, over, "alone"))
        )
        rows.append(row("rebuild all", stack, given.questions, lambda over: rebuild(stack, over)))
        rows.append(
            row("documents, rebuild all", stack, given.questions, lambda over: both(stack, over))
        )
        same = all(one["same"] for one in stack.json("rebuild", "all")["digests"].values())
    print(
        f"{given.documents} documents\n\n{table(HEAD, rows)}\n\nThe same as a quiet rebuild "
        f"finds: {same}"
    )


def row(
    what: str, stack: Stack, count: int, meanwhile: Callable[[threading.Event], None]
) -> list[str]:
    """Ask so many questions while something else happens, and return the row."""
    over, before = threading.Event(), load()
    other = threading.Thread(target=meanwhile, args=(over,))
    other.start()
    cpu = usage(stack.pid("query")).cpu
    try:
        times, failed = asked(stack, count)
    finally:
        over.set()
        other.join()
    spent = (usage(stack.pid("query")).cpu - cpu) / count
    p95 = statistics.quantiles(times, n=20)[-1]
    return [
        what,
        str(count),
        str(failed),
        number(statistics.median(times) * 1000),
        number(p95 * 1000),
        number(spent * 1000),
        before,
    ]


def asked(stack: Stack, count: int) -> tuple[list[float], int]:
    """Ask for contexts, one after the other; return the seconds of each, and how many failed."""
    times: list[float] = []
    failed = 0
    with httpx.Client(base_url=stack.state.api, timeout=60) as client:
        for number_ in range(count):
            began = time.perf_counter()
            answer = client.post(
                "/query", json={"query": f"{QUESTION} {number_}", "only_need_context": True}
            )
            times.append(time.perf_counter() - began)
            failed += answer.status_code != 200
    return times, failed


def ingest(stack: Stack, over: threading.Event, name: str) -> None:
    """Add a document every two seconds until it is over."""
    for title, text in documents(2000, seed=5).items():
        if over.wait(2.0):
            return
        stack.add({f"{name}-{title}": text})


def both(stack: Stack, over: threading.Event) -> None:
    """Rebuild everything again and again while documents come in."""
    adding = threading.Thread(target=ingest, args=(stack, over, "rebuilt"))
    adding.start()
    rebuild(stack, over)
    adding.join()


def rebuild(stack: Stack, over: threading.Event) -> None:
    """Rebuild everything again and again."""
    command = [LIGHTSTREAM, "rebuild", "all", "--json", "--data", str(stack.folder)]
    while not over.is_set():
        subprocess.run(command, env=environment(stack.env), stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
