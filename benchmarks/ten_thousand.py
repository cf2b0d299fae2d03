"""Ten thousand tiny documents: is the last thousand as fast as the first, and does memory stay flat?

    python -m benchmarks.ten_thousand [--count 10000] [--hub] [--folder DIR]

Starts a stack of its own, adds a thousand documents at a time, waits until they are processed, and prints a table in
Markdown: seconds and documents per second of each thousand, memory of each process after it. Embeddings are the lexical
ones, so that what is measured is the pipeline. `--hub` lets every document name one and the same office.
"""

import argparse
import tempfile
import time
from pathlib import Path
from random import Random

from tests.support.stack import Stack, running

THOUSAND = 1000
POOL = 4000
"""Invented names to choose from: each comes back in a few documents, as names do."""


def document(number: int, hub: bool) -> str:
    """Two sentences that name three people or places."""
    dice = Random(number)
    a, b, c = (name(dice.randrange(POOL)) for _ in range(3))
    office = " The Harbour Office wrote it down." if hub else ""
    return f"{a} met {b} on day {number}. {b} sent word to {c}.{office}"


def name(number: int) -> str:
    """A name of two words."""
    parts = ("Bel", "Cor", "Dan", "Fel", "Gar", "Hol", "Jor", "Kel", "Lam", "Mor")
    endings = ("wick", "ton", "mere", "ford", "ley", "stow", "den", "by")
    first, second, third = number % 10, number // 10 % 10, number // 100
    return f"{parts[first]}{endings[third % 8]} {parts[second]}{endings[third // 8 % 8]}"


def memory(stack: Stack) -> dict[str, int]:
    """Resident memory of each process in MB."""
    found: dict[str, int] = {}
    for process, child in stack.state.children.items():
        status = Path(f"/proc/{child.identity.pid}/status").read_text()
        found[process] = int(status.partition("VmRSS:")[2].split()[0]) // 1024
    return found


def main() -> None:
    """Run it and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=10_000)
    arguments.add_argument("--hub", action="store_true")
    arguments.add_argument("--folder", type=Path, default=None)
    asked = arguments.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp()) / "data"
    with running(folder) as stack:
        names = list(memory(stack))
        print("| documents | seconds | documents/s | " + " | ".join(f"{name} MB" for name in names) + " |")
        print("|---" * (3 + len(names)) + "|")
        for start in range(0, asked.count, THOUSAND):
            texts = {f"{n:06d}.txt": document(n, asked.hub) for n in range(start, min(start + THOUSAND, asked.count))}
            began = time.monotonic()
            stack.add(texts)
            stack.settled(start + len(texts), seconds=900)
            seconds = time.monotonic() - began
            row = [start + len(texts), f"{seconds:.1f}", f"{len(texts) / seconds:.1f}", *memory(stack).values()]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
