"""Sketches of vectors, and how a search among many rows is narrowed by them.

A sketch has two bits of each number: which of four levels, -1.5, -0.5, 0.5 and 1.5, the number is
nearest to in units of the vector's root mean square, about. Two runs of bits, each padded to whole
words: 1 where the number is greater than zero, and the lower digit of the level. A sketch depends
on its vector alone, so a search gives the same whatever was written before.

Rows are chosen in two steps, by the bits in which signs differ from those of the question, and then
by an estimate of the cosine. Of what is left the vectors are compared exactly. How far a step may
be trusted is measured in each search, on the rows that it chose: more are taken until what is left
out is beyond the deviation.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]
"""Rows × 2 × words."""
Numbers = NDArray[np.float32]
Slots = NDArray[np.int64]
Score = Callable[[Slots], list[float]]
"""Returns the exact similarity of each of these rows."""

DEVIATIONS = 4.0
"""Standard deviations of a step's error that what it leaves out is away from the last row."""
FIRST_PER_ROW = 3
FIRST_ROWS = 40
"""Rows that are compared at first: so many for each that is asked for, and so many more."""
SIGNED_PER_ROW = 64
SIGNED_SHARE = 16
"""The same of rows whose cosine is estimated at first: for each, and the part of all rows."""
LARGEST_SHARE = 8
"""The part of all rows that are compared at most: to read all in their order costs less."""

_WORD = 64
_QUESTION_BITS = 4
"""Of each number of the question, in the estimate."""
_AT_ONCE = 4096
"""Rows that are counted at once: they fit into the cache of a processor."""


class Limits(NamedTuple):
    """What is asked for, and how many rows are compared at most."""

    top_k: int
    min_score: float
    most_compared: int


class Nearest(NamedTuple):
    """Rows among which the nearest are, with their exact similarities."""

    slots: Slots
    scores: NDArray[np.float64]


def sketch_bytes(dimension: int) -> int:
    """Return the bytes of one sketch."""
    return 2 * _words(dimension) * _WORD // 8


def sketches_of(vectors: NDArray[np.float32]) -> Codes:
    """Return the sketches of vectors."""
    numbers = vectors.astype(np.float64)
    mean_squares = np.square(numbers).mean(axis=1, keepdims=True)
    is_positive = numbers > 0
    is_low = is_positive == (np.square(numbers) > mean_squares)
    return np.stack([_packed(is_positive), _packed(is_low)], axis=1)


