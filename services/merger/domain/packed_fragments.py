"""Keeps the descriptions of one key in groups, the descriptions themselves compressed: see
`group_tree.py`.
"""

import marshal
import zlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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
        first_fragments = {text: position for position, text in fragments[:MAX_JOINED]}
        joined_texts = joined_fragments(list(first_fragments))
        self._text = SEPARATOR.join(joined_texts)
        self._is_closed = len(fragments) >= MAX_JOINED
        last_text = next(reversed(first_fragments)) if self._is_closed else joined_texts[-1]
        self.settled_position = first_fragments.get(last_text, fragments[0][0])
        self._leaves = _PackedLeaves(depth_of(len(fragments)))
        self._groups = GroupTree(key, limits, self._leaves.depth, self._leaves)
        self._groups.mark_stale(self._leaves.add(fragments))

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        return getsizeof(self._text) + self._leaves.size + self._groups.size

    def can_add(self, texts: Collection[str]) -> bool:
        """Return whether these, behind the settled position, leave text and levels as they are."""
        depth = self._leaves.depth
        room = maxsize if depth == LEVELS else MAX_FRAGMENTS[depth] - self._leaves.count
        return len(texts) <= room and all(
            not self._would_show(text) or self._leaves.has(text) for text in texts
        )

    def add(self, fragments: Fragments) -> None:
        """Add fragments that `can_add` takes, each at one more position."""
        self._groups.mark_stale(self._leaves.add(fragments))

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


class _PackedLeaves:
    """Fragments with their first positions, in order, compressed leaf by leaf.

    `depth`: the length of the path of a leaf; `count`: how many fragments there are; `size`: about
    how many bytes they take.
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.count = 0
        self.size = 0
        self._blocks: dict[str, bytes] = {}

    def texts(self, path: str) -> list[str]:
        """See `Leaves.texts`."""
        return [text for _, text in self._fragments(path)]

    def has(self, text: str) -> bool:
        """Return whether it is one of the fragments."""
        return text in self.texts(self._path(text))

    def add(self, fragments: Fragments) -> Collection[str]:
        """Add fragments, each at one more position; return the paths of their leaves."""
        by_path: dict[str, list[tuple[Position, str]]] = defaultdict(list)
        for position, text in fragments:
            by_path[self._path(text)].append((position, text))
        for path, new_fragments in by_path.items():
            former_block = self._blocks.get(path)
            block = zlib.compress(marshal.dumps(self._with_added(path, new_fragments)), 1)
            self._blocks[path] = block
            self.size += getsizeof(block) - (getsizeof(former_block) if former_block else -LEAF)
        return by_path

    def _with_added(self, path: str, new_fragments: Fragments) -> list[tuple[Position, str]]:
        positions = {text: position for position, text in self._fragments(path)}
        self.count -= len(positions)
        for position, text in new_fragments:
            positions[text] = min(positions.get(text, position), position)
        self.count += len(positions)
        return sorted((position, text) for text, position in positions.items())

    def _path(self, text: str) -> str:
        return sha256(text)[: self.depth]

    def _fragments(self, path: str) -> list[tuple[Position, str]]:
        block = self._blocks.get(path)
        return marshal.loads(zlib.decompress(block)) if block else []  # noqa: S302
