"""What the first questions cost beside later ones: after a start, after one more document, and
after a rebuild.

    YARDSTICK_DATA=FOLDER python -m benchmarks.first_questions --keep FOLDER [--documents 500]
        [--rest 10] [--steps 1,9,20,30] [--modes mix,walk,naive] [--rebuild] [--set NAME=VALUE]

Indexes the first N documents of the yardstick with its mock model at 0 ms in an embedded stack,
unless FOLDER has one of a former run, stops it, and starts it anew over a copy. After so many
seconds of rest each mode is asked new questions one at a time, context only over HTTP: the first
one, the next nine, and so on. Then a document is added, and with `--rebuild` all is rebuilt; after
a rest again the first one and the next nine are asked. Prints a table in Markdown: p50, p95, and
CPU a question by process. The machine's load stands in each row.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.measuring.asking import ask, connections
from benchmarks.measuring.model import Model, mock_model
from benchmarks.measuring.opening import Opened, opened, setting
from benchmarks.measuring.processes import load, spent
from benchmarks.measuring.tables import number, table
from benchmarks.queries import modes, numbers
from benchmarks.yardstick.documents import Question, documents, questions
from tests.support.stack import Stack

AT_ONCE = 100
"""Documents that are added at once."""
AGAIN = (1, 9)
"""The steps after a change."""
SHOWN = ("query",)


def main() -> None:
    """Run it and print the table."""
    options = arguments().parse_args()
    env = dict(options.set)
    with mock_model() as model:
        prepare(options.keep, options.documents, model)
        with tempfile.TemporaryDirectory(dir=options.keep.parent) as scratch:
            copy = Path(scratch) / "stack"
            shutil.copytree(options.keep, copy, symlinks=True)
            with opened("embedded", model, keep=copy, **env) as side:
                lines = measure(side, options)
    head = ["asked", "mode", "questions", "p50 ms", "p95 ms", "CPU ms"]
    print(table([*head, *SHOWN, "load"], lines))


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--rest", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--steps", type=numbers, default="1,9,20,30")
    parser.add_argument("--modes", type=modes, default="mix,walk,naive")
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", type=setting)
    return parser


def prepare(folder: Path, count: int, model: Model) -> None:
    """Have a stack of so many documents in the folder, unless there is one."""
    if (folder / "data").exists():
        return
    with opened("embedded", model, keep=folder) as side:
        texts = documents(count)
        for start in range(0, count, AT_ONCE):
            side.index(texts[start : start + AT_ONCE])


def measure(side: Opened, options: argparse.Namespace) -> list[list[str]]:
    """Return the lines of the table."""
    fresh = iter(questions(documents(options.documents), 2 * options.documents))
    lines: list[list[str]] = []

    def asked(label: str, steps: Sequence[int]) -> None:
        time.sleep(options.rest)
        for mode in options.modes:
            lines.extend(steps_of(side, fresh, mode, steps, label))

    asked("after a start", options.steps)
    side.index(documents(options.documents + 1)[options.documents :])
    asked("after a document", AGAIN)
    if options.rebuild:
        Stack(side.folder).json("rebuild", "all")
        asked("after a rebuild", AGAIN)
    return lines


def steps_of(
    side: Opened, fresh: Iterator[Question], mode: str, steps: Sequence[int], label: str
) -> Iterator[list[str]]:
    """Yield a line for each step: so many questions, one after the other."""
    first = 1
    with connections(side.api, 1) as connected:
        for count in steps:
            before, load_before = side.usages(), load()
            answers = ask(connected, list(islice(fresh, count)), mode)
            used = spent(before, side.usages())
            del used["client"]
            cpu = [sum(each.cpu for each in used.values()), *(used[name].cpu for name in SHOWN)]
            place = str(first) if count == 1 else f"{first} to {first + count - 1}"
            figures = [answers.percentile(0.5), answers.percentile(0.95)]
            figures += [seconds * 1000 / count for seconds in cpu]
            line = [label, mode, place, *(number(figure, 0) for figure in figures), load_before]
            print(line, file=sys.stderr)
            yield line
            first += count


if __name__ == "__main__":
    main()
