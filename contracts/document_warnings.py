"""What may be missing or wrong in what became of a document, in sentences for whoever added it."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from contracts.text import one_line

MAX_WARNINGS = 20
"""Warnings that one event carries at most, and that a document keeps of each kind of event."""

MAX_WARNING = 500
"""Characters of one warning."""

DocumentWarnings = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=MAX_WARNING)], ...],
    Field(max_length=MAX_WARNINGS, description="what may be missing or wrong, in sentences for people"),
]


def document_warnings(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct sentences in their order, each on one line, as many and as long as an event may carry.

    Of too many the last says how many more there were.
    """
    lines = dict.fromkeys(" ".join(one_line(" ".join(sentence.split())).split()) for sentence in sentences)
    distinct = [_shortened(line) for line in lines if line]
    if len(distinct) <= MAX_WARNINGS:
        return tuple(distinct)
    left_out = len(distinct) - MAX_WARNINGS + 1
    return (*distinct[: MAX_WARNINGS - 1], f"{left_out} more warnings")


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_WARNING else line[: MAX_WARNING - 1] + "…"
