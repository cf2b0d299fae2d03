"""The fold of one key kept up to date: a further contribution costs O(log n), where the pure fold reads all n.

It says the same as `tally` and `describe` say of the same set of contributions, in whatever order they came and went.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from sys import getsizeof

from contracts.graph import UNKNOWN_TYPE
from contracts.ids import UNKNOWN_SOURCE
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.descriptions import Limits
from services.merger.domain.fold import MAX_FILE_PATHS, MAX_SOURCES, Place, Tally, place
from services.merger.domain.ranked import Distinct, Frequent
from services.merger.domain.tree import Tree

STEPS = 1074
"""Every float is a whole number of steps of 2 to the power of minus this."""

EMPTY, OVERHEAD = 5000, 1500
"""Bytes that a hub takes without contributions, and with each beside its description and keywords; measured, rounded
up."""


class Hub:
    """What stands of all that chunks say about one raw key.

    `revision`: the number up to which everything that was counted is in it. `size`: about how many bytes it takes.
    """

    def __init__(self, key: Key, limits: Limits) -> None:
        self.key, self.revision, self.size = key, 0, EMPTY
        self._said: dict[str, Contribution] = {}
        self._order: list[Place] = []
        self._types, self._paths, self._keywords = Distinct(), Distinct(), Frequent()
        # Exact, so that adding and taking away leaves what adding alone would: a sum of floats would not.
        self._steps = 0
        self._described, self._ends = Tree(key, limits), Tree(key, limits)

    @property
    def fragments(self) -> Tree:
        """The descriptions that speak for it: those of relations only while nothing else does."""
        return self._described or self._ends

    def put(self, contributions: Iterable[Contribution]) -> None:
        """Each is now what its chunk says; one that is retracted says nothing."""
        for new in contributions:
            old = self._said.get(new.chunk_id)
            if new == old:
                continue
            if old:
                del self._said[old.chunk_id]
                self._remove(old)
            if not new.retracted:
                self._said[new.chunk_id] = new
                self._add(new)

    def learn(self, known: Mapping[str, str]) -> None:
        """These summaries exist now, by hash of their group."""
        # Also for the fragments that do not speak for it now: they must not keep that there was none.
        for tree in (self._described, self._ends):
            tree.learn(known, ())

    def tally(self) -> Tally:
        """What is counted."""
        if not self._order:
            return Tally()
        return Tally(
            support=len(self._order),
            type=self._types.winner() or UNKNOWN_TYPE,
            weight=self._steps / (1 << STEPS),
            keywords=self._keywords.first(),
            source_ids=tuple(chunk for *_, chunk in self._order[:MAX_SOURCES]),
            file_paths=tuple(self._paths.first(MAX_FILE_PATHS)),
            created_at=self._order[0][0] // 1_000_000,
        )

    def _add(self, new: Contribution) -> None:
        at = place(new)
        insort(self._order, at)
        (self._ends if new.kind == "end" else self._described).add(new.description, at)
        if new.kind == "entity":
            self._types.add(new.type, at)
        if new.file_path != UNKNOWN_SOURCE:
            self._paths.add(new.file_path, at)
        self._count(new, 1)

    def _remove(self, old: Contribution) -> None:
        at = place(old)
        del self._order[bisect_left(self._order, at)]
        (self._ends if old.kind == "end" else self._described).remove(old.description, at)
        if old.kind == "entity":
            self._types.remove(old.type, at)
        if old.file_path != UNKNOWN_SOURCE:
            self._paths.remove(old.file_path, at)
        self._count(old, -1)

    def _count(self, one: Contribution, by: int) -> None:
        numerator, denominator = one.weight.as_integer_ratio()
        self._steps += by * (numerator << STEPS) // denominator
        for word in set(one.keywords):
            self._keywords.change(word, by)
        self.size += by * (OVERHEAD + getsizeof(one.description) + sum(map(getsizeof, one.keywords)))
