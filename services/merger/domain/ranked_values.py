"""Keeps the values of many contributions in order while contributions are added and removed one by
one.

Lists are kept sorted with `bisect`: a search takes O(log n) comparisons, and moving the pointers
behind an insertion is cheap even for ten thousand of them.
"""

from bisect import bisect_left, insort

from knowledge.fold import MAX_KEYWORDS, Position

FirstPositionChange = tuple[Position | None, Position | None]
"""The first position of a value before and after a change; None where no contribution has it."""


class DistinctValues:
    """Distinct values in the order of the first position of each."""

    def __init__(self) -> None:
        # Most values have one position; a list for each would take half as much memory again.
        self._positions: dict[str, Position | list[Position]] = {}
        self._order: list[tuple[Position, str]] = []

    def __len__(self) -> int:
        return len(self._order)

    def add(self, value: str, position: Position) -> FirstPositionChange:
        """Add the value at one more position."""
        first = self._first(value)
        positions = self._positions.get(value)
        if positions is None:
            self._positions[value] = position
        elif isinstance(positions, list):
            insort(positions, position)
        else:
            self._positions[value] = sorted((positions, position))
        return self._move(value, first, self._first(value))

    def remove(self, value: str, position: Position) -> FirstPositionChange:
        """Remove the value from this position."""
        first = self._first(value)
        positions = self._positions[value]
        if isinstance(positions, list) and len(positions) > 1:
            del positions[bisect_left(positions, position)]
        else:
            del self._positions[value]
        return self._move(value, first, self._first(value))

    def first(self, count: int) -> list[str]:
        """Return at most `count` values, the first in order."""
        return [value for _, value in self._order[:count]]

    def with_positions(self, count: int | None = None) -> list[tuple[Position, str]]:
        """Return at most `count` values with their first positions, in order; all without it."""
        return self._order[:count]

    def most_frequent(self) -> str | None:
        """Return the value with the most positions, in case of a tie the first; None without
        values.
        """
        return min(
            self._positions,
            key=lambda value: (-self._count(value), self._first(value)),
            default=None,
        )

    def _first(self, value: str) -> Position | None:
        positions = self._positions.get(value)
        return positions[0] if isinstance(positions, list) else positions

    def _count(self, value: str) -> int:
        positions = self._positions[value]
        return len(positions) if isinstance(positions, list) else 1

    def _move(
        self, value: str, old_position: Position | None, new_position: Position | None
    ) -> FirstPositionChange:
        if old_position != new_position:
            if old_position is not None:
                del self._order[bisect_left(self._order, (old_position, value))]
            if new_position is not None:
                insort(self._order, (new_position, value))
        return old_position, new_position


class WordCounts:
    """Words by how many contributions have them."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._ranks: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._ranks)

    def change(self, word: str, difference: int) -> None:
        """Add the difference, which may be negative, to the count of the word."""
        old_count = self._counts.pop(word, 0)
        if old_count:
            del self._ranks[bisect_left(self._ranks, (-old_count, word))]
        new_count = old_count + difference
        if new_count:
            self._counts[word] = new_count
            insort(self._ranks, (-new_count, word))

    def most_frequent(self) -> tuple[str, ...]:
        """Return the keywords to store, in alphabetical order, as `fold.most_frequent` does."""
        return tuple(sorted(word for _, word in self._ranks[:MAX_KEYWORDS]))
