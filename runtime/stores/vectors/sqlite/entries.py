"""A vector as bytes: its numbers, in half precision where each of them is exact in it and else in
single precision, and then one number more in single precision: 1 through its length, 0 where that
is zero.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""Rows × numbers."""

# A number in half precision, moved by 13 places, stands where single precision has sign, exponent
# and fraction. Its exponent counts from another beginning: it is too small by this power of two.
_MOVED_BY = np.int32(13)
_MOVED_BITS = np.int32(-0x70002000)
_TOO_SMALL_BY = np.float32(2.0**112)


@dataclass(frozen=True)
class Entries:
    """The vectors of some rows, all in one precision, with 1 through their lengths.

    `numbers`: rows × dimension, in single precision, or the bits of half precision.
    """

    numbers: NDArray[np.float32 | np.int16]
    factors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.factors)

    def vectors(self) -> Matrix:
        """Return the vectors."""
        if self.numbers.dtype == np.int16:
            return np.ascontiguousarray(self.numbers).view(np.float16).astype(np.float32)
        return self.numbers.astype(np.float32)

    def scores(self, direction: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each row with a direction of length 1, in single precision; not
        finite where a sum is too large for it.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if self.numbers.dtype == np.int16:
                # numpy's own conversion takes five times as long.
                bits = self.numbers.astype(np.int32)
                bits <<= _MOVED_BY
                bits &= _MOVED_BITS
                products = bits.view(np.float32) @ (direction * _TOO_SMALL_BY)
            else:
                products = self.numbers @ direction
            return products * self.factors

    def at(self, places: NDArray[np.int64] | slice) -> "Entries":
        """Return the entries of some rows."""
        return Entries(self.numbers[places], self.factors[places])


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


def from_bytes(content: bytes, dimension: int, *, half: bool) -> Entries:
    """Return the entries in these bytes."""
    if half:
        parts = np.frombuffer(content, np.int16).reshape(-1, dimension + 2)
        factors = np.ascontiguousarray(parts[:, dimension:]).view(np.float32)[:, 0]
        return Entries(parts[:, :dimension], factors)
    rows = np.frombuffer(content, np.float32).reshape(-1, dimension + 1)
    return Entries(rows[:, :dimension], rows[:, dimension])
