"""All vectors of one kind in one array, which a question is compared with at once."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Hit
from runtime.stores.vectors.fields import ranked, similarities

PackedVectors = NDArray[np.float16 | np.float32]
"""(rows, dimension), of half or single precision."""

OVERHEAD = 500
"""Bytes that a row takes beside its vector, about."""

ROUNDING = 1e-5
"""By how much a cosine in single precision may be wrong, and more: rows as near as that are
compared exactly.
"""

BLOCK = 512
"""Rows that are made single precision at once: they fit into the cache of a processor."""

_SIGN_AND_DIGITS = np.array([0x8FFFE000], np.uint32).view(np.int32)[0]
"""The bits that a number of half precision has as one of single precision, but for 2**112."""


class VectorMatrix:
    """Rows of the vector store with their vectors, of half or single precision. It is never
    changed.
    """

    def __init__(
        self, ids: Sequence[str], names: Sequence[tuple[str, ...]], vectors: PackedVectors
    ) -> None:
        self._ids = ids
        self._names = names
        self._vectors = vectors
        block_lengths = [np.linalg.norm(block, axis=1) for block in _blocks(vectors)]
        lengths = np.concatenate(block_lengths or [np.zeros(0)])
        self._inverse_lengths = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    @property
    def size(self) -> int:
        """Bytes, about."""
        return self._vectors.nbytes + OVERHEAD * len(self._ids)

    def nearest(self, direction: NDArray[np.float32], top_k: int) -> list[Hit]:
        """Return the `top_k` rows by cosine similarity, best first, equal ones by id, as the vector
        store does.
        """
        if top_k < 1 or not self._ids:
            return []
        length = float(np.linalg.norm(direction)) or 1.0
        cosines = _products(self._vectors, direction / length)
        cosines *= self._inverse_lengths
        rows: Sequence[int] = range(len(cosines))
        if top_k < len(cosines):
            last = len(cosines) - top_k
            least = np.partition(cosines, last)[last]
            rows = np.flatnonzero(cosines >= least - ROUNDING).tolist()
        scores = self._exact(rows, direction)
        hits = [
            Hit(self._ids[row], self._names[row], score)
            for row, score in zip(rows, scores, strict=True)
        ]
        return ranked(hits)[:top_k]

    def similarities(
        self, ids: Collection[str], direction: NDArray[np.float32]
    ) -> dict[str, float]:
        """Return the cosine similarity of each of these rows that exist."""
        existing = [id for id in ids if id in self._row_by_id]
        rows = [self._row_by_id[id] for id in existing]
        return dict(zip(existing, self._exact(rows, direction), strict=True))

    def _exact(self, rows: Sequence[int], direction: NDArray[np.float32]) -> list[float]:
        return similarities(self._vectors[np.fromiter(rows, np.intp, len(rows))], direction)

    @cached_property
    def _row_by_id(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self._ids)}


def packed(vectors: NDArray[np.float32]) -> PackedVectors:
    """Return the vectors in half precision where that loses nothing, as in all that are indexed
    now.
    """
    with np.errstate(over="ignore"):
        half = vectors.astype(np.float16)
    return half if np.array_equal(half, vectors) else vectors


def _blocks(vectors: PackedVectors) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(vectors), BLOCK):
        yield vectors[start : start + BLOCK].astype(np.float32)


def _products(vectors: PackedVectors, unit: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (rows,): the product of each row with `unit`, a vector of length 1.

    Half precision becomes single by a shift of the exponent's and the fraction's bits, which leaves
    2**112 to multiply with: exact, and four times faster than numpy's conversion.
    """
    if vectors.dtype == np.float32:
        return vectors.astype(np.float32, copy=False) @ unit
    bits = vectors.view(np.int16)
    factor = unit * np.float32(2.0**112)
    result = np.empty(len(bits), np.float32)
    block = np.empty((BLOCK, vectors.shape[1]), np.int32)
    for start in range(0, len(bits), BLOCK):
        narrow = bits[start : start + BLOCK]
        wide = block[: len(narrow)]
        np.copyto(wide, narrow)
        np.left_shift(wide, 13, out=wide)
        np.bitwise_and(wide, _SIGN_AND_DIGITS, out=wide)
        np.matmul(wide.view(np.float32), factor, out=result[start : start + len(narrow)])
    return result
