"""Questions of several hops over HTTP, beside the same questions asked in this process: does a
stack find as much?

    python -m benchmarks.multihop_http [FOLDER] [--sets hotpotqa] [--titles titled] [--forms "as
        asked"] [--passages 300] [--asked 100] [--modes walk,auto,mix] [--workers 1]

Starts an embedded stack without a language model in a scratch folder and adds passages of a set of
`benchmarks/multihop_sets.py`: all that the first `--asked` questions need, and others up to
`--passages`. Then asks `POST /query/data`, one question after the other. FOLDER is that of
YARDSTICK_DATA if none is given. Prints a table in Markdown, the goals below it.
"""

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring.asking import ask, connections
from benchmarks.measuring.processes import load as machine_load
from benchmarks.measuring.sides import embedded
from benchmarks.measuring.tables import table
from benchmarks.multihop_sets import (
    CHUNKING,
    FORMS,
    Answer,
    Asking,
    RealQuestion,
    load,
    ranks,
    summary,
)
from benchmarks.multihop_stores import CachedEmbedder, filled
from benchmarks.multihop_world import Document
from benchmarks.yardstick import documents as yardstick
from runtime.models.minilm import MiniLmEmbedder

GOALS = (
    "Goals: recall@5 0.90 and all@8 0.88 (HotpotQA, titled), 0.75 and 0.60 (MuSiQue, titled); "
    "sets kept apart: "
    "all@8 0.97, "
    "without titles 0.82 at some hundred passages and 0.72 at some thousand; p50 30 ms."
)
WARMING = 16
"""Questions asked before each row for every process that answers."""


@dataclass(frozen=True)
class Row:
    """All questions in one mode and form: what was found, and the milliseconds that each took, none
    in this process.
    """

    mode: str
    form: str
    answers: Sequence[Answer]
    took: Sequence[float] = ()


def part(
    documents: Sequence[Document], questions: Sequence[RealQuestion], count: int, asked: int
) -> tuple[list[Document], list[RealQuestion]]:
    """The first questions, with the passages that they need and others up to `count`, in the order
    of the set.
    """
    chosen = list(questions[:asked])
    needed = dict.fromkeys(file for question in chosen for file in question.files)
    some = set(
        list(dict.fromkeys([*needed, *(document.name for document in documents)]))[
            : max(count, len(needed))
        ]
    )
    return [document for document in documents if document.name in some], chosen


def over_http(
    documents: Sequence[Document], questions: Sequence[RealQuestion], given: argparse.Namespace
) -> list[Row]:
    """Ask a stack that has these documents."""
    rows = list[Row]()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"EMBEDDING_MODEL": "", "WORKERS": str(given.workers)}
        with embedded(Path(folder) / "data", **settings) as side:
            seconds, _ = side.index(
                [yardstick.Document(each.name, each.text, ()) for each in documents]
            )
            print(
                f"{len(documents)} passages indexed in {seconds:.0f} s, load {machine_load()}\n",
                flush=True,
            )
            with connections(side.api, 1) as connected:
                for mode, form in ((mode, form) for form in given.forms for mode in given.modes):
                    texts = [
                        yardstick.Question(FORMS[form](question.text), "", "")
                        for question in questions
                    ]
                    ask(connected, texts[: WARMING * given.workers], mode)
                    done = ask(connected, texts, mode)
                    answers = [
                        Answer(question, ranks(question, files(answer)), 0.0)
                        for question, answer in zip(questions, done.answers, strict=True)
                    ]
                    rows.append(Row(mode, form, answers, done.took))
    return rows


def files(answer: bytes) -> list[str]:
    """The files of the passages in an answer, in order."""
    return [chunk["file_path"] for chunk in json.loads(answer)["data"].get("chunks", ())]


async def in_process(
    documents: Sequence[Document], questions: Sequence[RealQuestion], given: argparse.Namespace
) -> list[Row]:
    """Ask `retrieve()` over stores in memory that have the same documents."""
    embedder = CachedEmbedder(MiniLmEmbedder())
    stores = await filled(documents, embedder, CHUNKING)
    asking = Asking(stores.deps(embed=embedder.embed, min_score=0.2), embedder)
    return [
        Row(mode, form, await asking.all(questions, mode, form))
        for form in given.forms
        for mode in given.modes
    ]


def cells(http: Row, process: Row) -> list[str]:
    """A row of the table."""
    took = sorted(http.took)
    found = (f"{share:.2f}" for row in (http, process) for share in summary(row.answers)[1:])
    differing = sum(
        one.ranks != other.ranks for one, other in zip(http.answers, process.answers, strict=True)
    )
    return [http.form, f"`{http.mode}`", *found, str(differing), f"{took[len(took) // 2]:.0f}"]


def measure(name: str, titled: bool, given: argparse.Namespace) -> None:
    """Print the table of one set."""
    documents, questions = part(*load(given.folder, name, titled), given.passages, given.asked)
    print(f"\n{name}, {'titled' if titled else 'plain'}, {len(questions)} questions")
    http = over_http(documents, questions, given)
    process = asyncio.run(in_process(documents, questions, given))
    head = (
        "asked",
        "mode",
        "recall@5",
        "all@8",
        "in process: recall@5",
        "all@8",
        "questions that differ",
        "p50 ms",
    )
    print(table(head, [cells(*pair) for pair in zip(http, process, strict=True)]), flush=True)


def main() -> None:
    """Run it and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(os.environ.get(yardstick.VARIABLE, ""))
    )
    parser.add_argument("--sets", type=lists, default="hotpotqa")
    parser.add_argument("--titles", type=lists, default="titled")
    parser.add_argument("--forms", type=lists, default="as asked")
    parser.add_argument("--passages", type=int, default=300)
    parser.add_argument("--asked", type=int, default=100)
    parser.add_argument("--modes", type=lists, default="walk,auto,mix")
    parser.add_argument("--workers", type=int, default=1, help="processes of the query service")
    given = parser.parse_args()
    for name in given.sets:
        for style in given.titles:
            measure(name, style == "titled", given)
    print(f"\n{GOALS}")


def lists(text: str) -> list[str]:
    """What commas separate."""
    return text.split(",")


if __name__ == "__main__":
    main()