def nearest(
    codes: Codes, direction: NDArray[np.float32], top_k: int, min_score: float, score: Score
) -> Nearest | None:
    """Return rows among which the `top_k` nearest above `min_score` are; None where so many would
    have to be compared that all should be.

    Sketches err: how often in fact is in decision 198.
    """
    question = _Question(direction)
    agreement = -question.distances(codes)
    limits = Limits(top_k, min_score, len(codes) // LARGEST_SHARE)
    count = SIGNED_PER_ROW * top_k + len(codes) // SIGNED_SHARE
    while True:
        sign_cut = _greatest(agreement, count)
        candidates = np.flatnonzero(agreement >= sign_cut)
        estimates = question.estimates(codes[candidates])
        comparison = _compare(candidates, estimates, limits, score)
        if comparison is None:
            return None
        result, cut = comparison
        # What signs leave out would not have been compared.
        if (
            len(candidates) == len(codes)
            or _bound(agreement[candidates], estimates, sign_cut) <= cut
        ):
            return result
        count *= 4


def _compare(
    slots: Slots, estimates: Numbers, limits: Limits, score: Score
) -> tuple[Nearest, float] | None:
    """Return the rows of the greatest estimates with their similarities, and the least of these
    estimates; None where they are too many.
    """
    count = FIRST_PER_ROW * limits.top_k + FIRST_ROWS
    cut = np.inf
    rows = np.empty(0, np.int64)
    scores = np.empty(0)
    while True:
        next_cut = _greatest(estimates, count)
        next_rows = np.flatnonzero((estimates >= next_cut) & (estimates < cut))
        if len(rows) + len(next_rows) > limits.most_compared:
            return None
        cut = next_cut
        rows = np.concatenate([rows, next_rows])
        scores = np.concatenate([scores, score(slots[next_rows])])
        worst_score = max(limits.min_score, _greatest(scores, limits.top_k))
        if len(rows) == len(slots) or _bound(estimates[rows], scores, cut) <= worst_score:
            return Nearest(slots[rows], scores), cut
        count *= 2


class _Question:
    """A question in the form that sketches are compared with."""

    def __init__(self, direction: NDArray[np.float32]) -> None:
        numbers = direction.astype(np.float64)
        self._dimension = len(numbers)
        self._signs = _packed(numbers[None] > 0)
        half = 2 ** (_QUESTION_BITS - 1)
        scaled_numbers = np.floor(numbers / (np.abs(numbers).max() or 1.0) * half)
        levels = np.clip(scaled_numbers, -half, half - 1).astype(np.int64)
        # Twice a level, and one, is an odd number: none of them is zero.
        self._sum = float((2 * levels + 1).sum())
        self._digits = [
            np.tile(_packed(((levels + half)[None] >> digit) & 1 > 0), 2)
            for digit in range(_QUESTION_BITS)
        ]
        words = self._signs.shape[1]
        self._ones = np.ones(words, np.float32)
        self._weights = np.repeat(np.array([2, 1], np.float32), words)

    def distances(self, codes: Codes) -> Numbers:
        """Return in how many bits the signs of each row differ from those of the question."""
        result = np.empty(len(codes), np.float32)
        for start in range(0, len(codes), _AT_ONCE):
            part = codes[start : start + _AT_ONCE, 0]
            np.matmul(
                np.bitwise_count(part ^ self._signs).astype(np.float32),
                self._ones,
                out=result[start : start + _AT_ONCE],
            )
        return result

    def estimates(self, codes: Codes) -> Numbers:
        """Return for each row a number that is about proportional to its cosine."""
        parts = [
            self._estimates_of_part(codes[start : start + _AT_ONCE].reshape(-1, len(self._weights)))
            for start in range(0, len(codes), _AT_ONCE)
        ]
        return np.concatenate(parts)

    def _estimates_of_part(self, codes: NDArray[np.uint64]) -> Numbers:
        highest = 2**_QUESTION_BITS - 1
        products = -highest * (np.bitwise_count(codes).astype(np.float32) @ self._weights)
        for digit, bits in enumerate(self._digits):
            counts = np.bitwise_count(codes & bits).astype(np.float32)
            products += 2 ** (digit + 1) * (counts @ self._weights)
        words = len(self._ones)
        padding = words * _WORD - self._dimension
        # Levels are far from zero where their two digits are alike; padding looks as if it were.
        differing_bits = np.bitwise_count(codes[:, :words] ^ codes[:, words:]).astype(np.float32)
        far_levels = words * _WORD - differing_bits @ self._ones - padding
        lengths = np.sqrt(0.25 * self._dimension + 2 * far_levels)
        return ((products - 1.5 * self._sum) / lengths).astype(np.float32)


def _bound(rough: Numbers, exact: NDArray[np.floating], at: float) -> float:
    """Return the greatest exact number that is to be expected where the rough one is `at`, by the
    line through these pairs.
    """
    x = rough.astype(np.float64)
    y = exact.astype(np.float64)
    x_mean = x.mean()
    y_mean = y.mean()
    spread = np.square(x - x_mean).mean()
    slope = ((x - x_mean) * (y - y_mean)).mean() / spread if spread else 0.0
    errors = y - y_mean - slope * (x - x_mean)
    return float(y_mean + slope * (at - x_mean) + DEVIATIONS * errors.std())


def _greatest(numbers: NDArray[np.floating], count: int) -> float:
    """Return the `count`-th of the numbers, the greatest first, or else the least."""
    place = max(0, len(numbers) - count)
    return float(np.partition(numbers, place)[place])


def _words(dimension: int) -> int:
    return -(-dimension // _WORD)


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return (rows, words) of (rows, bits)."""
    padded_bits = np.zeros((len(bits), _words(bits.shape[1]) * _WORD), np.bool_)
    padded_bits[:, : bits.shape[1]] = bits
    return np.packbits(padded_bits, axis=1).view(np.uint64)
