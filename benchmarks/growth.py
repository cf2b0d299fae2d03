"""What a document costs when many are there already: CPU, bytes, memory and size, in blocks up to N
documents.

    YARDSTICK_DATA=FOLDER python -m benchmarks.growth [--documents 1000] [--block 100] [--hub]
        [--stores embedded] [--peer-python PYTHON] [--set NAME=VALUE]

Starts a stack with the mock model of the yardstick, adds a block of documents at a time, waits
until nobody has anything left to do, and prints a row in Markdown. The last line says with which
power of the number of documents the CPU of all documents so far grows: 1 means that a document
costs the same whatever is there. `--hub` lets every document name one and the same office.
"""

import argparse
import math
from collections.abc import Sequence

from benchmarks.index import Indexed, indexed
from benchmarks.measuring.model import Model, mock_model
from benchmarks.measuring.opening import PEERS, Opened, add_sides, given_sides, opened
from benchmarks.measuring.processes import MIB
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import Document, documents

HUB = "\n\nThe Harbour Office of Port Elm keeps a copy."


def main() -> None:
    """Run the sides and print their tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--block", type=int, default=100)
    parser.add_argument("--hub", action="store_true")
    add_sides(parser)
    given = parser.parse_args()
    texts = documents(given.documents)
    if given.hub:
        texts = [Document(each.name, each.text + HUB, each.titles) for each in texts]
    for name in given_sides(given):
        settings = {} if name in PEERS else dict(given.set)
        with (
            mock_model() as model,
            opened(name, model, peer_python=given.peer_python, **settings) as side,
        ):
            print(f"## {name}\n")
            blocks = grown(side, texts, given.block, model)
        print(
            f"\nCPU grows with the power {exponent(blocks):.3f} of the number of documents.\n",
            flush=True,
        )


def grown(side: Opened, texts: Sequence[Document], size: int, model: Model) -> list[Indexed]:
    """Index block after block, and print a row of each."""
    blocks: list[Indexed] = []
    for start in range(0, len(texts), size):
        blocks.append(indexed(side, texts[start : start + size], model))
        head, row = line(blocks)
        lines = table(head, [row]).splitlines()
        print("\n".join(lines if start == 0 else lines[2:]), flush=True)
    return blocks


def line(blocks: Sequence[Indexed]) -> tuple[list[str], list[str]]:
    """The head, and the row of the last block."""
    last, every = blocks[-1], sum(block.documents for block in blocks)
    figures = {
        "documents": number(every, 0),
        "settled, s": number(last.settled),
        "CPU, ms a document": number(last.total.cpu * 1000 / last.documents),
        **{
            f"{name}, ms": number(used.cpu * 1000 / last.documents)
            for name, used in last.spent.items()
        },
        "kB written a document": number(last.total.written / 1000 / last.documents, 0),
        **{
            f"{name}, kB given to write()": number(used.wchar / 1000 / last.documents, 0)
            for name, used in last.spent.items()
        },
        "kB to the device": number(last.device / 1000 / last.documents, 0),
        "texts embedded a document": number(last.model["texts"] / last.documents),
        "stored, MiB": number(last.stored / MIB),
        "times the text": number(last.stored / sum(block.text for block in blocks)),
        "MiB resident": number(last.total.resident, 0),
        "load before": last.load,
    }
    return list(figures), list(figures.values())


def exponent(blocks: Sequence[Indexed]) -> float:
    """The slope of total CPU over the number of documents, both as logarithms, from the second
    block on.
    """
    points: list[tuple[float, float]] = []
    cpu = count = 0.0
    for block in blocks:
        cpu, count = cpu + block.total.cpu, count + block.documents
        points.append((math.log(count), math.log(cpu)))
    points = points[1:]
    if len(points) < 2:
        return math.nan
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


if __name__ == "__main__":
    main()
