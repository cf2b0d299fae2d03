"""Passages that say the same take one place of the context, as the same text does under two
names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contracts.spelling import one_spelling
from services.query.passage import Passage


class DistinctPassages(NamedTuple):
    """Passages in their order, and those that say the same as one of them, by its id."""

    passages: Sequence[Passage]
    doubles: Mapping[str, Sequence[Passage]]


def distinct_passages(passages: Iterable[Passage]) -> DistinctPassages:
    """Return the passages, of those that say the same below the same headings the first."""
    first: dict[tuple[str, ...], Passage] = {}
    doubles: dict[str, list[Passage]] = {}
    for passage in passages:
        first_passage = first.setdefault(_key(passage), passage)
        if first_passage.id != passage.id:
            doubles.setdefault(first_passage.id, []).append(passage)
    return DistinctPassages(list(first.values()), doubles)


def _key(passage: Passage) -> tuple[str, ...]:
    """Return the texts of a passage as they are compared: in one spelling, each run of blanks as
    one.
    """
    return tuple(
        " ".join(one_spelling(text).split()) for text in (passage.content, *passage.headings)
    )
