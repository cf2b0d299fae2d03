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

from benchmarks.answers_kinds import CHUNKING, joined
from benchmarks.measuring.tables import table
from benchmarks.multihop_stores import LIVE, CachedEmbedder, filled
from benchmarks.multihop_world import Document
from offline.answers.extractive_answer import NEAREST, NOT_SAID
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.multilingual import MultilingualEmbedder
from runtime.models.reader import ThreadedReader
from runtime.parsing.files import parse
from services.query.adapters.offline import ExtractiveAnswerGenerator
from services.query.answering.ask import NO_CONTEXT, ask
from services.query.partitions import Partitions
from services.query.question import Question

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
    english, multilingual = CachedEmbedder(MiniLmEmbedder()), CachedEmbedder(MultilingualEmbedder())
    paths = sorted((folder / "documents").iterdir())
    documents = [
        Document(path.name, (await parse(path.read_bytes(), path.name)).text) for path in paths
    ]
    stores = await filled(documents, english, CHUNKING)
    generator = ExtractiveAnswerGenerator(english, multilingual, ThreadedReader())
    deps = stores.deps(embed=english.embed, min_score=0.2, answer_generator=generator)

    async def outcome(case: Case) -> Outcome:
        answer = await ask(Question(case.question, mode), Partitions.of("w", LIVE), deps)
        contents = joined(" ".join(passage.content for _, passage in answer.retrieval.passages))
        wanted = [joined(sentence) for sentence in case.sentences]
        return Outcome(
            case,
            any(sentence in contents for sentence in wanted),
            not answer.text.startswith((NOT_SAID, NO_CONTEXT)),
            any(sentence in joined(answer.text) for sentence in wanted),
            answer.text,
        )

    return [await outcome(case) for case in cases(folder)]


def row(name: str, results: Sequence[Outcome]) -> list[str]:
    """Return the counts of a document, or of all."""
    answerable = [each for each in results if each.case.sentences]
    others = [each for each in results if not each.case.sentences]
    found, right = (sum(each.is_found for each in answerable), sum(e.is_right for e in answerable))
    return [
        name,
        f"{found} of {len(answerable)}",
        f"{right} of {len(answerable)}",
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
