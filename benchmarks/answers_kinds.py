"""The set of many kinds: how often is an answer without a model right, by kind of document?

python -m benchmarks.answers_kinds [--modes mix,naive] [--part choosing] [--show]
    [--chunking paragraph] [--size 200] [--slips]
    [--translated] [--multilingual]

`--translated` asks questions in another language than their document, `--multilingual` embeds with
the multilingual encoder. With `--slips` those questions alone are asked that name something, and a
letter of each name is lost.
"""

import argparse
import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.answers_set import DATA, plain, with_slips
from benchmarks.multihop_world import Document
from benchmarks.quoting_workspace import CHUNKING, is_answered, quoting_workspace, read_documents
from contracts.chunking import Chunking
from offline.answers.extractive_answer import NEAREST

KINDS = DATA / "kinds"

KEPT_APART = frozenset(
    (
        "pep-0001.rst",
        "glossary.md",
        "NEWS.txt",
        "limits.html",
        "freibad.md",
        "alquiler.txt",
        "保修.md",
        "музей.txt",
    )
)
"""Documents of the kinds that were looked at after the first rules, and mended for since."""

LATER = frozenset(
    (
        "menschenrechte.html",
        "derechos-humanos.html",
        "права-человека.html",
        "xz-manuel.txt",
        "rigging.html",
        "kennel.csv",
        "protokoll.md",
        "recetas.md",
        "объявление.md",
        "会议纪要.md",
    )
)
"""Documents by which nothing was chosen."""

LAST = frozenset(("waschmaschine.md", "conseil.txt", "vecinos.md", "садоводы.txt", "幼儿园.txt"))
"""Documents that were added with the words of near meaning; nothing was chosen by them either."""

FRESH = frozenset(("camp.md", "kurs.txt", "four.md", "autobus.txt", "поликлиника.md", "快递站.txt"))
"""Documents whose questions share hardly a word with them."""

EVERYDAY = frozenset(("wertstoffhof.html", "jardins.rst", "polideportivo.csv", "прокат.txt"))
"""Documents with some twenty-four questions each, as people ask who want to use something."""

NAMED_PARTS = {"fresh": FRESH, "everyday": EVERYDAY}
"""Documents that are in the workspace only when `--part` names them, so that figures of the others
stay comparable.
"""


@dataclass(frozen=True)
class KindCase:
    """A question about one document; without words the document does not answer it."""

    file: str
    question: str
    words: str

    @property
    def part(self) -> str:
        """Whether the kind was looked at while rules were made."""
        if self.file in LATER:
            return "later"
        if self.file in LAST:
            return "last"
        for part, files in NAMED_PARTS.items():
            if self.file in files:
                return part
        return "kept apart" if self.file in KEPT_APART else "for choosing"


@dataclass(frozen=True)
class Outcome:
    """What one question got in one mode."""

    case: KindCase
    mode: str
    found: bool
    answered: bool
    right: bool
    shown: bool
    """Whether it is refused, and the nearest sentences have the answer; any, if there is none."""
    text: str


def kind_cases(file: str = "questions.txt") -> list[KindCase]:
    """Return the questions, in the order of their file."""
    lines = (KINDS / file).read_text("utf-8").splitlines()
    fields = [[field.strip() for field in line.split(" | ")] for line in lines]
    return [
        KindCase(file, question, "" if words == "-" else words) for file, question, words in fields
    ]


async def kind_documents(parts: Collection[str] = ()) -> list[Document]:
    """Return the documents as the command line reads them, of `NAMED_PARTS` those of `parts`."""
    absent_files = {
        file for part, files in NAMED_PARTS.items() if part not in parts for file in files
    }
    paths = sorted((KINDS / "texts").iterdir())
    paths = [path for path in paths if path.name not in absent_files]
    return await read_documents(paths)


def joined(text: str) -> str:
    """Return the text as it is compared: without marks, with words whole that lines had cut."""
    return plain(text.replace("‐\n", "").replace("‐ ", ""))


async def outcomes(
    modes: Sequence[str],
    cases: Sequence[KindCase],
    chunking: Chunking = CHUNKING,
    *,
    is_multilingual: bool = False,
) -> list[Outcome]:
    """Ask the questions in these modes, of documents that are cut so and embedded by MiniLM or by
    the multilingual encoder.
    """
    documents = await kind_documents({case.part for case in cases})
    workspace = await quoting_workspace(documents, chunking, is_multilingual=is_multilingual)

    async def outcome(case: KindCase, mode: Any) -> Outcome:
        answer = await workspace.answer(case.question, mode)
        contents = " ".join(passage.content for _, passage in answer.retrieval.passages)
        answered = is_answered(answer.text)
        has_words = joined(case.words) in joined(answer.text)
        is_right = bool(case.words) and answered and has_words
        is_shown = NEAREST in answer.text and has_words
        is_found = joined(case.words) in joined(contents)
        return Outcome(case, mode, is_found, answered, is_right, is_shown, answer.text)

    return [await outcome(case, mode) for mode in modes for case in cases]


def table(results: Sequence[Outcome]) -> str:
    """Return the shares by mode, part and document."""
    lines = [
        "| mode | part | document | passage found | right | refused, answer among the nearest "
        "| false answers | refused, something shown |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups = dict.fromkeys((row.mode, row.case.part, row.case.file) for row in results)
    totals = dict.fromkeys((mode, part, "all") for mode, part, _ in groups)
    for mode, part, file in sorted(groups) + sorted(totals):
        rows = [
            row
            for row in results
            if (row.mode, row.case.part) == (mode, part) and file in (row.case.file, "all")
        ]
        yes = [row for row in rows if row.case.words]
        no = [row for row in rows if not row.case.words]
        lines.append(
            f"| {mode} | {part} | {file} | {sum(row.found for row in yes)} of {len(yes)} "
            f"| {sum(row.right for row in yes)} of {len(yes)} "
            f"| {sum(row.shown for row in yes)} "
            f"| {sum(row.answered for row in no)} of {len(no)} | {sum(row.shown for row in no)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modes", default="mix")
    parser.add_argument(
        "--part", default="", help="choosing, apart, later, last, fresh or everyday"
    )
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--chunking", default="token")
    parser.add_argument("--size", type=int, default=CHUNKING.size)
    parser.add_argument("--slips", action="store_true")
    parser.add_argument("--translated", action="store_true")
    parser.add_argument("--multilingual", action="store_true")
    arguments = parser.parse_args()
    size = arguments.size
    chunking = Chunking.by(arguments.chunking, size=size, overlap=size // 12)
    file = "translated.txt" if arguments.translated else "questions.txt"
    cases = [case for case in kind_cases(file) if case.part.endswith(arguments.part)]
    cases = [case for case in cases if arguments.part or case.part not in NAMED_PARTS]
    cases = with_slips(cases) if arguments.slips else cases
    results = asyncio.run(
        outcomes(
            arguments.modes.split(","),
            cases,
            chunking,
            is_multilingual=arguments.multilingual,
        )
    )
    for row in results:
        wrong = not row.right if row.case.words else row.answered
        if arguments.show and wrong:
            print(f"- {row.mode} {row.case.file}: {row.case.question}\n  {row.text}\n")
    print(table(results))


if __name__ == "__main__":
    main()
