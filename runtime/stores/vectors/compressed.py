"""Vectors in a byte a number, which tell without reading any vector which of them may be among the
nearest to a question, and never leave out one that is.

Vectors are turned to the axes along which they differ most, so that the first half of their numbers
says most about a cosine. What the other half can add is bounded by the product of its lengths, and
what a byte leaves out by its length: a row that cannot reach the last of the nearest by this is out
after its first half, and most are. Those left are compared by both halves.
"""

from typing import NamedTuple, TypeVar

import numkong
import numpy as np
from numpy.typing import NDArray

from runtime.stores.vectors.comparison import ROUNDING, ROUNDING_NUMBERS, Numbers
from runtime.stores.vectors.fields import SCORE_DIGITS

T = TypeVar("T", bound=np.generic)
Places = NDArray[np.int64]
Scores = NDArray[np.floating]

_LARGEST = 127
"""The largest number in a byte; -128 is left out."""
_ERROR_WORTH = 2.0
"""What the error of a question's numbers is multiplied by: no row that is compared is longer."""
_BYTES_MORE = 20
"""Bytes of a row beside its numbers."""
_FEW = 8
"""Of rows fewer than one in so many are copied to be compared; else all are."""
_SPARE = 8
"""There is room for one in so many rows more, so that each new one does not move all."""


class _Direction(NamedTuple):
    """What a question has in one half: in two numbers of a byte each, so that it is exact enough,
    with what one of each is worth.
    """

    packed: numkong.PackedMatrix
    weights: NDArray[np.float32]
    length: float
    error: float
    """The length of what these numbers leave out."""

    @classmethod
    def of(cls, direction: Numbers, units: Numbers) -> "_Direction":
        """Return a direction for rows that are counted in these units."""
        numbers = direction * units
        weight = max(float(np.abs(numbers).max()), 1e-9) / _LARGEST
        high = np.rint(numbers / weight)
        low = np.rint((numbers - high * weight) / (weight / (2 * _LARGEST)))
        weights = np.array([weight, weight / (2 * _LARGEST)], np.float32)
        loss = (numbers - high * weights[0] - low * weights[1]) / units
        codes = np.stack([high, low]).astype(np.int8)
        length = float(np.linalg.norm(direction))
        return cls(numkong.dots_pack(codes), weights, length, float(np.linalg.norm(loss)))


