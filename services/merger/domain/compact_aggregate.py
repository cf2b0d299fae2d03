"""Keeps the aggregate of a key that very many chunks name in a tenth of the memory: what their
contributions add up to, and these in compressed blocks.

A further contribution is only added to the sums, as long as it stands behind all that is stored of
the first ones (sources, file paths, the joined description) and some group of descriptions lacks a
summary, so that no summary is in use: one branch of the tree of groups is kept to know that. For
everything else `expanded` returns the `IncrementalAggregate` of the same contributions.
"""

import marshal
import zlib
from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping
from sys import getsizeof, intern
from typing import NamedTuple

from contracts.graph import UNKNOWN_TYPE
from contracts.ids import UNKNOWN_SOURCE
from knowledge.contributions import Contribution
from knowledge.descriptions import MAX_JOINED, Description, SummaryLimits, join
from knowledge.fold import MAX_FILE_PATHS, MAX_SOURCES, Aggregate, Position, position_of
from knowledge.homonyms import Source
from runtime.batching import batched
from services.merger.domain.description_tree import DescriptionTree
from services.merger.domain.incremental_aggregate import STEPS, IncrementalAggregate, steps_of
from services.merger.domain.ranked_values import WordCounts

MIN_CONTRIBUTIONS = 256
"""Contributions from which on an aggregate is compacted: whole, so many take a quarter of a MB."""

CHANGES_SHARE = 4
"""A whole aggregate is compacted when one contribution in so many has changed since it was made:
both ways take as long as reading them from memory, and that must not happen at each change.
"""

BLOCK = 64
"""Contributions that are compressed together."""

OVERHEAD = 150
"""Bytes of a word that is counted, and of a contribution that is not compressed yet, besides its
texts.
"""

FRAGMENT = 600
"""Bytes of a fragment of the branch, of about 150 characters."""

_HASH = 2**64 - 1


class JoinedFragments(NamedTuple):
    """The first fragments, joined because some group of `branch` lacks a summary. Offers what
    `DescriptionTree` offers to describe a key; which summaries are missing only the whole aggregate
    knows.
    """

    text: str
    branch: DescriptionTree

    def pending_summaries(self) -> set[str]:
        """Return hashes of groups whose summaries have to be looked up before `description`."""
        return self.branch.pending_summaries()

    def apply_summaries(
        self, summaries: Mapping[str, str], looked_up_hashes: Collection[str]
    ) -> None:
        """Use these summaries, by hash of group; of the `looked_up_hashes` there are no others."""
        self.branch.apply_summaries(summaries, looked_up_hashes)

    def description(self, *, with_missing: bool = True) -> Description:
        """Return the description, which is outdated unless the branch lacks summaries. Raises
        ValueError if asked which are missing.
        """
        if with_missing:
            raise ValueError("only the whole aggregate knows which summaries are missing")
        return Description(self.text, is_whole=False)


class CompactAggregate:
    """The active contributions to one canonical key that no edit touches, and what they add up to.

    `sources`, `revision` and `size`: as of an `IncrementalAggregate`. `position`: that of the last
    fragment that is joined or the last chunk that is a source, whichever stands behind the other.
    """

    def __init__(
        self, aggregate: IncrementalAggregate, fragments: JoinedFragments, position: Position
    ) -> None:
        contributions = aggregate.contributions()
        self.key = aggregate.key
        self.sources = aggregate.sources
        self.revision = aggregate.revision
        self._of_relations = aggregate.fragments is aggregate.relation_fragments
        self._room = aggregate.fragments.room()
        self.fragments = fragments
        self._source_ids = tuple(item.chunk_id for item in contributions[:MAX_SOURCES])
        self._created_at = contributions[0].added_at // 1_000_000
        self._settled_position = position
        """What is stored of the first contributions stands at this position or before."""
        self._chunks = array("Q", sorted(_hash_of(item) for item in contributions))
        self._file_paths: dict[str, None] = {}
        self._votes: dict[str, tuple[int, Position]] = {}
        self._keywords = WordCounts()
        self._steps = 0
        self._blocks: list[bytes] = []
        self._open_block: dict[int, Contribution] = {}
        self._fixed_size = sum(
            map(getsizeof, (fragments.text, self._source_ids, *self._source_ids))
        )
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
            + len(self.fragments.branch) * FRAGMENT
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
        describing_contributions = [item for item in new_contributions if self._describes(item)]
        if len(describing_contributions) > self._room or (
            self._of_relations and len(describing_contributions) < len(new_contributions)
        ):
            return False
        self._room -= len(describing_contributions)
        for contribution in describing_contributions:
            self.fragments.branch.add(contribution.description, position_of(contribution))
        for contribution in new_contributions:
            insort(self._chunks, _hash_of(contribution))
        self._add(new_contributions)
        return True

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

    def expanded(self, limits: SummaryLimits) -> IncrementalAggregate:
        """Return the aggregate of the same contributions that can be changed in any way."""
        aggregate = IncrementalAggregate(self.key, limits, self.sources)
        aggregate.put(sorted(self._contributions(), key=position_of))
        aggregate.revision = self.revision
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
        rows = [
            (
                item.kind,
                item.description,
                item.chunk_id,
                item.document_id,
                item.order,
                item.version,
                item.added_at,
                item.file_path,
                item.type,
                item.keywords,
                item.weight,
            )
            for item in self._open_block.values()
        ]
        block = zlib.compress(marshal.dumps(rows), 1)
        self._blocks.append(block)
        self._blocks_size += getsizeof(block)
        self._open_block.clear()

    def _contributions(self) -> Iterator[Contribution]:
        for block in self._blocks:
            rows = marshal.loads(zlib.decompress(block))  # noqa: S302
            for kind, *origin, type_, keywords, weight in rows:
                yield Contribution(
                    kind,
                    self.key,
                    *origin,
                    type=intern(type_),
                    keywords=tuple(map(intern, keywords)),
                    weight=weight,
                )
        yield from self._open_block.values()


def compacted(aggregate: IncrementalAggregate, limits: SummaryLimits) -> CompactAggregate | None:
    """Return the compact form of an aggregate that is large enough, is of its own key alone, and
    has changed enough since it was made; None if it must stay whole.
    """
    count = aggregate.contribution_count
    if count < MIN_CONTRIBUTIONS or aggregate.changes * CHANGES_SHARE < count:
        return None
    if aggregate.sources != (Source(aggregate.key),):
        return None
    fragments = aggregate.fragments
    texts = fragments.first(max(MAX_JOINED, limits.fragments))
    branch = fragments.unsummarized_branch() if len(texts) >= MAX_JOINED else None
    if branch is None:
        return None
    return CompactAggregate(
        aggregate,
        JoinedFragments(join([text for _, text in texts]), branch),
        max(texts[-1][0], aggregate.position_of_last_source()),
    )


def _hash_of(contribution: Contribution) -> int:
    """Return a number for its chunk, which no other has but by a chance of one in 10^19."""
    return hash(contribution.chunk_id) & _HASH
