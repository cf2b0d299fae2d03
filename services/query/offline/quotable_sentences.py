"""Quotable parts of a passage: its sentences, and the rows of its tables with the names of the columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from cachetools import LRUCache, cached

from runtime.text.sentences import sentences
from services.query.offline.answers import LONGEST, SHORTEST, terms

_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_BAR = re.compile(r"(?<!\\)\|")


MAX_CACHED = 4_000_000
"""Characters of the passages altogether whose sentences are cached; they take about five bytes for each."""


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence that an answer may quote, its place in the passage, and its terms."""

    text: str
    place: int
    terms: frozenset[str]


def _characters(found: Sequence[QuotableSentence]) -> int:
    return 1 + sum(len(sentence.text) for sentence in found)


@cached(LRUCache[int, Sequence[QuotableSentence]](MAX_CACHED, getsizeof=_characters), key=hash, lock=Lock())
def quotable_sentences(text: str) -> Sequence[QuotableSentence]:
    """Return the sentences of a passage that are neither too short nor too long to be quoted, with their terms."""
    return tuple(
        QuotableSentence(sentence, place, terms(sentence))
        for place, sentence in enumerate(quotable(text))
        if SHORTEST <= len(sentence) <= LONGEST
    )


def quotable(text: str) -> Iterator[str]:
    """Yield the sentences in order, without headings and code. A table row reads `Ship: Grey Gull; Sailor: Ruth Thorn`.

    A row without its header in the passage is left out, because the meaning of its cells is unknown.
    """
    header: list[str] = []
    row = -1
    for sentence in sentences(text):
        if sentence.code or sentence.heading:
            continue
        start = text.rfind("\n", 0, sentence.start) + 1
        line, _, rest = text[start:].partition("\n")
        if not (line.startswith("|") or line.rstrip().endswith("|")):
            header = []
            yield sentence.text
        elif start != row:  # a row may hold several sentences
            row = start
            if _RULE.fullmatch(rest.partition("\n")[0].strip()):
                header = _cells(line)
            elif header and not _RULE.fullmatch(line.strip()):
                yield "; ".join(_named(header, _cells(line)))


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(inner)]


def _named(header: list[str], cells: list[str]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        name = header[number] if number < len(header) else ""
        if cell:
            yield f"{name}: {cell}" if name else cell
