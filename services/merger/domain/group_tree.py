"""Keeps the groups of one key's fragments up to date: a further fragment changes one group per
level.

Equals `describe`, which makes all groups anew. A group is updated only when a fragment or a summary
below it has changed, and its summary is looked up only once. Where the fragments are is the
caller's business: all at hand (`description_tree.py`) or compressed (`packed_fragments.py`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from knowledge.contributions import Key
from knowledge.descriptions import Description, Group, SummaryLimits, join

DIGITS = "0123456789abcdef"

GROUP = 600
"""Bytes of a group besides its texts; measured."""

TEXT = 60
"""Bytes of a text besides its characters."""

Node = tuple[int, str]
"""A group: its level, and its path, the first hexadecimal digits of the hashes in it, one for each
level.
"""


class Leaves(Protocol):
    """The fragments of one key by leaf, the lowest groups. No object that a tree of groups belongs
    to, or both would wait for the garbage collector.
    """

    def texts(self, path: str) -> list[str]:
        """Return the distinct fragments of a leaf in canonical order."""
        ...


class GroupTree:
    """The groups of a topmost level and `depth` levels below it, and the summaries that are stored
    of them.

    `size`: about how many bytes it takes besides the leaves.
    """

    def __init__(self, key: Key, limits: SummaryLimits, depth: int, leaves: Leaves) -> None:
        self.depth = depth
        self.size = 0
        self._key = key
        self._limits = limits
        self._leaves = leaves
        # What represents each group in the level above: its summary, or all its texts.
        self._texts: list[dict[str, list[str]]] = [{} for _ in range(depth + 1)]
        # Only of groups that are too large, so need a summary. Their texts are read again.
        self._hashes: list[dict[str, str]] = [{} for _ in range(depth + 1)]
        self._unsummarized_paths: list[set[str]] = [set() for _ in range(depth + 1)]
        self._stale_paths: list[set[str]] = [set() for _ in range(depth + 1)]
        self._nodes: dict[str, set[Node]] = defaultdict(set)
        self._pending_hashes: set[str] = set()

    def mark_stale(self, paths: Iterable[str]) -> None:
        """Note that the fragments of these leaves have changed."""
        self._stale_paths[self.depth].update(paths)

    def pending_summaries(self) -> set[str]:
        """Return hashes of groups whose summaries have to be looked up before `description` knows
        which are missing.
        """
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
                self._unsummarized_paths[level].discard(path)
                self._set_texts((level, path), [summaries[hash]])
            self._pending_hashes.discard(hash)
        self._pending_hashes.difference_update(looked_up_hashes)

    def description(self, fragments: Sequence[str], *, with_missing: bool) -> Description:
        """Return the summary of all groups; while any lacks one, the first `fragments` joined.
        Which ones lack it only `with_missing`.
        """
        level = self._update()
        if level is None:
            return Description(join(self._texts[0].get("", ())))
        groups: dict[str, Group] = {}
        for path in sorted(self._unsummarized_paths[level]) if with_missing else ():
            group = Group(self._key, tuple(self._inputs((level, path))))
            groups[group.hash] = group
        return Description(join(fragments), tuple(groups.values()), is_whole=False)

    def _update(self) -> int | None:
        """Update stale groups from the leaves up to the first level that lacks summaries; return
        it, or None.
        """
        for level in range(self.depth, -1, -1):
            for path in self._stale_paths[level]:
                self._update_group((level, path))
            self._stale_paths[level].clear()
            if self._unsummarized_paths[level]:
                return level
        return None

    def _update_group(self, node: Node) -> None:
        level, path = node
        inputs = self._inputs(node)
        if not self._limits.are_exceeded_by(inputs):
            self._remove_group(node)
            self._set_texts(node, inputs)
            return
        hash = Group(self._key, tuple(inputs)).hash
        if hash == self._hashes[level].get(path):
            return  # the same group: its summary, or the lack of one, stays
        self._remove_group(node)
        self._resize(self._texts[level].pop(path, ()), -1)
        self._hashes[level][path] = hash
        self._unsummarized_paths[level].add(path)
        self._nodes[hash].add(node)
        self._pending_hashes.add(hash)
        self.size += GROUP

    def _remove_group(self, node: Node) -> None:
        """Remove the group that was at this node, if it needed a summary."""
        level, path = node
        hash = self._hashes[level].pop(path, None)
        if hash is None:
            return
        self.size -= GROUP
        self._unsummarized_paths[level].discard(path)
        self._nodes[hash].remove(node)
        if not self._nodes[hash]:
            del self._nodes[hash]
            self._pending_hashes.discard(hash)

    def _inputs(self, node: Node) -> list[str]:
        level, path = node
        if level == self.depth:
            return self._leaves.texts(path)
        below = self._texts[level + 1]
        return [text for digit in DIGITS for text in below.get(path + digit, ())]

    def _set_texts(self, node: Node, texts: list[str]) -> None:
        """Set the texts that represent the group in the level above; none without fragments.

        The group above becomes stale only if they differ: two replicas that apply summaries in turn
        come to an end.
        """
        level, path = node
        former_texts = self._texts[level].get(path)
        if former_texts == texts:
            return
        self._resize(former_texts or (), -1)
        self._resize(texts, 1)
        self._texts[level][path] = texts
        if level:
            self._stale_paths[level - 1].add(path[:-1])

    def _resize(self, texts: Iterable[str], sign: int) -> None:
        """Count texts that came or went."""
        self.size += sign * sum(TEXT + len(text) for text in texts)
