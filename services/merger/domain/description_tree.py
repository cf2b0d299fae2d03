"""Keeps the descriptions of one key in order, and in groups: see `group_tree.py`."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Mapping

from contracts.ids import sha256
from knowledge.contributions import Key
from knowledge.descriptions import MAX_JOINED, Description, SummaryLimits, depth_of, join
from knowledge.fold import Position
from services.merger.domain.group_tree import GroupTree
from services.merger.domain.ranked_values import DistinctValues, FirstPositionChange


class DescriptionTree:
    """Distinct fragments in canonical order, their groups, and the summaries that are stored of
    them.
    """

    def __init__(self, key: Key, limits: SummaryLimits) -> None:
        self._key = key
        self._limits = limits
        self._fragments = DistinctValues()
        self._regroup(0)

    def __len__(self) -> int:
        return len(self._fragments)

    def add(self, fragment: str, position: Position) -> None:
        """Add the fragment at one more position."""
        self._move(fragment, self._fragments.add(fragment, position))

    def remove(self, fragment: str, position: Position) -> None:
        """Remove the fragment from this position."""
        self._move(fragment, self._fragments.remove(fragment, position))

    def pending_summaries(self) -> set[str]:
        """See `GroupTree.pending_summaries`."""
        return self._groups.pending_summaries() if self.is_grouped else set()

    def apply_summaries(
        self, summaries: Mapping[str, str], looked_up_hashes: Collection[str]
    ) -> None:
        """See `GroupTree.apply_summaries`."""
        self._groups.apply_summaries(summaries, looked_up_hashes)

    def description(self, *, with_missing: bool = True) -> Description:
        """Return what `describe` returns for the same fragments and summaries; the text alone
        unless `with_missing`.
        """
        fragments = self._first_fragments()
        if not self._limits.are_exceeded_by(fragments):
            return Description(join(fragments))
        return self._groups.description(fragments, with_missing=with_missing)

    @property
    def is_grouped(self) -> bool:
        """Return whether the fragments are too many or too long to be joined."""
        return self._limits.are_exceeded_by(self._first_fragments())

    def with_positions(self) -> list[tuple[Position, str]]:
        """Return the fragments with their first positions, in canonical order."""
        return self._fragments.with_positions()

    def _first_fragments(self) -> list[str]:
        """Return enough of the first fragments to join them, and to tell whether the limits are
        exceeded.
        """
        return self._fragments.first(max(MAX_JOINED, self._limits.fragments))

    def _regroup(self, depth: int) -> None:
        """Make all groups anew, with that many levels below the topmost."""
        self._leaves = _FragmentLeaves()
        for position, fragment in self._fragments.with_positions():
            self._leaves.by_path[sha256(fragment)[:depth]].append((position, fragment))
        self._groups = GroupTree(self._key, self._limits, depth, self._leaves)
        self._groups.mark_stale(self._leaves.by_path)

    def _move(self, fragment: str, change: FirstPositionChange) -> None:
        old_position, new_position = change
        if old_position == new_position:
            return
        depth = depth_of(len(self._fragments))
        if depth != self._groups.depth:
            self._regroup(depth)
            return
        leaf = sha256(fragment)[:depth]
        fragments = self._leaves.by_path[leaf]
        if old_position is not None:
            del fragments[bisect_left(fragments, (old_position, fragment))]
        if new_position is not None:
            insort(fragments, (new_position, fragment))
        self._groups.mark_stale([leaf])


class _FragmentLeaves:
    """Fragments with their first positions, in order, by the path of their leaf."""

    def __init__(self) -> None:
        self.by_path: dict[str, list[tuple[Position, str]]] = defaultdict(list)

    def texts(self, path: str) -> list[str]:
        """See `Leaves.texts`."""
        return [fragment for _, fragment in self.by_path[path]]
