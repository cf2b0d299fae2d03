"""What a document costs to index: time, CPU, bytes written, memory and calls of the models, by
process.

    YARDSTICK_DATA=FOLDER python -m benchmarks.index [--documents 100] [--runs 1] [--stores embedded
        production] [--peer-python PYTHON] [--keep FOLDER] [--chat-latency MS] [--profile SERVICE]
        [--set NAME=VALUE]

Starts a stack in a folder of its own with the mock model of the yardstick (0 ms a call, vectors of
384 numbers), publishes the first N documents some seconds later, waits until nobody has anything
left to do, and prints tables in Markdown. CPU is user and system time of each process and its
descendants. Bytes written are those sent to the disk as the kernel counts them for a process, in
whole folios, and those that reached the device of the folder, which others may write to as well:
give the stack a file system of its own (TMPDIR).

PYTHON is that of a virtual environment with `lightrag-hku[api]==1.5.7`: its HTTP server indexes the
same documents, once as it ships and once with one client for all calls of the model. `--runs`:
sides take turns, and a last table has the medians. `--keep` leaves the data folder of the last side
in FOLDER; it must not have one. `--profile` samples one process (chunker, extractor, merger,
indexer, query) with py-spy. `--set` gives our stacks a setting.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measuring.model import Model, mock_model
from benchmarks.measuring.opening import PEERS, Opened, add_sides, given_sides, opened
from benchmarks.measuring.processes import (
    MIB,
    Usage,
    Usages,
    device_written,
    load,
    spent,
    stored,
)
from benchmarks.measuring.profile import profiled
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import Document, documents

STARTED = 8.0
"""Seconds after a start until documents come: what a side does for itself then is done."""
REST = 8.0
"""Seconds after the last work until bytes are counted: what SQLite copies once nobody writes is of
these documents.
"""


@dataclass(frozen=True)
class Indexed:
    """What indexing took."""

    documents: int
    text: int
    """Bytes."""
    processed: float
    settled: float
    spent: Usages
    files: Mapping[str, int]
    model: Mapping[str, Any]
    load: str
    device: float
    """Bytes written to the device of the folder meanwhile, by anybody."""

    @property
    def total(self) -> Usage:
        """Of all processes."""
        return sum(self.spent.values(), Usage())

    @property
    def stored(self) -> int:
        """Bytes."""
        return sum(self.files.values())


def main() -> None:
    """Run it and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--chat-latency", type=float, default=0.0, metavar="MS")
    add_sides(parser)
    given = parser.parse_args()
    texts = documents(given.documents)
    sides = given_sides(given)
    results: dict[str, list[Indexed]] = {name: [] for name in sides}
    for turn in range(given.runs):
        for name in sides:
            keep = given.keep if (turn, name) == (given.runs - 1, sides[-1]) else None
            settings = {} if name in PEERS else dict(given.set)
            with (
                mock_model("--chat-latency", str(given.chat_latency)) as model,
                opened(name, model, peer_python=given.peer_python, keep=keep, **settings) as side,
                profiled(side, given.profile),
            ):
                results[name].append(indexed(side, texts, model))
                print(f"## {name}, run {turn + 1}\n\n{report(results[name][-1])}\n", flush=True)
    if len(sides) > 1 or given.runs > 1:
        print(comparison(results))


def indexed(side: Opened, texts: Sequence[Document], model: Model) -> Indexed:
    """Index the documents and say what it took."""
    time.sleep(STARTED)
    model.reset()
    before, load_before = side.usages(), load()
    device_before = device_written(side.folder)
    processed, settled = side.index(texts)
    used = spent(before, side.usages())
    time.sleep(REST)
    at_rest = spent(before, side.usages())
    used = {
        name: replace(of_one, written=at_rest[name].written, wchar=at_rest[name].wchar)
        for name, of_one in used.items()
    }
    size = sum(len(document.text.encode()) for document in texts)
    files, device = stored(side.folder), device_written(side.folder) - device_before
    return Indexed(
        len(texts), size, processed, settled, used, files, model.stats(), load_before, device
    )


def report(result: Indexed) -> str:
    """All tables of one run."""
    count, calls, total = result.documents, result.model, result.total
    each = [
        [
            name,
            number(used.cpu * 1000 / count),
            number(used.written / 1000 / count),
            number(used.wchar / 1000 / count),
            number(used.resident, 0),
        ]
        for name, used in [*result.spent.items(), ("all", total)]
    ]
    files = [
        [name, number(size / MIB, 2)]
        for name, size in sorted(result.files.items())
        if size >= MIB / 100
    ]
    files += [
        ["all", number(result.stored / MIB, 2)],
        ["times the text", number(result.stored / result.text)],
    ]
    kinds = ", ".join(f"{kind} {calls}" for kind, calls in sorted(calls["kinds"].items()))
    counted = {
        f"chat ({kinds})": "chat_calls",
        "embedding": "embedding_calls",
        "texts embedded": "texts",
        "different texts": "distinct_texts",
    }
    model = [
        [label, str(calls[name]), number(calls[name] / count, 2)] for label, name in counted.items()
    ]
    lines = [
        f"{count} documents of {result.text / count:,.0f} bytes; load before {result.load}",
        "",
        f"processed after {result.processed:.1f} s, settled after {result.settled:.1f} s; "
        f"CPU {total.cpu * 1000 / count:.1f} ms and {total.written / 1000 / count:,.0f} kB "
        f"written a document, {result.device / 1000 / count:,.0f} kB to the device; at most "
        f"{calls['most_chat_calls']} chat calls at once; the mock model took "
        f"{calls['cpu']:.1f} s of CPU",
        "",
        table(
            [
                "process",
                "CPU, ms a document",
                "kB written a document",
                "kB given to write()",
                "MiB resident",
            ],
            each,
        ),
        "",
        table(["files", "MiB"], files),
        "",
        table(["model", "calls", "a document"], model),
    ]
    return "\n".join(lines)


def comparison(results: Mapping[str, Sequence[Indexed]]) -> str:
    """The medians of each side's runs."""
    head = [
        "side",
        "documents",
        "runs",
        "processed, s",
        "settled, s",
        "CPU, ms a document",
        "kB written a document",
    ]
    head += [
        "stored, times the text",
        "MiB resident",
        "chat calls",
        "embedding calls",
        "texts embedded",
        "load before",
    ]
    lines: list[list[str]] = []
    for side, runs in results.items():
        count = runs[0].documents
        figures = [
            (median(run.processed for run in runs), 1),
            (median(run.settled for run in runs), 1),
            (median(run.total.cpu * 1000 / count for run in runs), 1),
            (median(run.total.written / 1000 / count for run in runs), 0),
            (median(run.stored / run.text for run in runs), 1),
            (median(run.total.resident for run in runs), 0),
            *(
                (median(run.model[name] for run in runs), 0)
                for name in ("chat_calls", "embedding_calls", "texts")
            ),
        ]
        values = [number(value, digits) for value, digits in figures]
        lines.append(
            [side, str(count), str(len(runs)), *values, ", ".join(run.load for run in runs)]
        )
    return table(head, lines)


if __name__ == "__main__":
    main()
