"""Keeps the aggregate of a key that very many chunks name in a fraction of the memory: what their
contributions add up to, and these in compressed blocks.

A further contribution is only added, as long as it stands behind all that is stored of the first
ones (sources, file paths, the joined description). For everything else `expanded` returns the
`IncrementalAggregate` of the same contributions.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from sys import getsizeof

from contracts.graph import UNKNOWN_TYPE
from contracts.ids import UNKNOWN_SOURCE
from knowledge.contributions import Contribution
from knowledge.descriptions import SummaryLimits
from knowledge.fold import MAX_FILE_PATHS, MAX_SOURCES, Aggregate, Position, position_of
from knowledge.homonyms import Source
from runtime.batching import batched
from services.merger.domain.incremental_aggregate import STEPS, IncrementalAggregate, steps_of
from services.merger.domain.packed_contributions import BLOCK, PackedContributions, block_of
from services.merger.domain.packed_fragments import PackedFragments
from services.merger.domain.ranked_values import WordCounts

MIN_CONTRIBUTIONS = 256
"""Contributions from which on an aggregate is compacted: whole, so many take a quarter of a MB."""

CHANGES_SHARE = 4
"""A whole aggregate is compacted when one contribution in so many has changed since it was made:
both ways take as long as reading them from memory, and that must not happen at each change.
"""

OVERHEAD = 150
"""Bytes of a word that is counted, and of a contribution that is not compressed yet, besides its
texts.
"""

_HASH = 2**64 - 1


class CompactAggregate:
    """The active contributions to one canonical key that no edit touches, and what they add up to.

    `sources`, `revision` and `size`: as of an `IncrementalAggregate`.
    """

    def __init__(self, aggregate: IncrementalAggregate, limits: SummaryLimits) -> None:
        contributions = aggregate.contributions()
        fragments = aggregate.fragments
        self.key = aggregate.key
        self.sources = aggregate.sources
        self.revision = aggregate.revision
        self.fragments = PackedFragments(
            self.key, limits, fragments.with_positions(), is_grouped=fragments.is_grouped
        )
        self._of_relations = fragments is aggregate.relation_fragments
        self._source_ids = tuple(item.chunk_id for item in contributions[:MAX_SOURCES])
        self._created_at = contributions[0].added_at // 1_000_000
        self._settled_position = max(
            self.fragments.settled_position, aggregate.position_of_last_source()
        )
        """What is stored of the first contributions stands at this position or before."""
        self._chunks = array("Q", sorted(_hash_of(item) for item in contributions))
        self._file_paths: dict[str, None] = {}
        self._votes: dict[str, tuple[int, Position]] = {}
        self._keywords = WordCounts()
        self._steps = 0
        self._blocks: list[bytes] = []
        self._open_block: dict[int, Contribution] = {}
        self._fixed_size = sum(map(getsizeof, (self._source_ids, *self._source_ids)))
        self._blocks_size = 0
        for block in batched(contributions, BLOCK):
            self._add(block)

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        words = len(self._keywords) + len(self._file_paths)
        open_block = sum(getsizeof(item.description) for item in self._open_block.values())
        return (
            self._fixed_size
            + self._blocks_size
            + open_block
            + (len(self._open_block) + words) * OVERHEAD
            + self.fragments.size
            + len(self._chunks) * self._chunks.itemsize
        )

    def append(self, contributions: Iterable[Contribution]) -> bool:
        """Add what further chunks contribute, all of it or nothing; return whether that was
        possible without the contributions that are compressed.
        """
        new_contributions: list[Contribution] = []
        for contribution in contributions:
            former_contribution = self._open_block.get(_hash_of(contribution))
            if self._has_chunk(contribution):
                if contribution != former_contribution:
                    return False
            elif not contribution.is_retracted:
                new_contributions.append(contribution)
        new_contributions.sort(key=position_of)
        if new_contributions and position_of(new_contributions[0]) <= self._settled_position:
            return False
        new_fragments = [
            (position_of(contribution), contribution.description)
            for contribution in new_contributions
            if self._describes(contribution)
        ]
        if self._of_relations and len(new_fragments) < len(new_contributions):
            return False
        if not self.fragments.can_add({text for _, text in new_fragments}):
            return False
        self.fragments.add(new_fragments)
        for contribution in new_contributions:
            insort(self._chunks, _hash_of(contribution))
        self._add(new_contributions)
        return True

    def apply_summaries(self, summaries: Mapping[str, str]) -> None:
        """Use these summaries from now on, by hash of their group."""
        self.fragments.apply_summaries(summaries, ())

    def aggregate(self) -> Aggregate:
        """Return what `aggregate` returns for the same contributions."""
        votes = self._votes
        return Aggregate(
            support=len(self._chunks),
            type=min(
                votes, key=lambda kind: (-votes[kind][0], votes[kind][1]), default=UNKNOWN_TYPE
            ),
            weight=self._steps / (1 << STEPS),
            keywords=self._keywords.most_frequent(),
            source_ids=self._source_ids,
            file_paths=tuple(self._file_paths),
            created_at=self._created_at,
        )

    def packed_contributions(self) -> PackedContributions:
        """Return the contributions alone."""
        blocks = (*self._blocks, block_of(self._open_block.values()))
        return PackedContributions(self.key, self.sources, self.revision, blocks)

    def expanded(self, limits: SummaryLimits) -> IncrementalAggregate:
        """Return the aggregate of the same contributions that can be changed in any way."""
        aggregate = self.packed_contributions().expanded(limits)
        aggregate.changes = 0
        return aggregate

    def _has_chunk(self, contribution: Contribution) -> bool:
        hash = _hash_of(contribution)
        place = bisect_left(self._chunks, hash)
        return place < len(self._chunks) and self._chunks[place] == hash

    def _describes(self, contribution: Contribution) -> bool:
        """Return whether its description is one of the fragments in use."""
        return (contribution.kind == "end") == self._of_relations

    def _add(self, contributions: Iterable[Contribution]) -> None:
        """Add contributions to the sums and to those that are not compressed yet."""
        for contribution in contributions:
            position = position_of(contribution)
            file_path = contribution.file_path
            if len(self._file_paths) < MAX_FILE_PATHS and file_path != UNKNOWN_SOURCE:
                if file_path not in self._file_paths:
                    self._settled_position = max(self._settled_position, position)
                self._file_paths[file_path] = None
            if contribution.kind == "entity":
                count, first_position = self._votes.get(contribution.type, (0, position))
                self._votes[contribution.type] = (count + 1, min(first_position, position))
            for word in set(contribution.keywords):
                self._keywords.change(word, 1)
            self._steps += steps_of(contribution.weight)
            self._open_block[_hash_of(contribution)] = contribution
        if len(self._open_block) >= BLOCK:
            self._compress()

    def _compress(self) -> None:
        block = block_of(self._open_block.values())
        self._blocks.append(block)
        self._blocks_size += getsizeof(block)
        self._open_block.clear()


def compacted(aggregate: IncrementalAggregate, limits: SummaryLimits) -> CompactAggregate | None:
    """Return the compact form of an aggregate that is large enough, is of its own key alone, and
    has changed enough since it was made; None if it must stay whole.
    """
    count = aggregate.contribution_count
    if count < MIN_CONTRIBUTIONS or aggregate.changes * CHANGES_SHARE < count:
        return None
    if aggregate.sources != (Source(aggregate.key),):
        return None
    return CompactAggregate(aggregate, limits)


def _hash_of(contribution: Contribution) -> int:
    """Return a number for its chunk, which no other has but by a chance of one in 10^19."""
    return hash(contribution.chunk_id) & _HASH
