"""What does an embedded stack cost with its vectors in a SQLite file, and in Milvus Lite?

    YARDSTICK_DATA=FOLDER python -m benchmarks.embedded_vectors [--documents 300] [--block 300]
        [--stores embedded embedded-milvus] [--modes mix] [--steps 30,40] [--set NAME=VALUE]

A new stack for each side, with the mock model of the yardstick at 0 ms and defaults, one after the
other. Documents are added in blocks; after each its questions are asked one at a time, context
only, each new: the first 30, which are the first since the documents came, and the next 40. Prints
Markdown: a row for each block with CPU and bytes given to `write()` a document, memory with shared
pages counted once for each sharer, and CPU and latency of a question; then all of it by process.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.index import Indexed, indexed
from benchmarks.measuring.asking import ask, connections
from benchmarks.measuring.model import mock_model
from benchmarks.measuring.opening import opened, setting
from benchmarks.measuring.sides import STORES, Side
from benchmarks.measuring.tables import number, table
from benchmarks.queries import modes, numbers
from benchmarks.yardstick.documents import Question, documents, questions

SIDES = ("embedded", "embedded-milvus")
HEAD = (
    "stack",
    "documents",
    "load",
    "CPU, ms a document",
    "kB a document to `write()`",
    "MB empty / with the documents / after the questions",
)


@dataclass(frozen=True)
class Answered:
    """What the questions of one mode took, step by step: milliseconds of CPU a question of all
    processes, and of p50.
    """

    mode: str
    cpu: list[float]
    p50: list[float]


@dataclass(frozen=True)
class Block:
    """What a block of documents took, and the questions after it; memory in MB, by process."""

    documents: int
    indexed: Indexed
    empty: float
    memories: dict[str, float]
    memories_after: dict[str, float]
    answered: list[Answered]


def main() -> None:
    """Run the sides and print their tables."""
    options = arguments().parse_args()
    blocks = {name: list(side_blocks(name, options)) for name in options.stores}
    for step in range(len(next(iter(blocks.values())))):
        sides = {name: of_side[step] for name, of_side in blocks.items()}
        print(f"\n{next(iter(sides.values())).documents} documents, by process\n")
        print(processes(sides))
    print(f"\n{totals(blocks, options.modes)}")


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--block", type=int, default=300)
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(SIDES))
    parser.add_argument("--modes", type=modes, default="mix")
    parser.add_argument("--steps", type=numbers, default="30,40")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", type=setting)
    return parser


def side_blocks(name: str, options: argparse.Namespace) -> Iterator[Block]:
    """Run one side, and yield its blocks."""
    texts = documents(options.documents)
    turns = -(-len(texts) // options.block) * len(options.modes)
    fresh = iter(questions(texts, turns * sum(options.steps)))
    with mock_model() as model, opened(name, model, **dict(options.set)) as side:
        assert isinstance(side, Side)
        empty = sum(side.memories().values())
        for start in range(0, len(texts), options.block):
            took = indexed(side, texts[start : start + options.block], model)
            memories = side.memories()
            answered = [steps(side, fresh, mode, options.steps) for mode in options.modes]
            yield Block(start + took.documents, took, empty, memories, side.memories(), answered)


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
                    block.empty,
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
