"""How fast questions find their context: every mode, one and eight at once, beside LightRAG over the same documents.

    python -m benchmarks.queries [--count 1000] [--asked 200] [--modes naive,mix] [--at-once 1,8] [--workers 1]
        [--stack embedded production] [--peer-python PYTHON]

Indexes texts of `tests/support/corpus.py` with the mock model of the tests, then asks for retrieval only (ours: `POST
/query/data` over HTTP; LightRAG: `aquery_data` in its own process, without HTTP) with keywords given, so that no side
calls a language model; all embed through the mock model's route. One side runs after the other.

`--count` documents; `--asked` questions a row, after a few to warm up; `--modes` and `--at-once`, separated by commas:
a row for each pair. `--stack`: `embedded` (what is measured when nothing is said), `production` (NATS, a server of
MongoDB's protocol, Neo4j and Milvus, with the five services as processes; `tests/support/production.py`), or both.
`--workers`: WORKERS of the query service, on both stacks. PYTHON is that of a virtual environment with
`lightrag-hku==1.5.7`; without it our side runs alone, and LightRAG has no `walk`.

Prints tables in Markdown. The first has latency and questions a second of each side, and how many times as many ours
answers as LightRAG. The others, one for each stack of ours, say how many milliseconds of CPU a question cost in the
query service, the vector store, the rest of the stack, the mock model, and the process that asks, which all share the
machine. The system counts it in hundredths of a second: to tell 0.1 ms apart takes a hundred questions a row.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.queries_sides import GROUPS, Figures, Row, Task, embedded, peer, production
from benchmarks.questions import questions
from tests.support import corpus

MODES = ("naive", "local", "global", "hybrid", "mix", "walk")
STACKS = {"embedded": embedded, "production": production}
PEER = "LightRAG"
TIMES = {"p50": "p50 ms", "p95": "p95 ms", "rate": "per s"}
NONE = "–"

Found = dict[str, dict[Row, Figures]]
"""The rows of each side."""


def main() -> None:
    """Run the sides and print their tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=1000, help="documents")
    arguments.add_argument("--asked", type=int, default=200, help="questions per row")
    arguments.add_argument("--modes", type=modes, default=",".join(MODES))
    arguments.add_argument("--at-once", type=numbers, default="1,8")
    arguments.add_argument("--workers", type=int, default=1, help="processes of the query service")
    arguments.add_argument("--stack", action="extend", nargs="+", choices=STACKS)
    arguments.add_argument("--peer-python", type=Path)
    asked = arguments.parse_args()
    task = Task(corpus.documents(asked.count), questions(asked.asked), asked.modes, asked.at_once, asked.workers)
    found: Found = {PEER: peer(asked.peer_python, task)} if asked.peer_python else {}
    ours = {f"Lightstream, {name}": STACKS[name](task) for name in dict.fromkeys(asked.stack or ["embedded"])}
    print(f"{asked.count} documents, {asked.asked} questions a row, {asked.workers} query process(es)\n")
    print(times({**found, **ours}))
    for name, rows in ours.items():
        print(f"\n{name}: milliseconds of CPU per question\n\n{costs(rows)}")


def modes(text: str) -> list[str]:
    """Names separated by commas. Raises ArgumentTypeError for one that is no mode."""
    names = text.split(",")
    if unknown := set(names) - set(MODES):
        raise argparse.ArgumentTypeError(f"no mode: {', '.join(sorted(unknown))}; there are {', '.join(MODES)}")
    return names


def numbers(text: str) -> list[int]:
    """Numbers separated by commas."""
    return [int(each) for each in text.split(",")]


def times(found: Found) -> str:
    """A row for each mode and concurrency: p50 and p95 in ms and questions a second of each side, and their ratios."""
    ours = [side for side in found if side != PEER]
    compared = ours if PEER in found else []
    head = [
        *(f"{side}: {label}" for side in found for label in TIMES.values()),
        *(f"{side}: times as many per s" for side in compared),
    ]
    lines: dict[Row, list[str]] = {}
    for row in found[ours[0]]:
        sides = {side: rows.get(row) for side, rows in found.items()}
        cells = [f"{figures[name]:.1f}" if figures else NONE for figures in sides.values() for name in TIMES]
        other = sides.get(PEER)
        cells += [f"{found[side][row]['rate'] / other['rate']:.1f}" if other else NONE for side in compared]
        lines[row] = cells
    return table(head, lines)


def costs(rows: dict[Row, Figures]) -> str:
    """A row for each mode and concurrency: CPU milliseconds per question of each group of processes."""
    return table(GROUPS, {row: [f"{figures[group]:z.2f}" for group in GROUPS] for row, figures in rows.items()})


def table(head: Sequence[str], lines: dict[Row, list[str]]) -> str:
    """A table in Markdown."""
    names = ["mode", "at once", *head]
    rows = [[mode, str(at_once), *cells] for (mode, at_once), cells in lines.items()]
    first, *others = ["| " + " | ".join(row) + " |" for row in [names, *rows]]
    return "\n".join([first, "|---" * len(names) + "|", *others])


if __name__ == "__main__":
    main()
