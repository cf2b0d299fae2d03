"""Keeps the descriptions of one key in groups, the descriptions themselves compressed: see
`group_tree.py`.
"""

import marshal
import zlib
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import getsizeof, maxsize

from contracts.ids import SEPARATOR, sha256
from knowledge.contributions import Key
from knowledge.descriptions import (
    LEVELS,
    MAX_DESCRIPTION,
    MAX_FRAGMENTS,
    MAX_JOINED,
    Description,
    SummaryLimits,
    depth_of,
    joined_fragments,
)
from knowledge.fold import Position
from services.merger.domain.group_tree import GroupTree

Fragments = Sequence[tuple[Position, str]]
"""Distinct fragments with their first positions."""

LEAF = 200
"""Bytes of a leaf besides its fragments."""


class PackedFragments:
    """Distinct fragments in compressed leaves, their groups, and the summaries that are stored of
    them. Further fragments can be added that leave the joined text as it is.

    `settled_position`: of the last fragment that is joined, or that counts as one of the first.
    Offers what `DescriptionTree` offers to describe a key.
    """

    def __init__(
        self, key: Key, limits: SummaryLimits, fragments: Fragments, *, is_grouped: bool
    ) -> None:
        self._is_grouped = is_grouped
        self._count = len(fragments)
        first_fragments = {text: position for position, text in fragments[:MAX_JOINED]}
        joined = joined_fragments(list(first_fragments))
        self._text = SEPARATOR.join(joined)
        self._is_closed = len(fragments) >= MAX_JOINED
        last = next(reversed(first_fragments)) if self._is_closed else joined[-1]
        self.settled_position = first_fragments.get(last, fragments[0][0])
        depth = depth_of(len(fragments))
        leaves: dict[str, list[tuple[Position, str]]] = defaultdict(list)
        for position, text in fragments:
            leaves[sha256(text)[:depth]].append((position, text))
        self._leaves = {path: _packed(of_leaf) for path, of_leaf in leaves.items()}
        self._leaves_size = sum(map(getsizeof, self._leaves.values()))
        self._groups = GroupTree(key, limits, depth, self._leaf_texts)
        self._groups.mark_stale(self._leaves)

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        return (
            getsizeof(self._text) + self._leaves_size + len(self._leaves) * LEAF + self._groups.size
        )

    def can_add(self, texts: Collection[str]) -> bool:
        """Return whether these, behind the settled position, leave text and levels as they are."""
        depth = self._groups.depth
        room = maxsize if depth == LEVELS else MAX_FRAGMENTS[depth] - self._count
        return len(texts) <= room and all(
            not self._would_show(text) or self._has(text) for text in texts
        )

    def add(self, fragments: Fragments) -> None:
        """Add fragments that `can_add` takes, each at one more position."""
        depth = self._groups.depth
        by_leaf: dict[str, list[tuple[Position, str]]] = defaultdict(list)
        for position, text in fragments:
            by_leaf[sha256(text)[:depth]].append((position, text))
        for path, added in by_leaf.items():
            self._add_to(path, added)
        self._groups.mark_stale(by_leaf)

    def pending_summaries(self) -> set[str]:
        """See `GroupTree.pending_summaries`."""
        return self._groups.pending_summaries() if self._is_grouped else set()

    def apply_summaries(
        self, summaries: Mapping[str, str], looked_up_hashes: Collection[str]
    ) -> None:
        """See `GroupTree.apply_summaries`."""
        self._groups.apply_summaries(summaries, looked_up_hashes)

    def description(self, *, with_missing: bool = True) -> Description:
        """See `DescriptionTree.description`."""
        if not self._is_grouped:
            return Description(self._text)
        return self._groups.description([self._text], with_missing=with_missing)

    def _would_show(self, text: str) -> bool:
        """Return whether a new fragment could change the joined text, or that it is all."""
        if not self._is_grouped:
            return True
        has_room = len(self._text) + len(SEPARATOR) + len(text) <= MAX_DESCRIPTION
        return has_room and not self._is_closed

    def _has(self, text: str) -> bool:
        path = sha256(text)[: self._groups.depth]
        return text in self._leaf_texts(path)

    def _add_to(self, path: str, added: Fragments) -> None:
        fragments = self._unpacked(path)
        positions = {text: position for position, text in fragments}
        for position, text in added:
            former_position = positions.get(text)
            if former_position is not None and former_position <= position:
                continue
            if former_position is None:
                self._count += 1
            else:
                fragments.remove((former_position, text))
            positions[text] = position
            insort(fragments, (position, text))
        former_leaf = self._leaves.get(path)
        self._leaves[path] = _packed(fragments)
        self._leaves_size += getsizeof(self._leaves[path])
        self._leaves_size -= getsizeof(former_leaf) if former_leaf else 0

    def _leaf_texts(self, path: str) -> list[str]:
        return [text for _, text in self._unpacked(path)]

    def _unpacked(self, path: str) -> list[tuple[Position, str]]:
        leaf = self._leaves.get(path)
        return marshal.loads(zlib.decompress(leaf)) if leaf else []  # noqa: S302


def _packed(fragments: Iterable[tuple[Position, str]]) -> bytes:
    return zlib.compress(marshal.dumps(list(fragments)), 1)
