"""What does an embedded stack cost with all its stores in SQLite files, with its graph in ArcadeDB,
and with its vectors in Milvus Lite?

    YARDSTICK_DATA=FOLDER python -m benchmarks.embedded_stores [--documents 300] [--block 300]
        [--short] [--stores embedded embedded-arcadedb] [--modes mix] [--steps 30,40]
        [--set NAME=VALUE]

A new stack for each side, with the mock model of the yardstick at 0 ms and defaults, one after the
other. Documents are added in blocks; after each its questions are asked one at a time, context
only, each new: the first 30, which are the first since the documents came, and the next 40. Prints
Markdown: of each start in a new folder, how long it took from the command to the page and its CPU;
a row for each block with CPU and bytes given to `write()` a document, memory with shared pages
counted once for each sharer, and CPU and latency of a question; then all of it by process. Standard
error has the same of each block as it ends.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import httpx

from benchmarks.index import Indexed, indexed
from benchmarks.measuring.asking import ask, connections
from benchmarks.measuring.model import mock_model
from benchmarks.measuring.opening import opened, setting
from benchmarks.measuring.processes import load
from benchmarks.measuring.sides import STORES, Side
from benchmarks.measuring.tables import number, table
from benchmarks.queries import modes, numbers
from benchmarks.yardstick.documents import Question, documents, questions
from benchmarks.yardstick.short_documents import short_documents

SIDES = ("embedded", "embedded-arcadedb")
START = ("stack", "load", "s from the command to the page", "CPU until then, s", "MB empty")
HEAD = (
    "stack",
    "documents",
    "load",
    "CPU, ms a document",
    "kB a document to `write()`",
    "MB empty / with the documents / after the questions",
)


REST = 8.0
"""Seconds after which what follows a start has come to an end."""


@dataclass(frozen=True)
class Answered:
    """What the questions of one mode took, step by step: milliseconds of CPU a question of all
    processes, and of p50.
    """

    mode: str
    cpu: list[float]
    p50: list[float]


@dataclass(frozen=True)
class Start:
    """What a start in a new folder took, and the memory of the empty stack in MB."""

    load: str
    seconds: float
    cpu: float
    empty: float


@dataclass(frozen=True)
class Block:
    """What a block of documents took, and the questions after it; memory in MB, by process."""

    documents: int
    indexed: Indexed
    start: Start
    memories: dict[str, float]
    memories_after: dict[str, float]
    answered: list[Answered]


def main() -> None:
    """Run the sides and print their tables."""
    options = arguments().parse_args()
    blocks = {name: list(told(name, options)) for name in options.stores}
    for step in range(len(next(iter(blocks.values())))):
        sides = {name: of_side[step] for name, of_side in blocks.items()}
        print(f"\n{next(iter(sides.values())).documents} documents, by process\n")
        print(processes(sides))
    print(f"\n{starts(blocks)}\n\n{totals(blocks, options.modes)}")


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--block", type=int, default=300)
    parser.add_argument("--short", action="store_true", help="short documents with hubs, no data")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(SIDES))
    parser.add_argument("--modes", type=modes, default="mix")
    parser.add_argument("--steps", type=numbers, default="30,40")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", type=setting)
    return parser


def told(name: str, options: argparse.Namespace) -> Iterator[Block]:
    """Yield the blocks of one side, and say each as it ends, for a long run may be stopped."""
    for block in side_blocks(name, options):
        rows = totals({name: [block]}, options.modes), processes({name: block})
        print(*rows, sep="\n\n", file=sys.stderr, flush=True)
        yield block


def side_blocks(name: str, options: argparse.Namespace) -> Iterator[Block]:
    """Run one side, and yield its blocks."""
    texts = (short_documents if options.short else documents)(options.documents)
    turns = -(-len(texts) // options.block) * len(options.modes)
    fresh = iter(questions(texts, turns * sum(options.steps)))
    before, began = load(), time.monotonic()
    with mock_model() as model, opened(name, model, **dict(options.set)) as side:
        assert isinstance(side, Side)
        httpx.get(side.api, follow_redirects=True, trust_env=False).raise_for_status()
        seconds, cpu = time.monotonic() - began, side.cpu()
        time.sleep(REST)
        start = Start(before, seconds, cpu, sum(side.memories().values()))
        for first in range(0, len(texts), options.block):
            took = indexed(side, texts[first : first + options.block], model)
            memories = side.memories()
            answered = [steps(side, fresh, mode, options.steps) for mode in options.modes]
            yield Block(first + took.documents, took, start, memories, side.memories(), answered)


def steps(side: Side, fresh: Iterator[Question], mode: str, counts: Sequence[int]) -> Answered:
    """Ask so many questions after so many, one at a time."""
    result = Answered(mode, [], [])
    with connections(side.api, 1) as connected:
        for count in counts:
            before = side.cpu()
            answers = ask(connected, list(islice(fresh, count)), mode)
            result.cpu.append((side.cpu() - before) * 1000 / count)
            result.p50.append(answers.percentile(0.5))
    return result


def starts(blocks: dict[str, list[Block]]) -> str:
    """A row for the start of each side."""
    return table(
        START,
        [
            [
                name,
                start.load,
                number(start.seconds),
                number(start.cpu),
                number(start.empty, 0),
            ]
            for name, (block, *_) in blocks.items()
            for start in [block.start]
        ],
    )


def totals(blocks: dict[str, list[Block]], asked_modes: Sequence[str]) -> str:
    """A row for each block of each side."""
    lines = [
        [
            name,
            f"{block.documents:,}",
            block.indexed.load,
            number(block.indexed.total.cpu * 1000 / block.indexed.documents),
            number(block.indexed.total.wchar / 1000 / block.indexed.documents, 0),
            " / ".join(
                number(memory, 0)
                for memory in (
                    block.start.empty,
                    sum(block.memories.values()),
                    sum(block.memories_after.values()),
                )
            ),
            *(_together(values) for of in block.answered for values in (of.cpu, of.p50)),
        ]
        for name, of_side in blocks.items()
        for block in of_side
    ]
    head = [
        f"`{mode}`, {what}, in turn"
        for mode in asked_modes
        for what in ("CPU ms a question", "p50 ms")
    ]
    return table([*HEAD, *head], lines)


def processes(last: dict[str, Block]) -> str:
    """A row for each process, with figures of each side beside one another."""
    names = dict.fromkeys(name for block in last.values() for name in block.indexed.spent)
    head = ["CPU, ms a document", "kB a document to `write()`", "MB"]
    return table(
        ["process", *(f"{what}, {side}" for what in head for side in last)],
        [[name, *_of_process(name, list(last.values()))] for name in names],
    )


def _of_process(name: str, blocks: Sequence[Block]) -> list[str]:
    used = [(block.indexed.spent.get(name), block.indexed.documents) for block in blocks]
    return [
        *(number(of and of.cpu * 1000 / count) for of, count in used),
        *(number(of and of.wchar / 1000 / count, 0) for of, count in used),
        *(number(block.memories.get(name), 0) for block in blocks),
    ]


def _together(values: Sequence[float]) -> str:
    return " / ".join(number(value, 0) for value in values)


if __name__ == "__main__":
    main()
