"""What a document costs to index: time, CPU, bytes written, memory and calls of the models, by process.

    YARDSTICK_DATA=FOLDER python -m benchmarks.index [--documents 100] [--stores embedded|production] [--keep FOLDER]
        [--chat-latency MS] [--profile SERVICE] [--set NAME=VALUE]

Starts a stack in a folder of its own with the mock model of the yardstick (0 ms a call, vectors of 384 numbers),
publishes the first N documents, waits until nobody has anything left to do, and prints tables in Markdown. CPU is user
and system time of each process and its descendants; bytes written are those sent to the disk.

`--keep` leaves the data folder in FOLDER; it must not have one. `--profile` samples one process (chunker, extractor,
merger, indexer, query) with py-spy and prints its hottest functions. `--set` gives the stack a setting.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring.model import mock_model
from benchmarks.measuring.processes import MIB, Usage, Usages, load, spent, stored
from benchmarks.measuring.profile import hottest, profiled
from benchmarks.measuring.sides import STORES, Side, side
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import Document, documents

SERVICES = ("chunker", "extractor", "merger", "indexer", "query")


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


def main() -> None:
    """Run it and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--documents", type=int, default=100)
    arguments.add_argument("--stores", choices=STORES, default="embedded")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER")
    arguments.add_argument("--chat-latency", type=float, default=0.0, metavar="MS")
    arguments.add_argument("--profile", metavar="SERVICE")
    arguments.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", type=setting)
    given = arguments.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    texts = documents(given.documents)
    with (
        tempfile.TemporaryDirectory() as scratch,
        mock_model("--chat-latency", str(given.chat_latency)) as model,
        side(given.stores, given.keep and given.keep.resolve(), **{**model.environment(), **dict(given.set)}) as stack,
        ExitStack() as profiling,
    ):
        if given.profile:
            out = profiling.enter_context(profiled(stack.pids()[given.profile], Path(scratch)))
        model.reset()
        found = indexed(stack, texts, model.stats)
        print(report(found, given.stores))
        profiling.close()
        if given.profile:
            print(f"\nProfile of {given.profile}: {hottest(out)}")


def setting(text: str) -> tuple[str, str]:
    """A setting and its value. Raises ArgumentTypeError when there is no value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"not NAME=VALUE: {text}")
    return name, value


def indexed(stack: Side, texts: list[Document], stats: Any) -> Indexed:
    """Index the documents and say what it took."""
    before, load_before = stack.usages(), load()
    processed, settled = stack.index(texts)
    time.sleep(0.5)  # what was acknowledged last may still be on its way to the disk
    used = spent(before, stack.usages())
    size = sum(len(document.text.encode()) for document in texts)
    return Indexed(len(texts), size, processed, settled, used, stored(stack.folder), stats(), load_before)


def report(found: Indexed, stores: str) -> str:
    """All tables."""
    count, total = found.documents, sum(found.spent.values(), Usage())
    each = [
        [name, number(used.cpu * 1000 / count), number(used.written / 1000 / count), number(used.resident, 0)]
        for name, used in [*found.spent.items(), ("all", total)]
    ]
    files = [[name, number(size / MIB, 2)] for name, size in sorted(found.files.items())]
    kept = sum(found.files.values())
    calls = found.model
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(calls["kinds"].items()))
    lines = [
        f"{count} documents of {found.text / count:,.0f} bytes, {stores} stores; load before {found.load}",
        "",
        f"processed after {found.processed:.1f} s, settled after {found.settled:.1f} s; "
        f"CPU {total.cpu * 1000 / count:.1f} ms and {total.written / 1000 / count:,.0f} kB written a document",
        "",
        table(["process", "CPU, ms a document", "kB written a document", "MiB resident"], each),
        "",
        table(
            ["files", "MiB"], [*files, ["all", number(kept / MIB, 2)], ["times the text", number(kept / found.text)]]
        ),
        "",
        table(
            ["model", "calls", "a document"],
            [
                [f"chat ({kinds})", str(calls["chat_calls"]), number(calls["chat_calls"] / count, 2)],
                ["chat, at once at most", str(calls["most_chat_calls"]), ""],
                ["embedding", str(calls["embedding_calls"]), number(calls["embedding_calls"] / count, 2)],
                ["texts embedded", str(calls["texts"]), number(calls["texts"] / count, 2)],
                ["different texts", str(calls["distinct_texts"]), number(calls["distinct_texts"] / count, 2)],
                ["CPU of the mock model, s", number(calls["cpu"]), number(calls["cpu"] / count, 3)],
            ],
        ),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
