"""Judges an answer by what a golden question expects. Pure functions."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from contracts.events.golden import GoldenExpectation, GoldenResult
from contracts.names import HAN, KANA, fold

NO_CONTEXT = "[no-context]"
"""Stands in every answer for which nothing was found."""

NOT_SAID = "The documents do not say."
"""The beginning of the answer of a deployment without a language model where no passage answers."""

BEGINNING = 300
"""Characters of an answer within which it says that the documents do not tell."""

_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_CITATION = re.compile(r"\[[\d,;–\- ^]{1,20}\]")
_MARKS = re.compile(r"[`*\[\]]")
_NEGATION = r"(?:not|n[o’']t|no|never|nothing|none|cannot|unable)"
_TELLING = (
    r"(?:say|said|tell|told|state|mention|specif|provide|contain|include|information|answer|given|"
    r"address|available|found|describe|hold|cover|disclose|indicate)"
)
_REFUSALS = (
    re.compile(rf"\b{_NEGATION}\b[^.]{{0,120}}\b{_TELLING}", re.IGNORECASE),
    re.compile(
        r"\b(?:kein|keine|keinen|nicht|nichts)\b[^.]{0,120}\b"
        r"(?:Ausz[uü]g|Dokument|Angabe|Information|sagen|erwähn|enthalten|hervor)",
        re.IGNORECASE,
    ),
    re.compile(r"(?:Ausz[uü]ge|Dokumente|Texte)[^.]{0,80}\b(?:kein|nicht|nichts)", re.IGNORECASE),
    re.compile(
        r"(?:没有|未|并未|無|无法|不)[^。]{0,40}(?:提到|提及|说明|提供|包含|回答|记载|信息|资料|找到)"
    ),
)
"""Sentences of models that decline, in English, German and Chinese; others are told by their
marker alone.
"""

_CJK_EDGE = re.compile(rf"[{KANA}{HAN}]")


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as a judge needs it: its text, and the passages and documents that it rests on.

    `documents` are ids and file names; `files` are those that it refers to, in their order.
    """

    text: str
    passages: Sequence[str] = ()
    documents: Collection[str] = ()
    by_model: bool = False
    files: Sequence[str] = ()

    @cached_property
    def comparable_texts(self) -> list[str]:
        """Return the answer and the passages as facts are compared with them."""
        return [comparable(text) for text in (self.text, *self.passages)]

    @cached_property
    def comparable_documents(self) -> set[str]:
        """Return ids and file names, and the last part of each path."""
        names = {document.casefold() for document in self.documents}
        return names | {name.rsplit("/", 1)[-1] for name in names}


def comparable(text: str) -> str:
    """Return a text without citations, marks of Markdown, case and runs of blanks."""
    text = _CITATION.sub("", _ADDRESS.sub("]", text))
    return fold(_MARKS.sub("", text))


def declines(answer: str) -> bool:
    """Return whether an answer says, in its beginning, that the documents do not tell."""
    if NO_CONTEXT in answer or answer.startswith(NOT_SAID):
        return True
    beginning = _MARKS.sub("", _ADDRESS.sub("]", answer))[:BEGINNING]
    return any(refusal.search(beginning) for refusal in _REFUSALS)


def states(text: str, fact: str) -> bool:
    """Return whether a comparable text has a fact, in whole words: `12` does not stand in `312`."""
    fact = comparable(fact)
    if not fact:
        return False
    before = r"(?<!\w)" if fact[0].isalnum() and not _CJK_EDGE.match(fact[0]) else ""
    after = r"(?!\w)" if fact[-1].isalnum() and not _CJK_EDGE.match(fact[-1]) else ""
    return re.search(f"{before}{re.escape(fact)}{after}", text) is not None


def judge(id: str, expectation: GoldenExpectation, answer: GivenAnswer) -> GoldenResult:
    """Return how the answer fares."""
    if expectation.unanswerable:
        is_invented = not declines(answer.text)
        return GoldenResult(id=id, passed=not is_invented, invented=is_invented)
    missing_facts = tuple(
        number
        for number, fact in enumerate(expectation.facts)
        if not any(states(text, fact) for text in answer.comparable_texts)
    )
    missing_documents = tuple(
        number
        for number, document in enumerate(expectation.documents)
        if document.casefold() not in answer.comparable_documents
    )
    return GoldenResult(
        id=id,
        passed=not missing_facts and not missing_documents,
        missing_facts=missing_facts,
        missing_documents=missing_documents,
    )


def reasons(expectation: GoldenExpectation, result: GoldenResult) -> list[str]:
    """Return sentences that say why a question did not pass; none of one that did."""
    if result.error:
        return [f"it could not be asked: {result.error}"]
    sentences = [
        f"missing fact: {expectation.facts[number]}"
        for number in result.missing_facts
        if number < len(expectation.facts)
    ]
    sentences += [
        f"document not found: {expectation.documents[number]}"
        for number in result.missing_documents
        if number < len(expectation.documents)
    ]
    if result.invented:
        sentences.append("answered although it is not in the documents")
    return sentences
