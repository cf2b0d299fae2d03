"""The words of a question that are no entity names, and where they stand around the names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.retrieval.linking import Link, words
from services.query.retrieval.passage_index.stemming import stem

Array = Any

MAX_TERMS = 32
"""Terms of a question that a walk looks for, the first ones."""


@dataclass(frozen=True)
class QueryTerms:
    """The terms of a question: its words that are neither stopwords nor part of a linked name, each stem once."""

    stems: Sequence[str]
    all_stems: Sequence[str]
    """Those of names too."""
    starts: Sequence[int]
    """The character offset of each of `stems`."""
    phrase_count: int = 0
    """Number of runs of adjacent terms, as `home port` is one."""

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "QueryTerms":
        """Return the terms of a question with these links."""
        found: dict[str, int] = {}
        every: dict[str, None] = {}
        phrases, together = 0, False
        for word in words(question):
            telling = not word.is_stopword
            asks = telling and not any(link.start <= word.start < link.end for link in links)
            phrases += asks and not together
            together = asks
            if telling:
                every.setdefault(stem(word.form))
            if asks:
                found.setdefault(stem(word.form), word.start)
        stems = list(found)[:MAX_TERMS]
        return cls(stems, list(every)[: 2 * MAX_TERMS], list(found.values())[:MAX_TERMS], phrases)

    def nearer(self, link: Link | None) -> Array:
        """Return for each term (row) the terms nearer to the link on the same side, as shares that add up to 1.

        All are 0 in the row of a term next to the link, and for None.
        """
        starts = np.array(self.starts, np.int64)
        if link is None or not len(starts):
            return np.zeros((len(starts), len(starts)))
        before = starts < link.start
        same_side = before[:, None] == before[None, :]
        distances = np.where(before, link.start - starts, starts - link.start)
        nearer = same_side & (distances[None, :] < distances[:, None])
        return nearer / np.maximum(nearer.sum(axis=1, keepdims=True), 1)