class _Half:
    """One half of the numbers of each row, with what one is worth in it.

    `units`: what a number of each axis is counted in, so that where rows differ little less is
    lost.
    """

    def __init__(self, units: Numbers) -> None:
        self.units = units
        self._codes = np.empty((0, len(units)), np.int8)
        self._scales = np.empty(0, np.float32)
        self.errors = np.empty(0, np.float32)
        """The length of what each row loses."""

    def resize(self, capacity: int) -> None:
        """Have room for so many rows."""
        self._codes = _resized(self._codes, capacity)
        self._scales = _resized(self._scales, capacity)
        self.errors = _resized(self.errors, capacity)

    def put(self, places: Places, numbers: Numbers) -> None:
        """Store this half of some rows."""
        parts = numbers / self.units
        scales = np.abs(parts).max(axis=1) / _LARGEST
        scales[scales == 0] = 1
        codes = np.rint(parts / scales[:, None])
        self._codes[places] = codes
        self._scales[places] = scales
        losses = (parts - codes * scales[:, None]) * self.units
        self.errors[places] = np.linalg.norm(losses, axis=1)

    def direction(self, numbers: Numbers) -> _Direction:
        """Return what a question has in this half."""
        return _Direction.of(numbers, self.units)

    def products(
        self, direction: _Direction, places: Places | None, count: int
    ) -> NDArray[np.float32]:
        """Return the products of the direction with these of `count` rows, None: with all."""
        if places is None or len(places) * _FEW > count:
            scores = self._products(direction, self._codes[:count], self._scales[:count])
            return scores if places is None else scores[places]
        return self._products(direction, self._codes[places], self._scales[places])

    @staticmethod
    def _products(
        direction: _Direction, codes: NDArray[np.int8], scales: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        if not len(codes):
            return np.empty(0, np.float32)
        sums = np.asarray(numkong.dots_packed(codes, direction.packed))
        return (sums.astype(np.float32) @ direction.weights) * scales


class _Question(NamedTuple):
    """What a question has in each half, and by how much rounding may make a cosine wrong."""

    first: _Direction
    second: _Direction
    slack: float


class CompressedRows:
    """Rows by their places, from 0 to their number. `sample`: vectors like theirs, which choose the
    axes; if they are not, more rows are compared by both halves, and none is left out that counts.
    A vector has two numbers at least.
    """

    def __init__(self, sample: Numbers) -> None:
        units = _units(sample)
        squares, axes = np.linalg.eigh((units.T @ units).astype(np.float64) / len(units))
        self._axes = axes[:, ::-1].astype(np.float32)
        # The root of how far rows reach along each axis, by which least is lost.
        spread = np.maximum(squares[::-1], 1e-6).astype(np.float32) ** 0.25
        dimension = len(spread)
        self._width = -(-dimension // 2)
        self._halves = _Half(spread[: self._width]), _Half(spread[self._width :])
        self._rests = np.empty(0, np.float32)
        """The length of the second half of each row."""
        self._count = 0
        # Sums in single precision here, and digits that are not shown and make equal what is near.
        self._rounding = 4 * ROUNDING * (dimension + ROUNDING_NUMBERS) + 2 * 10.0**-SCORE_DIGITS

    def __len__(self) -> int:
        return self._count

    @staticmethod
    def with_room(count: int) -> int:
        """Return the number of rows that there is room for where so many are stored."""
        return count + count // _SPARE

    @staticmethod
    def bytes_of(count: int, dimension: int) -> int:
        """Return the bytes of so many rows, and of their axes."""
        return count * (dimension + _BYTES_MORE) + 4 * dimension * dimension

    @property
    def nbytes(self) -> int:
        """Their bytes, with those of the room for more."""
        return self.bytes_of(len(self._rests), len(self._axes))

    def reserve(self, count: int) -> None:
        """Have room for so many rows, and some more."""
        capacity = self.with_room(count)
        self._rests = _resized(self._rests, capacity)
        for half in self._halves:
            half.resize(capacity)

    def put(self, places: Places, vectors: Numbers) -> None:
        """Store vectors at their places; what is new follows the last without a gap."""
        if not len(places):
            return
        self._count = max(self._count, int(places.max()) + 1)
        if self._count > len(self._rests):
            self.reserve(self._count)
        turned = _units(vectors) @ self._axes
        parts = turned[:, : self._width], turned[:, self._width :]
        for half, part in zip(self._halves, parts, strict=True):
            half.put(places, part)
        self._rests[places] = np.linalg.norm(parts[1], axis=1)

    def cut(self, count: int) -> None:
        """Leave out the rows from this place on."""
        self._count = min(self._count, count)

    def candidates(
        self, vector: Numbers, top_k: int, min_score: float, places: Places | None = None
    ) -> Places:
        """Return the places of some rows, among them all that are of the `top_k` nearest and above
        `min_score`: of these places, or of all.
        """
        question = self._question(vector)
        first_scores, most = self._first_bounds(question, places)
        compared_places = np.arange(self._count) if places is None else places

        def bounds(rows: Places) -> tuple[Scores, Scores]:
            return self._bounds(question, compared_places[rows], first_scores[rows])

        rows = np.flatnonzero(most >= min_score)
        if len(rows) > top_k:
            leaders = rows[np.argpartition(first_scores[rows], -top_k)[-top_k:]]
            least, _ = bounds(leaders)
            rows = rows[most[rows] >= least.min()]
        least, most = bounds(rows)
        is_near = most >= min_score
        if len(rows) > top_k:
            is_near &= most >= np.partition(least, -top_k)[-top_k]
        return compared_places[rows[is_near]]

    def _question(self, vector: Numbers) -> _Question:
        turned = _units(vector[None])[0] @ self._axes
        first = self._halves[0].direction(turned[: self._width])
        second = self._halves[1].direction(turned[self._width :])
        slack = _ERROR_WORTH * (first.error + second.error) + self._rounding
        return _Question(first, second, slack)

    def _first_bounds(self, question: _Question, places: Places | None) -> tuple[Scores, Scores]:
        """Return what the first halves of rows have of the cosine, and the most that it may be."""
        first = self._halves[0]
        rows = slice(self._count) if places is None else places
        scores = first.products(question.first, places, self._count)
        errors = question.first.length * first.errors[rows]
        errors += question.second.length * self._rests[rows]
        return scores, scores + errors + question.slack

    def _bounds(
        self, question: _Question, places: Places, first_scores: Scores
    ) -> tuple[Scores, Scores]:
        """Return the least and the most that the cosines of these rows may be."""
        first, second = self._halves
        scores = first_scores + second.products(question.second, places, self._count)
        errors = question.first.length * first.errors[places]
        errors += question.second.length * second.errors[places] + question.slack
        return scores - errors, scores + errors


def _units(vectors: Numbers) -> Numbers:
    """Return the vectors with length 1, or noughts."""
    numbers = vectors.astype(np.float64)
    lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
    return np.divide(numbers, lengths, out=numbers, where=lengths > 0).astype(np.float32)


def _resized(array: NDArray[T], capacity: int) -> NDArray[T]:
    """Return a copy of the array with room for so many rows, no fewer than it has."""
    copy = np.empty((capacity, *array.shape[1:]), array.dtype)
    copy[: len(array)] = array
    return copy
