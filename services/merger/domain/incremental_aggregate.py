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

EMPTY = 5000
OVERHEAD = 850
"""Bytes of an empty aggregate, and of each contribution in it besides description and keywords;
measured.
"""


class IncrementalAggregate:
    """The active contributions to one canonical key, and what they add up to.

    `sources`: whose contributions these are; others need another aggregate. `revision`: it contains
    all that was contributed up to this revision. `size`: about how many bytes it takes. `changes`:
    how many contributions have been added, replaced or removed.
    """

    def __init__(self, key: Key, limits: SummaryLimits, sources: tuple[Source, ...] = ()) -> None:
        self.key = key
        self.sources = sources
        self.revision = 0
        self.size = EMPTY
        self.changes = 0
        # By chunk, or by key and chunk where the original key is another one: it may contribute to
        # several.
        self._contributions: dict[str | tuple[Key, str], Contribution] = {}
        self._chunks = Counter[str]() if len(sources) > 1 else None
        self._order: list[Position] = []
        self._types = DistinctValues()
        self._paths = DistinctValues()
        self._keywords = WordCounts()
        # An exact sum: with floats, adding and removing a weight would leave a rounding error.
        self._steps = 0
        self._descriptions = DescriptionTree(key, limits)
        self.relation_fragments = DescriptionTree(key, limits)
        """Descriptions of relations that have the entity as an end."""

    @property
    def contribution_count(self) -> int:
        """Return how many contributions it has."""
        return len(self._order)

    @property
    def fragments(self) -> DescriptionTree:
        """Return the descriptions in use: those of relations only while there is no other."""
        return self._descriptions or self.relation_fragments

    def contributions(self) -> list[Contribution]:
        """Return all contributions in canonical order."""
        return sorted(self._contributions.values(), key=position_of)

    def position_of_last_source(self) -> Position:
        """Return the position of the last chunk that is stored as a source."""
        return self._order[:MAX_SOURCES][-1]

    def put(self, contributions: Iterable[Contribution]) -> None:
        """Replace what their chunks have contributed; a retracted contribution removes it."""
        for contribution in contributions:
            is_of_key = contribution.names == self.key
            chunk = contribution.chunk_id
            identity = chunk if is_of_key else (contribution.names, chunk)
            former_contribution = self._contributions.get(identity)
            if contribution == former_contribution:
                continue
            self.changes += 1
            if former_contribution:
                del self._contributions[identity]
                self._remove(former_contribution)
            if not contribution.is_retracted:
                self._contributions[identity] = contribution
                self._add(contribution)

    def apply_summaries(self, summaries: Mapping[str, str]) -> None:
        """Use these summaries from now on, by hash of their group."""
        # Both trees: the one not in use must not go on without a summary that exists now.
        for tree in (self._descriptions, self.relation_fragments):
            tree.apply_summaries(summaries, ())

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
        count = MAX_SOURCES * max(1, len(self.sources))
        return (chunk for *_, chunk in self._order[:count])

    def _descriptions_with(self, contribution: Contribution) -> DescriptionTree:
        """Return the descriptions to which that of the contribution belongs."""
        is_of_relation = contribution.kind == "end"
        return self.relation_fragments if is_of_relation else self._descriptions

    def _add(self, contribution: Contribution) -> None:
        position = position_of(contribution)
        insort(self._order, position)
        self._descriptions_with(contribution).add(contribution.description, position)
        if contribution.kind == "entity":
            self._types.add(contribution.type, position)
        if contribution.file_path != UNKNOWN_SOURCE:
            self._paths.add(contribution.file_path, position)
        self._count(contribution, 1)

    def _remove(self, contribution: Contribution) -> None:
        position = position_of(contribution)
        del self._order[bisect_left(self._order, position)]
        self._descriptions_with(contribution).remove(contribution.description, position)
        if contribution.kind == "entity":
            self._types.remove(contribution.type, position)
        if contribution.file_path != UNKNOWN_SOURCE:
            self._paths.remove(contribution.file_path, position)
        self._count(contribution, -1)

    def _count(self, contribution: Contribution, sign: int) -> None:
        """Add the contribution to the sums, or take it off with a negative sign."""
        if self._chunks is not None:
            self._chunks[contribution.chunk_id] += sign
            if not self._chunks[contribution.chunk_id]:
                del self._chunks[contribution.chunk_id]
        self._steps += sign * steps_of(contribution.weight)
        for word in set(contribution.keywords):
            self._keywords.change(word, sign)
        self.size += sign * (
            OVERHEAD
            + getsizeof(contribution.description)
            + sum(map(getsizeof, contribution.keywords))
        )


def steps_of(weight: float) -> int:
    """Return a weight as a whole number of steps."""
    numerator, denominator = weight.as_integer_ratio()
    return (numerator << STEPS) // denominator
