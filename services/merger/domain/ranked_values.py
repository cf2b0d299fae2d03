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
        self._places: dict[str, Position | list[Position]] = {}
        self._order: list[tuple[Position, str]] = []

    def __len__(self) -> int:
        return len(self._order)

    def add(self, value: str, place: Position) -> FirstPositionChange:
        """Add the value at one more position."""
        before = self._first(value)
        places = self._places.get(value)
        if places is None:
            self._places[value] = place
        elif isinstance(places, list):
            insort(places, place)
        else:
            self._places[value] = sorted((places, place))
        return self._moved(value, before, self._first(value))

    def remove(self, value: str, place: Position) -> FirstPositionChange:
        """Remove the value from this position."""
        before = self._first(value)
        places = self._places[value]
        if isinstance(places, list) and len(places) > 1:
            del places[bisect_left(places, place)]
        else:
            del self._places[value]
        return self._moved(value, before, self._first(value))

    def first(self, most: int) -> list[str]:
        """Return at most `most` values, the first in order."""
        return [value for _, value in self._order[:most]]

    def with_positions(self) -> list[tuple[Position, str]]:
        """Return all values with their first positions, in order."""
        return list(self._order)

    def most_frequent(self) -> str | None:
        """Return the value with the most positions, in case of a tie the first; None without
        values.
        """
        return min(
            self._places, key=lambda value: (-self._count(value), self._first(value)), default=None
        )

    def _first(self, value: str) -> Position | None:
        places = self._places.get(value)
        return places[0] if isinstance(places, list) else places

    def _count(self, value: str) -> int:
        places = self._places[value]
        return len(places) if isinstance(places, list) else 1

    def _moved(
        self, value: str, before: Position | None, after: Position | None
    ) -> FirstPositionChange:
        if before != after:
            if before is not None:
                del self._order[bisect_left(self._order, (before, value))]
            if after is not None:
                insort(self._order, (after, value))
        return before, after


class WordCounts:
    """Words by how many contributions have them."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._ranks: list[tuple[int, str]] = []

    def change(self, word: str, by: int) -> None:
        """Add `by`, which may be negative, to the count of the word."""
        before = self._counts.pop(word, 0)
        if before:
            del self._ranks[bisect_left(self._ranks, (-before, word))]
        if after := before + by:
            self._counts[word] = after
            insort(self._ranks, (-after, word))

    def most_frequent(self) -> tuple[str, ...]:
        """Return the keywords to store, in alphabetical order, as `fold.most_frequent` does."""
        return tuple(sorted(word for _, word in self._ranks[:MAX_KEYWORDS]))
