"""The documents and questions of `benchmarks/answers_data`, and what counts as a right answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, cast

from benchmarks.multihop_world import Document
from benchmarks.quoting_workspace import read_documents
from offline.answers.relevance import name_words
from offline.answers.respelling import SHORTEST
from offline.language.languages import language_of

DATA = Path(__file__).with_name("answers_data")

_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_MARKS = re.compile(r"[`*\[\]]")
_REFUSAL = re.compile(
    r"\b(?:not|n[o’']t|no|never|nothing|none|cannot|unable)\b[^.]{0,120}\b(?:say|said|state|mention|specif|provide|contain|"
    r"include|information|answer|given|address|available|found|describe|hold|cover|disclose|indicate)",
    re.IGNORECASE,
)


Part = Literal["for choosing", "held out", "fresh"]
PARTS: Sequence[Part] = ("for choosing", "held out", "fresh")


@dataclass(frozen=True)
class Case:
    """A question. Without a file the documents do not answer it."""

    question: str
    file: str = ""
    words: Sequence[str] = ()
    """Words of the sentence that answers."""
    facts: Sequence[str] = ()
    """The fact in short, in one of several forms."""
    kind: str = "answerable"
    """`answerable`, `near` or `far`."""
    part: Part = "for choosing"
    """`held out` and `fresh` tell how good the method is; nothing was chosen by them."""


class _Asked(Protocol):
    @property
    def question(self) -> str: ...


C = TypeVar("C", bound=_Asked)


def with_slips(cases: Sequence[C]) -> list[C]:
    """Return the questions that have names, each name without a letter in its middle."""
    slips: list[C] = []
    for case in cases:
        question = case.question
        for word in name_words(question, language_of(question)):
            if len(word) > SHORTEST and word.isalpha():
                middle = len(word) // 2
                question = question.replace(word, word[:middle] + word[middle + 1 :])
        if question != case.question:
            slips.append(cast("C", replace(cast("Any", case), question=question)))
    return slips


async def documents() -> list[Document]:
    """Return the documents as the command line reads them."""
    return await read_documents(sorted((DATA / "texts").iterdir()))


def cases() -> list[Case]:
    """Return all questions, the answerable ones first, then those that were written last."""
    return [*_cases("", ("for choosing", "held out")), *_cases("fresh_", ("fresh", "fresh"))]


def _cases(beginning: str, parts: tuple[Part, Part]) -> list[Case]:
    """Return the questions of the two files that begin so; two lines are of the first part, two of
    the other.
    """
    result: list[Case] = []
    for number, line in enumerate(
        (DATA / f"{beginning}answerable.txt").read_text("utf-8").splitlines()
    ):
        file, question, words, facts = (part.strip() for part in line.split(" | "))
        quoted = [part.strip() for part in words.split("…")]
        result.append(Case(question, file, quoted, facts.split("; "), part=parts[number // 2 % 2]))
    for number, line in enumerate(
        (DATA / f"{beginning}unanswerable.txt").read_text("utf-8").splitlines()
    ):
        kind, question = line.split(" | ")
        result.append(Case(question, kind=kind, part=parts[number // 2 % 2]))
    return result


def plain(text: str) -> str:
    """Return the text without marks of Markdown and addresses of links, with single blanks."""
    return " ".join(_MARKS.sub("", _ADDRESS.sub("]", text)).split())


def quotes(case: Case, answer: str) -> bool:
    """Return whether an answer has all words of the right sentence."""
    text = plain(answer)
    return all(plain(words) in text for words in case.words)


def states(case: Case, answer: str) -> bool:
    """Return whether an answer in other words has the fact."""
    text = plain(answer).lower()
    return any(re.search(rf"(?<!\w){re.escape(plain(fact).lower())}", text) for fact in case.facts)


def declines(answer: str) -> bool:
    """Return whether an answer in other words says, in its first 300 characters, that the documents
    do not tell.
    """
    return "[no-context]" in answer or _REFUSAL.search(plain(answer)[:300]) is not None
