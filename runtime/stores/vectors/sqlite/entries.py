"""A vector as bytes: its numbers, in half precision where each of them is exact in it and else in
single precision, and then one number more in single precision: 1 through its length, 0 where that
is zero.
"""

from dataclasses import dataclass

import numkong
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""Rows × numbers."""

ROUNDING = 2.0**-23
"""By how much a score may be wrong for each number of a vector, and `ROUNDING_NUMBERS` more: sums
in single precision, in any order. Twice what theory allows.
"""
ROUNDING_NUMBERS = 8

_LOW_SCALE = 2.0**11
"""What half precision rounds away is multiplied by this, so that it is no smaller than the rest."""


@dataclass(frozen=True)
class Direction:
    """A vector of length 1, or of noughts, to compare entries with.

    `halves`: in half precision, and what that rounds away.
    """

    numbers: NDArray[np.float32]
    halves: NDArray[np.float16]


@dataclass(frozen=True)
class Entries:
    """The vectors of some rows, all in one precision, with 1 through their lengths.

    `numbers`: rows × dimension.
    """

    numbers: NDArray[np.float32 | np.float16]
    factors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.factors)

    def vectors(self) -> Matrix:
        """Return the vectors."""
        return self.numbers.astype(np.float32)

    def scores(self, direction: Direction) -> NDArray[np.float32]:
        """Return the cosine of each row with a direction, in single precision; not finite where a
        sum is too large for it.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if self.numbers.dtype == np.float16:
                products = _products_of_halves(self.numbers, direction)
            else:
                products = self.numbers @ direction.numbers
            return products * self.factors

    def at(self, places: NDArray[np.int64] | slice) -> "Entries":
        """Return the entries of some rows."""
        return Entries(self.numbers[places], self.factors[places])


def direction_of(vector: NDArray[np.float32]) -> Direction:
    """Return the direction of a vector."""
    numbers = vector.astype(np.float64)
    numbers /= np.linalg.norm(numbers) or 1.0
    high = numbers.astype(np.float16)
    low = ((numbers - high) * _LOW_SCALE).astype(np.float16)
    return Direction(numbers.astype(np.float32), np.stack([high, low]))


def is_half(vectors: Matrix) -> bool:
    """Return whether half precision has all of these numbers exactly."""
    with np.errstate(over="ignore"):
        return bool((vectors.astype(np.float16) == vectors).all())


def entry_bytes(dimension: int, *, half: bool) -> int:
    """Return the bytes of one entry."""
    return (2 if half else 4) * dimension + 4


def to_bytes(vectors: Matrix, *, half: bool) -> list[bytes]:
    """Return the entries of these vectors; `half` only where that is exact."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    with np.errstate(over="ignore"):
        factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        factors = factors.astype(np.float32)
    numbers = vectors.astype(np.float16 if half else np.float32)
    return [row.tobytes() + factor.tobytes() for row, factor in zip(numbers, factors, strict=True)]


def from_bytes(content: bytes | memoryview, dimension: int, *, half: bool) -> Entries:
    """Return the entries in these bytes, in place."""
    if half:
        parts = np.frombuffer(content, np.float16).reshape(-1, dimension + 2)
        factors = np.ascontiguousarray(parts[:, dimension:]).view(np.float32)[:, 0]
        return Entries(parts[:, :dimension], factors)
    rows = np.frombuffer(content, np.float32).reshape(-1, dimension + 1)
    return Entries(rows[:, :dimension], rows[:, dimension])


def _products_of_halves(
    numbers: NDArray[np.float32 | np.float16], direction: Direction
) -> NDArray[np.float32]:
    """Return the product of each row with a direction."""
    products = np.empty((len(numbers), 2), np.float32)
    if len(numbers):
        numkong.cdist(numbers, direction.halves, metric="dot", out=products)
    return products @ np.array([1, 1 / _LOW_SCALE], np.float32)
