"""All vectors of one kind in one array, which a question is compared with at once."""

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Hit, VectorRow
from runtime.stores.vectors.fields import ranked, similarities

OVERHEAD = 500
"""Bytes that a row takes beside its vector, about."""

ROUNDING = 1e-5
"""By how much a cosine in single precision may be wrong, and more: rows as near as that are compared exactly."""


class VectorMatrix:
    """Rows of the vector store with their vectors. It is never changed."""

    def __init__(self, rows: Sequence[VectorRow], dimension: int) -> None:
        self._ids = [row.id for row in rows]
        self._names = [row.names for row in rows]
        self._vectors = np.array([row.vector for row in rows], np.float32).reshape(len(rows), dimension)
        lengths = np.linalg.norm(self._vectors, axis=1)
        self._inverse_lengths = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    @property
    def size(self) -> int:
        """Bytes, about."""
        return self._vectors.nbytes + OVERHEAD * len(self._ids)

    def nearest(self, direction: NDArray[np.float32], top_k: int) -> list[Hit]:
        """Return the `top_k` rows by cosine similarity, best first, equal ones by id, as the vector store does."""
        if top_k < 1 or not self._ids:
            return []
        near = self._vectors @ direction
        near *= self._inverse_lengths
        if top_k < len(near):
            least = np.partition(near, len(near) - top_k)[len(near) - top_k]
            places = np.flatnonzero(near >= least - ROUNDING * np.linalg.norm(direction)).tolist()
        else:
            places = range(len(near))
        scores = self._exact(places, direction)
        return ranked(
            Hit(self._ids[place], self._names[place], score) for place, score in zip(places, scores, strict=True)
        )[:top_k]

    def similarities(self, ids: Collection[str], direction: NDArray[np.float32]) -> dict[str, float]:
        """Return the cosine similarity of each of these rows that exist."""
        places = {id: place for id in ids if (place := self._places.get(id)) is not None}
        return dict(zip(places, self._exact([*places.values()], direction), strict=True))

    def _exact(self, places: Sequence[int], direction: NDArray[np.float32]) -> list[float]:
        return similarities([self._vectors[place] for place in places], direction)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id: place for place, id in enumerate(self._ids)}
