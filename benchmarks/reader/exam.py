"""Ask the product, without a language model, what a folder of documents answers and what not.

python -m benchmarks.reader.exam FOLDER [--mode auto] [--show]

FOLDER has `documents` and `questions.tsv`, as `benchmarks/reader/data`. All documents are in one
workspace. An answer is right if it quotes a sentence that answers. `--show` prints what was not
right.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring.tables import table
from benchmarks.quoting_workspace import is_answered, quoting_workspace, read_documents
from benchmarks.reader.groups import words_alone
from offline.answers.extractive_answer import NEAREST

HEAD = (
    "document",
    "passage found",
    "right",
    "another sentence",
    "refused, answer among the nearest",
    "unanswerable, answered",
)


@dataclass(frozen=True)
class Case:
    """A question, and the sentences that answer it; none where its document does not."""

    file: str
    question: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Outcome:
    """What a question got."""

    case: Case
    is_found: bool
    is_answered: bool
    has_sentence: bool
    text: str

    @property
    def is_right(self) -> bool:
        """Whether it is answered as it should be."""
        return self.is_answered and self.has_sentence


def cases(folder: Path) -> list[Case]:
    """Return the questions of a folder."""
    lines = (folder / "questions.tsv").read_text("utf-8").splitlines()
    return [
        Case(file, question, sentences)
        for file, question, *sentences in (line.split("\t") for line in lines)
    ]


async def outcomes(folder: Path, mode: Any) -> list[Outcome]:
    """Ask all questions about the documents of a folder."""
    documents = await read_documents(sorted((folder / "documents").iterdir()))
    workspace = await quoting_workspace(documents)

    async def outcome(case: Case) -> Outcome:
        answer = await workspace.answer(case.question, mode)
        contents = words_alone(" ".join(part.content for _, part in answer.retrieval.passages))
        wanted = [words_alone(sentence) for sentence in case.sentences]
        return Outcome(
            case,
            any(sentence in contents for sentence in wanted),
            is_answered(answer.text),
            any(sentence in words_alone(answer.text) for sentence in wanted),
            answer.text,
        )

    return [await outcome(case) for case in cases(folder)]


def row(name: str, results: Sequence[Outcome]) -> list[str]:
    """Return the counts of a document, or of all."""
    answerable = [each for each in results if each.case.sentences]
    others = [each for each in results if not each.case.sentences]
    return [
        name,
        f"{sum(each.is_found for each in answerable)} of {len(answerable)}",
        f"{sum(each.is_right for each in answerable)} of {len(answerable)}",
        str(sum(each.is_answered and not each.is_right for each in answerable)),
        str(sum(NEAREST in each.text and each.has_sentence for each in answerable)),
        f"{sum(each.is_answered for each in others)} of {len(others)}",
    ]


def main() -> None:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    results = asyncio.run(outcomes(options.folder, options.mode))
    for each in results:
        is_wrong = not each.is_right if each.case.sentences else each.is_answered
        if options.show and is_wrong:
            print(f"- {each.case.file}: {each.case.question}\n  {each.text}\n")
    files = sorted({each.case.file for each in results})
    rows = [row(file, [each for each in results if each.case.file == file]) for file in files]
    print(table(HEAD, [*rows, row("all", results)]))


if __name__ == "__main__":
    main()
