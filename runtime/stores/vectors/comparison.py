"""How a question is compared with many vectors at once: roughly, as they stand in half or single
precision, and then those that lead exactly.
"""

from dataclasses import dataclass

import numkong
import numpy as np
from numpy.typing import NDArray

from runtime.stores.vectors.fields import SCORE_DIGITS, similarities

Numbers = NDArray[np.float32]
"""Of one vector, or of rows × dimension."""
PackedNumbers = NDArray[np.float16 | np.float32]
"""Rows × dimension, in half or single precision."""

ROUNDING = 2.0**-23
"""By how much a score may be wrong for each number of a vector, and `ROUNDING_NUMBERS` more: sums
in single precision, in any order. Twice what theory allows.
"""
ROUNDING_NUMBERS = 8

_LOW_SCALE = 2.0**11
"""What half precision rounds away is multiplied by this, so that it is no smaller than the rest."""
_ROWS_TOGETHER = 512
"""Rows whose lengths are computed at once: they fit into the cache of a processor."""


@dataclass(frozen=True)
class VectorRows:
    """The vectors of some rows, all in one precision, with 1 through their lengths."""

    numbers: PackedNumbers
    factors: NDArray[np.float32]

    @classmethod
    def of(cls, numbers: PackedNumbers) -> "VectorRows":
        """Return rows with these vectors."""
        return cls(numbers, factors_of(numbers))

    def __len__(self) -> int:
        return len(self.factors)

    @property
    def nbytes(self) -> int:
        """Their bytes."""
        return self.numbers.nbytes + self.factors.nbytes

    def vectors(self) -> Numbers:
        """Return the vectors."""
        return self.numbers.astype(np.float32)

    def at(self, places: NDArray[np.int64] | slice) -> "VectorRows":
        """Return some of the rows."""
        return VectorRows(self.numbers[places], self.factors[places])

    def scores(self, question: "Question") -> NDArray[np.float32]:
        """Return the cosine of each row with the question, wrong by rounding at most."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.numbers.dtype == np.float16:
                products = _products_of_halves(self.numbers, question.halves)
            else:
                products = self.numbers @ question.direction
            scores = products * self.factors
        # Some sums are too large for single precision.
        if len(overflown := np.flatnonzero(~np.isfinite(scores))):
            scores[overflown] = similarities(self.numbers[overflown], question.vector)
        return scores


class Question:
    """A vector that rows are compared with."""

    def __init__(self, vector: Numbers) -> None:
        self.vector = vector
        numbers = vector.astype(np.float64)
        numbers /= np.linalg.norm(numbers) or 1.0
        high = numbers.astype(np.float16)
        low = ((numbers - high) * _LOW_SCALE).astype(np.float16)
        self.direction = numbers.astype(np.float32)
        """The vector with length 1, or noughts."""
        self.halves = np.stack([high, low])
        """The direction in half precision, and what that rounds away."""

    def leaders(
        self, scores: NDArray[np.float32], top_k: int, min_score: float
    ) -> NDArray[np.int64]:
        """Return the places of the scores that may be among the `top_k` best and above `min_score`:
        so near to the last of them that rounding may be why they are behind.
        """
        # Both scores may be wrong; and digits that are not shown make equal what is near.
        margin = 2 * ROUNDING * (len(self.vector) + ROUNDING_NUMBERS) + 2 * 10.0**-SCORE_DIGITS
        places = np.flatnonzero(scores >= min_score - margin)
        if len(places) > top_k:
            near_scores = scores[places]
            worst_score = np.partition(near_scores, -top_k)[-top_k]
            places = places[near_scores >= worst_score - margin]
        return places


def packed(vectors: Numbers) -> PackedNumbers:
    """Return the vectors in half precision where that loses nothing, as in all that are indexed
    now.
    """
    with np.errstate(over="ignore"):
        half = vectors.astype(np.float16)
    return half if np.array_equal(half, vectors) else vectors


def factors_of(vectors: PackedNumbers) -> NDArray[np.float32]:
    """Return 1 through the length of each vector, 0 where that is zero."""
    factors = np.zeros(len(vectors))
    for start in range(0, len(vectors), _ROWS_TOGETHER):
        part = vectors[start : start + _ROWS_TOGETHER].astype(np.float64)
        lengths = np.linalg.norm(part, axis=1)
        np.divide(1, lengths, out=factors[start : start + len(part)], where=lengths > 0)
    with np.errstate(over="ignore"):
        return factors.astype(np.float32)


def _products_of_halves(numbers: PackedNumbers, halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return the product of each row with a direction, given in two halves."""
    products = np.empty((len(numbers), 2), np.float32)
    if len(numbers):
        numkong.cdist(numbers, halves, metric="dot", out=products)
    return products @ np.array([1, 1 / _LOW_SCALE], np.float32)
