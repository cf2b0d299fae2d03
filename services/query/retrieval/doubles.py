"""Passages that say the same take one place of the context, as the same text does under two
names.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from contracts.spelling import one_spelling
from services.query.passage import Passage

SIGNS = "0123456789.,\u3001\u3002\uff0c"
"""Characters that no spelling changes: digits, and the full stops and commas of most scripts."""


class DistinctPassages(NamedTuple):
    """Passages in their order, and those that say the same as one of them, by its id."""

    passages: Sequence[Passage]
    doubles: Mapping[str, Sequence[Passage]]


def distinct_passages(passages: Iterable[Passage]) -> DistinctPassages:
    """Return the passages, of those that say the same below the same headings the first."""
    signs = [(passage, _signs(passage)) for passage in passages]
    frequencies = Counter(signs_of_passage for _, signs_of_passage in signs)
    first: dict[Hashable, Passage] = {}
    doubles: dict[str, list[Passage]] = {}
    for passage, signs_of_passage in signs:
        # Bringing a text into one spelling costs most, and few have the signs of another.
        is_alone = frequencies[signs_of_passage] == 1
        key = passage.id if is_alone else _key(passage)
        first_passage = first.setdefault(key, passage)
        if first_passage.id != passage.id:
            doubles.setdefault(first_passage.id, []).append(passage)
    return DistinctPassages(list(first.values()), doubles)


def _signs(passage: Passage) -> tuple[int, ...]:
    """Return how often each of `SIGNS` stands in the passage; passages that say the same have the
    same numbers.
    """
    return tuple(map(passage.content.count, SIGNS))


def _key(passage: Passage) -> tuple[str, ...]:
    """Return the texts of a passage as they are compared: in one spelling, each run of blanks as
    one.
    """
    return tuple(
        " ".join(one_spelling(text).split()) for text in (passage.content, *passage.headings)
    )
