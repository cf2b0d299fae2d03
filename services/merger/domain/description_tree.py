"""Keeps the groups of one key's descriptions up to date: a further fragment changes one group per
level.

Equals `describe`, which makes all groups anew. A group is updated only when a fragment or a summary
below it has changed, and its summary is looked up only once.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Mapping

from contracts.ids import sha256
from knowledge.contributions import Key
from knowledge.descriptions import (
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


class DescriptionTree:
    """Distinct fragments in canonical order, their groups, and the summaries that are known of
    them.
    """

    def __init__(self, key: Key, limits: SummaryLimits) -> None:
        self._key, self._limits = key, limits
        self._fragments = DistinctValues()
        self._rebuild(0)

    def __len__(self) -> int:
        return len(self._fragments)

    def add(self, fragment: str, place: Position) -> None:
        """Add the fragment at one more position."""
        self._move(fragment, self._fragments.add(fragment, place))

    def remove(self, fragment: str, place: Position) -> None:
        """Remove the fragment from this position."""
        self._move(fragment, self._fragments.remove(fragment, place))

    def pending_summaries(self) -> set[str]:
        """Return hashes of groups whose summaries have to be looked up before `description` knows
        which are missing.
        """
        if not self._limits.are_exceeded_by(self._first()):
            return set()
        self._update()
        return set(self._pending)

    def apply_summaries(self, known: Mapping[str, str], asked: Collection[str]) -> None:
        """Use these summaries, by hash of group, instead of any before; of those `asked` for there
        are no others.

        Idempotent: a summary that is used already changes nothing, and leaves nothing pending.
        """
        for hash in known.keys() & self._nodes.keys():
            for level, place in self._nodes[hash]:
                self._unsummarized[level].pop(place, None)
                self._set_texts((level, place), [known[hash]])
            self._pending.discard(hash)
        self._pending -= set(asked)

    def description(self, *, missing: bool = True) -> Description:
        """Return what `describe` returns for the same fragments and summaries; the text alone
        unless `missing`.
        """
        first = self._first()
        if not self._limits.are_exceeded_by(first):
            return Description(join(first))
        level = self._update()
        if level is None:
            return Description(join(self._texts[0].get("", ())))
        groups = self._unsummarized[level] if missing else {}
        ordered = {groups[place].hash: groups[place] for place in sorted(groups)}
        return Description(join(first), tuple(ordered.values()), is_whole=False)

    def _first(self) -> list[str]:
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
        self._unsummarized: list[dict[str, Group]] = [{} for _ in range(depth + 1)]
        self._stale: list[set[str]] = [set() for _ in range(depth + 1)]
        self._nodes: dict[str, set[Node]] = defaultdict(set)
        self._pending: set[str] = set()
        for place, fragment in self._fragments.with_positions():
            self._leaves[sha256(fragment)[:depth]].append((place, fragment))
        self._stale[depth] = set(self._leaves)

    def _move(self, fragment: str, change: FirstPositionChange) -> None:
        before, after = change
        if before == after:
            return
        depth = depth_of(len(self._fragments))
        if depth != self._depth:
            self._rebuild(depth)
            return
        leaf = sha256(fragment)[:depth]
        texts = self._leaves[leaf]
        if before is not None:
            del texts[bisect_left(texts, (before, fragment))]
        if after is not None:
            insort(texts, (after, fragment))
        self._stale[depth].add(leaf)

    def _update(self) -> int | None:
        """Update stale groups from the leaves up to the first level that lacks summaries; return
        it, or None.
        """
        for level in range(self._depth, -1, -1):
            for place in self._stale[level]:
                self._update_group((level, place))
            self._stale[level].clear()
            if self._unsummarized[level]:
                return level
        return None

    def _update_group(self, node: Node) -> None:
        level, place = node
        inputs = self._inputs(node)
        if old := self._groups[level].get(place):
            if old.texts == tuple(inputs):
                return  # the same group: its summary, or the lack of one, stays
            self._forget(node, old)
        if not self._limits.are_exceeded_by(inputs):
            self._set_texts(node, inputs)
        else:
            group = Group(self._key, tuple(inputs))
            self._texts[level].pop(place, None)
            self._groups[level][place] = self._unsummarized[level][place] = group
            self._nodes[group.hash].add(node)
            self._pending.add(group.hash)

    def _forget(self, node: Node, group: Group) -> None:
        """Forget the group that was at this node."""
        level, place = node
        del self._groups[level][place]
        self._unsummarized[level].pop(place, None)
        self._nodes[group.hash].remove(node)
        if not self._nodes[group.hash]:
            del self._nodes[group.hash]
            self._pending.discard(group.hash)

    def _inputs(self, node: Node) -> list[str]:
        level, place = node
        if level == self._depth:
            return [text for _, text in self._leaves[place]]
        below = self._texts[level + 1]
        return [text for digit in DIGITS for text in below.get(place + digit, ())]

    def _set_texts(self, node: Node, texts: list[str]) -> None:
        """Set the texts that represent the group in the level above; none without fragments.

        The group above becomes stale only if they differ: two replicas that apply summaries in turn
        come to an end.
        """
        level, place = node
        if self._texts[level].get(place) == texts:
            return
        self._texts[level][place] = texts
        if level:
            self._stale[level - 1].add(place[:-1])
