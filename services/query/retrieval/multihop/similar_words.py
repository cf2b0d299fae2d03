"""Words of sentences that mean about the same as a term of the question, by the similarity of their vectors."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from services.query.retrieval.multihop.sentences import Sentence

MAX_WEIGHT, MIN_SIMILARITY, FULL_SIMILARITY = 0.9, 0.1, 0.7
"""How much a similar word of a sentence covers a term: nothing below the cosine similarity `MIN_SIMILARITY`, at most
`MAX_WEIGHT` from `FULL_SIMILARITY` on, and the square of the linear share between them."""

Array = Any


@dataclass(frozen=True)
class SimilarWords:
    """`weights` says how much each word covers each stem of the question, 0 to 1; `rows` is the number of its row."""

    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    weights: Array = field(default_factory=lambda: np.zeros((0, 0)))


def similar_words(vectors: Mapping[str, Array], stems: Array) -> SimilarWords:
    """Return how much each of these words covers each stem; the vectors of words and stems have length 1."""
    if not vectors or not len(stems):
        return SimilarWords()
    similarity = np.array(list(vectors.values())) @ np.asarray(stems).T
    share = np.clip((similarity - MIN_SIMILARITY) / (FULL_SIMILARITY - MIN_SIMILARITY), 0.0, 1.0)
    return SimilarWords({word: row for row, word in enumerate(vectors)}, share**2 * MAX_WEIGHT)


def words_to_compare(said: Collection[Sentence]) -> set[str]:
    """Return the words of sentences about several entities, over which a path may lead."""
    every = set[str]().union(*(one.words for one in said if len(one.entity_weights) > 1))
    return {word for word in every if len(word) > 1}


def most_frequent(wanted: Collection[str], said: Collection[Sentence], most: int) -> list[str]:
    """Return the `most` words of those wanted that are in most sentences, the most frequent first."""
    some = frozenset(wanted)
    counts = Counter(word for one in said for word in one.words & some) if some else Counter[str]()
    return [word for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]]
