"""Values that many contributions give, kept in order while contributions come and go one by one.

Lists are kept sorted with `bisect`: a search of O(log n) comparisons, and a move of pointers that ten thousand of them
hardly cost.
"""

from bisect import bisect_left, insort

from services.merger.domain.fold import MAX_KEYWORDS, Place

Moved = tuple[Place | None, Place | None]
"""The first place of a value before and after a change; None where nothing gives it."""


class Distinct:
    """Distinct values in the order of the first place at which each is given."""

    def __init__(self) -> None:
        self._places: dict[str, list[Place]] = {}
        self._order: list[tuple[Place, str]] = []

    def __len__(self) -> int:
        return len(self._order)

    def add(self, value: str, place: Place) -> Moved:
        """The value is given at this place too."""
        places = self._places.setdefault(value, [])
        before = places[0] if places else None
        insort(places, place)
        return self._moved(value, before, places[0])

    def remove(self, value: str, place: Place) -> Moved:
        """The value is not given at this place any more."""
        places = self._places[value]
        before = places[0]
        del places[bisect_left(places, place)]
        if not places:
            del self._places[value]
        return self._moved(value, before, places[0] if places else None)

    def first(self, most: int) -> list[str]:
        """The first values."""
        return [value for _, value in self._order[:most]]

    def placed(self) -> list[tuple[Place, str]]:
        """All values with their first places, in order."""
        return list(self._order)

    def winner(self) -> str | None:
        """The value given most often, of equals the first."""
        return min(self._places, key=lambda value: (-len(self._places[value]), self._places[value][0]), default=None)

    def _moved(self, value: str, before: Place | None, after: Place | None) -> Moved:
        if before != after:
            if before is not None:
                del self._order[bisect_left(self._order, (before, value))]
            if after is not None:
                insort(self._order, (after, value))
        return before, after


class Frequent:
    """Words by how often they are given."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._ranks: list[tuple[int, str]] = []

    def change(self, word: str, by: int) -> None:
        """The word is given so many times more, or fewer."""
        before = self._counts.pop(word, 0)
        if before:
            del self._ranks[bisect_left(self._ranks, (-before, word))]
        if after := before + by:
            self._counts[word] = after
            insort(self._ranks, (-after, word))

    def first(self) -> tuple[str, ...]:
        """The keywords to write, by the alphabet: what `most_frequent` takes of all counts."""
        return tuple(sorted(word for _, word in self._ranks[:MAX_KEYWORDS]))
