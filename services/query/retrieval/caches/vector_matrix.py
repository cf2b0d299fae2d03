"""All vectors of one kind in one array, which a question is compared with at once."""

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from contracts.graph import Hit
from runtime.stores.vectors.comparison import Numbers, PackedNumbers, Question, VectorRows
from runtime.stores.vectors.fields import ranked, similarities

OVERHEAD = 500
"""Bytes that a row takes beside its vector, about."""


class VectorMatrix:
    """Rows of the vector store with their vectors, of half or single precision. It is never
    changed.
    """

    def __init__(
        self, ids: Sequence[str], names: Sequence[tuple[str, ...]], vectors: PackedNumbers
    ) -> None:
        self._ids = ids
        self._names = names
        self._rows = VectorRows.of(vectors)

    @property
    def size(self) -> int:
        """Bytes, about."""
        return self._rows.numbers.nbytes + OVERHEAD * len(self._ids)

    def nearest(self, vector: Numbers, top_k: int) -> list[Hit]:
        """Return the `top_k` rows by cosine similarity, best first, equal ones by id, as the vector
        store does.
        """
        if top_k < 1 or not self._ids:
            return []
        question = Question(vector)
        leaders = question.leaders(self._rows.scores(question), top_k, -1.0)
        rows: list[int] = leaders.tolist()
        scores = similarities(self._rows.numbers[leaders], vector)
        hits = [
            Hit(self._ids[row], self._names[row], score)
            for row, score in zip(rows, scores, strict=True)
        ]
        return ranked(hits)[:top_k]

    def similarities(self, ids: Collection[str], vector: Numbers) -> dict[str, float]:
        """Return the cosine similarity of each of these rows that exist."""
        existing = [id for id in ids if id in self._row_by_id]
        rows = np.array([self._row_by_id[id] for id in existing], np.intp)
        scores = similarities(self._rows.numbers[rows], vector)
        return dict(zip(existing, scores, strict=True))

    @cached_property
    def _row_by_id(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self._ids)}
