"""The vectors of a workspace in half precision, as they are in the file, and their ids, in memory:
to compare a question with a thousand chunks takes neither a look into the runs of ids nor a block.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from runtime.stores.vectors.comparison import Numbers, PackedNumbers
from runtime.stores.vectors.fields import similarities

_SPARE = 8
"""There is room for one in so many rows more, so that each new one does not move all."""

_BYTES_OF_ID = 250
"""Bytes of an id and its two places here, about."""


class ExactRows:
    """Rows by their slots, from 0 to their number, and by their ids."""

    def __init__(self, dimension: int) -> None:
        self._vectors = np.empty((0, dimension), np.float16)
        self._ids: list[str] = []
        self._slots: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @staticmethod
    def bytes_of(count: int, dimension: int) -> int:
        """Return the bytes of so many rows, about."""
        return count * (2 * dimension + _BYTES_OF_ID)

    @property
    def nbytes(self) -> int:
        """Their bytes, about, with those of the room for more."""
        return self.bytes_of(len(self._vectors), self._vectors.shape[1])

    def reserve(self, count: int) -> None:
        """Have room for so many rows, and for some more where there is none for these."""
        if count > len(self._vectors):
            room = np.empty((count + count // _SPARE, self._vectors.shape[1]), np.float16)
            room[: len(self._vectors)] = self._vectors
            self._vectors = room

    def put(
        self, slots: NDArray[np.int64] | Sequence[int], ids: Sequence[str], vectors: PackedNumbers
    ) -> None:
        """Store rows of half precision at their slots, in the order of these; what is new follows
        the last without a gap.
        """
        for slot, id in zip(map(int, slots), ids, strict=True):
            if slot == len(self._ids):
                self._ids.append(id)
            else:
                self._forget(slot)
                self._ids[slot] = id
            self._slots[id] = slot
        self.reserve(len(self._ids))
        self._vectors[slots] = vectors

    def cut(self, count: int) -> None:
        """Leave out the rows from this slot on."""
        for slot in range(count, len(self._ids)):
            self._forget(slot)
        del self._ids[count:]

    def at(self, slots: NDArray[np.int64]) -> PackedNumbers:
        """Return the vectors of these slots, in their order."""
        return self._vectors[slots]

    def similarities(self, ids: Collection[str], vector: Numbers) -> dict[str, float]:
        """Return the exact cosine similarity of each of these rows that exist."""
        slots = {id: slot for id in ids if (slot := self._slots.get(id)) is not None}
        scores = similarities(self._vectors[list(slots.values())], vector)
        return dict(zip(slots, scores, strict=True))

    def _forget(self, slot: int) -> None:
        """Know no more of an id at its slot; one that has moved stays."""
        id = self._ids[slot]
        if self._slots.get(id) == slot:
            del self._slots[id]
