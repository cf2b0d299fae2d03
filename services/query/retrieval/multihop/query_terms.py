"""The words of a question that are no entity names, and where they stand around the names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from services.query.retrieval.linking import Link, Word, words

Array = Any

UNSEEN_TERM_WEIGHT = 0.7
"""The weight of a term in no sentence read so far, as a share of the mean: an unread sentence may contain it."""


_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ied", "ies", "ed",
    "es", "en", "e", "s", "y",
)  # fmt: skip


_SHORTEST_STEM = 3


@dataclass(frozen=True)
class QueryTerms:
    """The terms of a question: its words that are neither stopwords nor part of a linked name, by stem."""

    words: Mapping[str, str]
    """By stem, the first word of the question that has it."""
    context_terms: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    )
    """By linked entity, the stems before and after its name up to the next link, the nearest first."""
    phrase_count: int = 0
    """Number of runs of adjacent terms, as `home port` is one."""

    @property
    def stems(self) -> frozenset[str]:
        """All stems."""
        return frozenset(self.words)

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "QueryTerms":
        """Return the terms of a question with these links."""
        content: list[Word] = []
        phrases, together = 0, False
        for word in words(question):
            asks = not word.is_stopword and not any(link.start <= word.start < link.end for link in links)
            phrases += asks and not together
            together = asks
            if asks:
                content.append(word)
        forms: dict[str, str] = {}
        for word in content:
            forms.setdefault(stem(word.form), word.form)
        return cls(
            forms, {name: _context_terms(link, links, content) for link in links for name in link.names}, phrases
        )


def term_weights(counts: Array, sentences: int) -> Array:
    """Return the inverse document frequency of each term, of which so many of these sentences contain it.

    A term in none of them counts `UNSEEN_TERM_WEIGHT` of the mean.
    """
    raw = np.log(1 + (1 + sentences) / (1 + counts))
    seen = counts > 0
    middle = raw[seen].mean() if seen.any() else 1.0
    return np.where(seen, raw, UNSEEN_TERM_WEIGHT * middle)


def _context_terms(
    link: Link, links: Sequence[Link], content: Sequence[Word]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stems before and after a link up to the next link, the nearest first."""
    low = max((other.end for other in links if other.end <= link.start), default=0)
    high = min((other.start for other in links if other.start >= link.end), default=1 << 30)
    before = [stem(word.form) for word in content if low <= word.start and word.end <= link.start]
    behind = [stem(word.form) for word in content if link.end <= word.start and word.end <= high]
    return tuple(reversed(before)), tuple(behind)


@lru_cache(maxsize=1 << 14)
def stem(form: str) -> str:
    """Return a word without its English ending, roughly: `founder`, `founded` and `founding` become one."""
    if not form.isascii():
        return form
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST_STEM:
            form = form[: -len(ending)]
            break
    return form[:-1] if len(form) > _SHORTEST_STEM + 1 and form[-1] == form[-2] else form
