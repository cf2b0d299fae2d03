"""Keeps the groups of one key's descriptions up to date: a further fragment changes one group per
level.

Equals `describe`, which makes all groups anew. A group is updated only when a fragment or a summary
below it has changed, and its summary is looked up only once.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Mapping
from sys import maxsize
from typing import NamedTuple

from contracts.ids import sha256
from knowledge.contributions import Key
from knowledge.descriptions import (
    LEVELS,
    MAX_GROUP_SIZE,
    MAX_JOINED,
    Description,
    Group,
    SummaryLimits,
    depth_of,
    join,
)
from knowledge.fold import Position
from services.merger.domain.ranked_values import DistinctValues, FirstPositionChange

DIGITS = "0123456789abcdef"

Node = tuple[int, str]
"""A group: its level, and its path, the first hexadecimal digits of the hashes in it, one for each
level.
"""


class Branch(NamedTuple):
    """A group of a larger tree with all that is below it: the path of the group, and the number of
    levels of that tree.
    """

    path: str
    depth: int


class DescriptionTree:
    """Distinct fragments in canonical order, their groups, and the summaries that are stored of
    them.

    With a `branch`, the fragments and groups of that branch alone.
    """

    def __init__(self, key: Key, limits: SummaryLimits, branch: Branch | None = None) -> None:
        self._key = key
        self._limits = limits
        self._branch = branch
        self._fragments = DistinctValues()
        self._rebuild(branch.depth if branch else 0)

    def __len__(self) -> int:
        return len(self._fragments)

    def add(self, fragment: str, position: Position) -> None:
        """Add the fragment at one more position; nothing of another branch."""
        if self._branch and not sha256(fragment).startswith(self._branch.path):
            return
        self._move(fragment, self._fragments.add(fragment, position))

    def remove(self, fragment: str, position: Position) -> None:
        """Remove the fragment from this position."""
        self._move(fragment, self._fragments.remove(fragment, position))

    def pending_summaries(self) -> set[str]:
        """Return hashes of groups whose summaries have to be looked up before `description` knows
        which are missing.
        """
        if not self._limits.are_exceeded_by(self._first_fragments()):
            return set()
        self._update()
        return set(self._pending_hashes)

    def apply_summaries(
        self, summaries: Mapping[str, str], looked_up_hashes: Collection[str]
    ) -> None:
        """Use these summaries, by hash of group, instead of any before; of the `looked_up_hashes`
        there are no others.

        Idempotent: a summary that is used already changes nothing, and leaves nothing pending.
        """
        for hash in summaries.keys() & self._nodes.keys():
            for level, path in self._nodes[hash]:
                self._unsummarized_groups[level].pop(path, None)
                self._set_texts((level, path), [summaries[hash]])
            self._pending_hashes.discard(hash)
        self._pending_hashes.difference_update(looked_up_hashes)

    def description(self, *, with_missing: bool = True) -> Description:
        """Return what `describe` returns for the same fragments and summaries; the text alone
        unless `with_missing`.
        """
        texts = self._first_fragments()
        if not self._limits.are_exceeded_by(texts):
            return Description(join(texts))
        level = self._update()
        if level is None:
            return Description(join(self._texts[0].get("", ())))
        groups = self._unsummarized_groups[level] if with_missing else {}
        groups_by_hash: dict[str, Group] = {}
        for path in sorted(groups):
            groups_by_hash[groups[path].hash] = groups[path]
        return Description(join(texts), tuple(groups_by_hash.values()), is_whole=False)

    def first(self, count: int) -> list[tuple[Position, str]]:
        """Return at most `count` fragments with their first positions, in canonical order."""
        return self._fragments.with_positions(count)

    @property
    def lacks_summaries(self) -> bool:
        """Return whether some group lacks a summary; if it was looked up, `description` joins the
        first fragments.
        """
        return self._update() is not None

    def unsummarized_branch(self) -> "DescriptionTree | None":
        """Return the branch of a group that lacks a summary, on the lowest level where any does;
        None unless all of that level do, and were looked up.
        """
        if not self._limits.are_exceeded_by(self._first_fragments()) or self.pending_summaries():
            return None
        level = self._update()
        if level is None or len(self._unsummarized_groups[level]) < len(self._groups[level]):
            return None
        branch = Branch(min(self._groups[level]), self._depth)
        tree = DescriptionTree(self._key, self._limits, branch)
        for position, fragment in self._fragments.with_positions():
            tree.add(fragment, position)
        return tree

    def room(self) -> int:
        """Return how many further fragments need no further level of groups."""
        if self._depth == LEVELS:
            return maxsize
        return MAX_GROUP_SIZE * 16**self._depth - len(self)

    def _first_fragments(self) -> list[str]:
        """Return enough of the first fragments to join them, and to tell whether the limits are
        exceeded.
        """
        return self._fragments.first(max(MAX_JOINED, self._limits.fragments))

    def _rebuild(self, depth: int) -> None:
        """Make all groups anew, with that many levels below the topmost."""
        self._depth = depth
        self._leaves: dict[str, list[tuple[Position, str]]] = defaultdict(list)
        self._texts: list[dict[str, list[str]]] = [{} for _ in range(depth + 1)]
        self._groups: list[dict[str, Group]] = [{} for _ in range(depth + 1)]
        self._unsummarized_groups: list[dict[str, Group]] = [{} for _ in range(depth + 1)]
        self._stale_paths: list[set[str]] = [set() for _ in range(depth + 1)]
        self._nodes: dict[str, set[Node]] = defaultdict(set)
        self._pending_hashes: set[str] = set()
        for position, fragment in self._fragments.with_positions():
            self._leaves[sha256(fragment)[:depth]].append((position, fragment))
        self._stale_paths[depth] = set(self._leaves)

    def _move(self, fragment: str, change: FirstPositionChange) -> None:
        old_position, new_position = change
        if old_position == new_position:
            return
        depth = self._branch.depth if self._branch else depth_of(len(self._fragments))
        if depth != self._depth:
            self._rebuild(depth)
            return
        leaf = sha256(fragment)[:depth]
        texts = self._leaves[leaf]
        if old_position is not None:
            del texts[bisect_left(texts, (old_position, fragment))]
        if new_position is not None:
            insort(texts, (new_position, fragment))
        self._stale_paths[depth].add(leaf)

    def _update(self) -> int | None:
        """Update stale groups from the leaves up to the first level that lacks summaries; return
        it, or None.
        """
        top = len(self._branch.path) if self._branch else 0
        for level in range(self._depth, top - 1, -1):
            for path in self._stale_paths[level]:
                self._update_group((level, path))
            self._stale_paths[level].clear()
            if self._unsummarized_groups[level]:
                return level
        return None

    def _update_group(self, node: Node) -> None:
        level, path = node
        inputs = self._inputs(node)
        former_group = self._groups[level].get(path)
        if former_group:
            if former_group.texts == tuple(inputs):
                return  # the same group: its summary, or the lack of one, stays
            self._remove_group(node, former_group)
        if not self._limits.are_exceeded_by(inputs):
            self._set_texts(node, inputs)
        else:
            group = Group(self._key, tuple(inputs))
            self._texts[level].pop(path, None)
            self._groups[level][path] = self._unsummarized_groups[level][path] = group
            self._nodes[group.hash].add(node)
            self._pending_hashes.add(group.hash)

    def _remove_group(self, node: Node, group: Group) -> None:
        """Remove the group that was at this node."""
        level, path = node
        del self._groups[level][path]
        self._unsummarized_groups[level].pop(path, None)
        self._nodes[group.hash].remove(node)
        if not self._nodes[group.hash]:
            del self._nodes[group.hash]
            self._pending_hashes.discard(group.hash)

    def _inputs(self, node: Node) -> list[str]:
        level, path = node
        if level == self._depth:
            return [text for _, text in self._leaves[path]]
        below = self._texts[level + 1]
        return [text for digit in DIGITS for text in below.get(path + digit, ())]

    def _set_texts(self, node: Node, texts: list[str]) -> None:
        """Set the texts that represent the group in the level above; none without fragments.

        The group above becomes stale only if they differ: two replicas that apply summaries in turn
        come to an end.
        """
        level, path = node
        if self._texts[level].get(path) == texts:
            return
        self._texts[level][path] = texts
        if level:
            self._stale_paths[level - 1].add(path[:-1])
