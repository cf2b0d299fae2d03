"""Keeps the aggregate of one key up to date: a further contribution costs O(log n), where
`aggregate` reads all n.

It equals what `aggregate` and `describe` return for the same set of contributions, in whatever
order they came.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from sys import getsizeof

from contracts.graph import UNKNOWN_TYPE
from contracts.ids import UNKNOWN_SOURCE
from knowledge.contributions import Contribution, Key
from knowledge.descriptions import SummaryLimits
from knowledge.fold import MAX_FILE_PATHS, MAX_SOURCES, Aggregate, Position, position_of
from knowledge.homonyms import Source
from services.merger.domain.description_tree import DescriptionTree
from services.merger.domain.ranked_values import DistinctValues, WordCounts

STEPS = 1074
"""Every float is a whole number of steps of 2 to the power of minus this."""

EMPTY, OVERHEAD = 5000, 1100
"""Bytes of an empty aggregate, and of each contribution in it besides description and keywords;
measured.
"""


class IncrementalAggregate:
    """The active contributions to one canonical key, and what they add up to.

    `sources`: whose contributions these are; others need another aggregate. `revision`: it contains
    all that was contributed up to this revision. `size`: about how many bytes it takes.
    """

    def __init__(self, key: Key, limits: SummaryLimits, sources: tuple[Source, ...] = ()) -> None:
        self.key, self.sources, self.revision, self.size = key, sources, 0, EMPTY
        # By chunk, or by key and chunk where the original key is another one: it may contribute to
        # several.
        self._contributions: dict[str | tuple[Key, str], Contribution] = {}
        self._chunks = Counter[str]() if len(sources) > 1 else None
        self._order: list[Position] = []
        self._types, self._paths, self._keywords = DistinctValues(), DistinctValues(), WordCounts()
        # An exact sum: with floats, adding and removing a weight would leave a rounding error.
        self._steps = 0
        self._descriptions, self._relation_descriptions = (
            DescriptionTree(key, limits),
            DescriptionTree(key, limits),
        )

    @property
    def fragments(self) -> DescriptionTree:
        """Return the descriptions in use: those of relations only while there is no other."""
        return self._descriptions or self._relation_descriptions

    def put(self, contributions: Iterable[Contribution]) -> None:
        """Replace what their chunks have contributed; a retracted contribution removes it."""
        for new in contributions:
            place = new.chunk_id if new.names == self.key else (new.names, new.chunk_id)
            old = self._contributions.get(place)
            if new == old:
                continue
            if old:
                del self._contributions[place]
                self._remove(old)
            if not new.retracted:
                self._contributions[place] = new
                self._add(new)

    def apply_summaries(self, known: Mapping[str, str]) -> None:
        """Use these summaries from now on, by hash of their group."""
        # Both trees: the one not in use must not go on without a summary that exists now.
        for tree in (self._descriptions, self._relation_descriptions):
            tree.apply_summaries(known, ())

    def aggregate(self) -> Aggregate:
        """Return what `aggregate` returns for the same contributions."""
        if not self._order:
            return Aggregate()
        return Aggregate(
            support=len(self._order if self._chunks is None else self._chunks),
            type=self._types.most_frequent() or UNKNOWN_TYPE,
            weight=self._steps / (1 << STEPS),
            keywords=self._keywords.most_frequent(),
            source_ids=tuple(islice(dict.fromkeys(self._first_chunks()), MAX_SOURCES)),
            file_paths=tuple(self._paths.first(MAX_FILE_PATHS)),
            created_at=self._order[0][0] // 1_000_000,
        )

    def _first_chunks(self) -> Iterator[str]:
        """Return the chunks of the first contributions, enough of them though a chunk may
        contribute to each source.
        """
        enough = MAX_SOURCES * max(1, len(self.sources))
        return (chunk for *_, chunk in self._order[:enough])

    def _add(self, new: Contribution) -> None:
        position = position_of(new)
        insort(self._order, position)
        (self._relation_descriptions if new.kind == "end" else self._descriptions).add(
            new.description, position
        )
        if new.kind == "entity":
            self._types.add(new.type, position)
        if new.file_path != UNKNOWN_SOURCE:
            self._paths.add(new.file_path, position)
        self._count(new, 1)

    def _remove(self, old: Contribution) -> None:
        position = position_of(old)
        del self._order[bisect_left(self._order, position)]
        (self._relation_descriptions if old.kind == "end" else self._descriptions).remove(
            old.description, position
        )
        if old.kind == "entity":
            self._types.remove(old.type, position)
        if old.file_path != UNKNOWN_SOURCE:
            self._paths.remove(old.file_path, position)
        self._count(old, -1)

    def _count(self, contribution: Contribution, by: int) -> None:
        if self._chunks is not None:
            self._chunks[contribution.chunk_id] += by
            if not self._chunks[contribution.chunk_id]:
                del self._chunks[contribution.chunk_id]
        numerator, denominator = contribution.weight.as_integer_ratio()
        self._steps += by * (numerator << STEPS) // denominator
        for word in set(contribution.keywords):
            self._keywords.change(word, by)
        self.size += by * (
            OVERHEAD
            + getsizeof(contribution.description)
            + sum(map(getsizeof, contribution.keywords))
        )
