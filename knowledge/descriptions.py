"""Makes the description of a key from those of many chunks: joined while they are few, else
summarised in groups.

Groups form a tree that depends on the set of fragments only: a fragment belongs to the group its
own hash names, and the number of levels follows from the number of fragments. So a new fragment
changes one group per level, and the same set gives the same groups however it came together
(LightRAG folds a summary into the next one, which does not).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from contracts.ids import SEPARATOR, sha256
from knowledge.contributions import Key

MAX_DESCRIPTION = 6000
"""Characters of a joined description; fragments that do not fit are left out."""

MAX_JOINED = 200
"""Fragments that a joined description considers; further ones would not fit."""

MAX_GROUP_SIZE = 32
"""Fragments up to which one summary reads all of them; each level below it has 16 times as many
groups.
"""

LEVELS = 4
"""Hexadecimal digits of the hash that may be used: 65,536 groups."""

MAX_FRAGMENTS = tuple(MAX_GROUP_SIZE * 16**level for level in range(LEVELS))
"""Fragments up to which so many levels below the topmost group are enough."""


@dataclass(frozen=True)
class SummaryLimits:
    """When fragments are summarised rather than joined. LightRAG's FORCE_LLM_SUMMARY_ON_MERGE,
    SUMMARY_MAX_TOKENS.
    """

    fragments: int = 8
    tokens: int = 1200

    def are_exceeded_by(self, texts: Sequence[str]) -> bool:
        """Return whether the texts are too many or too long to be joined."""
        if len(texts) < 2:
            return False
        return len(texts) >= self.fragments or sum(map(estimated_tokens, texts)) >= self.tokens


@dataclass(frozen=True)
class Group:
    """Texts about one key that one summary replaces, in canonical order."""

    key: Key
    texts: tuple[str, ...]

    @cached_property
    def hash(self) -> str:
        """Identifies the summary: of two for the same inputs the first in the log counts."""
        return sha256("\x1f".join((*self.key, "", *self.texts)))


@dataclass(frozen=True)
class Description:
    """A description, and the groups whose summaries are missing; while any is, `text` joins the
    fragments that fit.
    """

    text: str
    missing_summaries: tuple[Group, ...] = ()
    is_whole: bool = True
    """Whether no summary is missing."""


def describe(
    key: Key, fragments: Sequence[str], summaries: Mapping[str, str], limits: SummaryLimits
) -> Description:
    """Return the description of distinct fragments in canonical order; `summaries` are by hash of
    group.
    """
    if not limits.are_exceeded_by(fragments):
        return Description(join(fragments))
    depth = depth_of(len(fragments))
    texts = _by_path((sha256(fragment)[:depth], [fragment]) for fragment in fragments)
    while True:
        representatives: dict[str, list[str]] = {}
        missing_summaries: dict[str, Group] = {}
        for path, inputs in sorted(texts.items()):
            group = Group(key, tuple(inputs))
            if not limits.are_exceeded_by(inputs):
                representatives[path] = inputs
            elif group.hash in summaries:
                representatives[path] = [summaries[group.hash]]
            else:
                missing_summaries[group.hash] = group
        if missing_summaries:
            return Description(join(fragments), tuple(missing_summaries.values()), is_whole=False)
        if not depth:
            return Description(join(representatives[""]))
        depth -= 1
        texts = _by_path((path[:depth], inputs) for path, inputs in representatives.items())


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: a quarter of its bytes. It need not be exact, but
    must never change.
    """
    return len(text.encode()) // 4


def join(fragments: Sequence[str], limit: int = MAX_DESCRIPTION) -> str:
    """Return the distinct fragments in order, joined by the separator, without those that would
    exceed `limit`.
    """
    return SEPARATOR.join(joined_fragments(fragments, limit))


def joined_fragments(fragments: Sequence[str], limit: int = MAX_DESCRIPTION) -> list[str]:
    """Return the fragments that `join` joins."""
    parts: list[str] = []
    characters_left = limit
    for fragment in dict.fromkeys(islice(fragments, MAX_JOINED)):
        cost = len(fragment) + (len(SEPARATOR) if parts else 0)
        if cost <= characters_left:
            parts.append(fragment)
            characters_left -= cost
        elif not parts:
            return [fragment[:limit]]
    return parts


def depth_of(count: int) -> int:
    """Return the number of levels below the topmost group for that many fragments."""
    return bisect_left(MAX_FRAGMENTS, count)


def _by_path(texts: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Return the texts of each group by its path, in the order given."""
    groups: dict[str, list[str]] = defaultdict(list)
    for path, fragments in texts:
        groups[path] += fragments
    return groups
