"""How fast a rebuild reads the log, beside the rate at which the same events came about.

    YARDSTICK_DATA=FOLDER python -m benchmarks.rebuild [--documents 100] [--chat-latency 50]

Starts a stack, adds documents with a model that takes so many milliseconds a call, waits until
nobody has anything left to do, then rebuilds each projection. Prints a table in Markdown. Live
indexing ends when all documents are processed; CPU is that of the stack and, of a rebuild, that of
its command. The column "of live" is the rate of the rebuild divided by that of live indexing in the
same run.
"""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.measuring.model import Model, mock_model
from benchmarks.measuring.processes import Usage, load, spent
from benchmarks.measuring.sides import Side, embedded
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import documents
from tests.support.stack import Stack

TARGETS = ("status", "graph", "vectors", "all")
HEAD = (
    "what",
    "events",
    "seconds",
    "events/s",
    "CPU, ms an event",
    "events/s of CPU",
    "model calls",
    "of live",
    "load before",
)


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--chat-latency", type=float, default=50.0, help="milliseconds")
    given = parser.parse_args()
    flags = ("--chat-latency", str(given.chat_latency))
    with tempfile.TemporaryDirectory() as folder, mock_model(*flags) as model:
        environment = model.environment()
        with embedded(Path(folder) / "data", **environment) as side:
            rows = measured(side, Stack(side.folder, environment), model, given.documents)
    print(f"{given.documents} documents, {given.chat_latency:.0f} ms a call\n\n{table(HEAD, rows)}")


def measured(side: Side, stack: Stack, model: Model, count: int) -> list[list[str]]:
    """The row of live indexing and one of each rebuild. Raises AssertionError for a rebuild with
    another digest.
    """
    before, load_before = side.usages(), load()
    model.reset()
    seconds, _ = side.index(documents(count))
    cpu = sum(spent(before, side.usages()).values(), Usage()).cpu
    events = len(stack.run("log", "--json").stdout.splitlines())
    live, digest = events / seconds, stack.digest()
    rows = [[*row("live indexing", events, seconds, cpu, model.reset()), "1.0", load_before]]
    for target in TARGETS:
        before, load_before, children = side.usages(), load(), os.times()
        done = stack.json("rebuild", target)
        own = os.times()
        cpu = sum(spent(before, side.usages()).values(), Usage()).cpu
        cpu += (
            own.children_user
            + own.children_system
            - children.children_user
            - children.children_system
        )
        assert stack.digest() == digest, f"rebuild {target} gave another digest"
        rate = done["events_per_second"]
        rows.append(row(f"rebuild {target}", events, events / rate, cpu, model.reset()))
        rows[-1] += [number(rate / live), load_before]
    return rows


def row(what: str, events: int, seconds: float, cpu: float, stats: dict[str, int]) -> list[str]:
    """The figures of one run."""
    calls = stats["chat_calls"] + stats["embedding_calls"]
    rates = [number(events / seconds, 0), number(cpu * 1000 / events, 2), number(events / cpu, 0)]
    return [what, str(events), number(seconds), *rates, str(calls)]


if __name__ == "__main__":
    main()
