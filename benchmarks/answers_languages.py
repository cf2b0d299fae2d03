"""Questions in one language about documents in another: how often is an answer without a model
right?

python -m benchmarks.answers_languages [--part choosing] [--apart] [--original] [--show]

The questions are those of `benchmarks/reader/data`, translated; `--original` asks them as they were
written, in the language of their document, of the same index. The parts that end in `-written` have
questions that were written in another language than their document. With `--apart` the documents of
each language stand in a workspace of their own.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answers_kinds import joined
from benchmarks.answers_set import DATA
from benchmarks.quoting_workspace import is_answered, quoting_workspace, read_documents
from offline.answers.extractive_answer import NEAREST
from offline.answers.quotable_sentences import quotable
from services.query.passage import Passage

PARTS = ("choosing", "telling", "choosing-written", "telling-written")
READER_DATA = Path(__file__).with_name("reader") / "data"


@dataclass(frozen=True)
class TranslatedCase:
    """A question about a document, in two languages, and the sentences that answer it; none, where
    the document does not.
    """

    file: str
    language: str
    """Of the translation."""
    translation: str
    original: str
    """In the language of the document."""
    answers: Sequence[str]

    @property
    def direction(self) -> str:
        """From which language to which, so far as rows of the table differ."""
        if self.language == "en":
            return "English → five"
        return "five → English" if self.file.startswith("en") else "five → another of them"


@dataclass(frozen=True)
class TranslatedOutcome:
    """What one question got."""

    case: TranslatedCase
    is_found: bool
    is_answered: bool
    is_right: bool
    is_shown: bool
    """Whether it is refused, and the nearest sentences have the answer."""
    text: str


def translated_cases(part: str) -> list[TranslatedCase]:
    """Return the questions of a part, in the order of their file; see `PARTS`."""
    labelled_rows = _rows(READER_DATA / "questions.tsv")
    answers = {(file, asked): list(filter(None, rest)) for file, asked, *rest in labelled_rows}
    return [
        TranslatedCase(file, language, translation, original, answers[file, original])
        for file, language, translation, original in _rows(DATA / "languages" / f"{part}.tsv")
    ]


def _rows(file: Path) -> Iterator[list[str]]:
    return (line.split("\t") for line in file.read_text("utf-8").splitlines())


async def translated_outcomes(
    cases: Sequence[TranslatedCase], *, is_original: bool
) -> list[TranslatedOutcome]:
    """Ask the questions of their documents, which stand in one workspace whose index has vectors of
    the multilingual encoder.
    """
    files = [READER_DATA / "documents" / file for file in dict.fromkeys(c.file for c in cases)]
    workspace = await quoting_workspace(await read_documents(files), is_multilingual=True)

    async def outcome(case: TranslatedCase) -> TranslatedOutcome:
        question = case.original if is_original else case.translation
        answer = await workspace.answer(question, "auto")
        answered = is_answered(answer.text)
        has_answer = _has_any(answer.text, case.answers)
        return TranslatedOutcome(
            case,
            any(
                _has_any(_quotable_text(source), case.answers)
                for source in answer.retrieval.passages
            ),
            answered,
            answered and has_answer,
            NEAREST in answer.text and has_answer,
            answer.text,
        )

    return [await outcome(case) for case in cases]


def _quotable_text(source: tuple[str, Passage]) -> str:
    """Return the sentences and rows of a passage as they are quoted."""
    parts = quotable(source[1].content, source[1].headings)
    return " ".join(part.text for part in parts)


def _has_any(text: str, sentences: Sequence[str]) -> bool:
    return any(joined(sentence) in joined(text) for sentence in sentences)


def table(results: Sequence[TranslatedOutcome]) -> str:
    """Return the counts by direction."""
    lines = [
        "| from → to | passage found | right | refused, answer among the nearest | false answers |",
        "|---|---|---|---|---|",
    ]
    for direction in (*sorted({row.case.direction for row in results}), "all"):
        rows = [row for row in results if direction in (row.case.direction, "all")]
        yes = [row for row in rows if row.case.answers]
        no = [row for row in rows if not row.case.answers]
        lines.append(
            f"| {direction} | {sum(row.is_found for row in yes)} of {len(yes)} "
            f"| {sum(row.is_right for row in yes)} of {len(yes)} "
            f"| {sum(row.is_shown for row in yes)} "
            f"| {sum(row.is_answered for row in no)} of {len(no)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, default="choosing")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--original", action="store_true")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    cases = translated_cases(arguments.part)
    languages = sorted({case.file[:2] for case in cases}) if arguments.apart else [""]
    groups = [[case for case in cases if case.file.startswith(prefix)] for prefix in languages]
    results = [
        row
        for group in groups
        for row in asyncio.run(translated_outcomes(group, is_original=arguments.original))
    ]
    for row in results:
        is_wrong = not row.is_right if row.case.answers else row.is_answered
        if arguments.show and is_wrong:
            print(f"- {row.case.file}: {row.case.translation}\n  {row.text}\n")
    print(table(results))


if __name__ == "__main__":
    main()
