"""Makes the description of a key from those of many chunks: joined while they are few, else summarised in groups.

Groups form a tree that depends on the set of fragments only: a fragment belongs to the group its own hash names, and
the number of levels follows from the number of fragments. So a new fragment changes one group per level, and the same
set gives the same groups however it came together (LightRAG folds a summary into the next one, which does not).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from contracts.ids import SEPARATOR, sha256
from services.merger.domain.contributions import Key

MAX_DESCRIPTION = 6000
"""Characters of a joined description; fragments that do not fit are left out."""

MAX_JOINED = 200
"""Fragments that a joined description considers: the ten thousandth would hardly find room."""

MAX_GROUP_SIZE = 32
"""Fragments up to which one summary reads all of them; each level below it has 16 times as many groups."""

LEVELS = 4
"""Hexadecimal digits of the hash that may be used: 65,536 groups."""


@dataclass(frozen=True)
class SummaryLimits:
    """When fragments are summarised rather than joined. LightRAG's FORCE_LLM_SUMMARY_ON_MERGE, SUMMARY_MAX_TOKENS."""

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
    """A description, and the groups whose summaries are missing; while any is, `text` joins the fragments that fit."""

    text: str
    missing_summaries: tuple[Group, ...] = ()


def describe(key: Key, fragments: Sequence[str], summaries: Mapping[str, str], limits: SummaryLimits) -> Description:
    """Return the description of distinct fragments in canonical order; `summaries` are by hash of group."""
    if not limits.are_exceeded_by(fragments):
        return Description(join(fragments))
    depth = depth_of(len(fragments))
    texts = _grouped((sha256(fragment)[:depth], [fragment]) for fragment in fragments)
    while True:
        condensed: dict[str, list[str]] = {}
        lacking: dict[str, Group] = {}
        for place, inputs in sorted(texts.items()):
            group = Group(key, tuple(inputs))
            if not limits.are_exceeded_by(inputs):
                condensed[place] = inputs
            elif group.hash in summaries:
                condensed[place] = [summaries[group.hash]]
            else:
                lacking[group.hash] = group
        if lacking:
            return Description(join(fragments), tuple(lacking.values()))
        if not depth:
            return Description(join(condensed[""]))
        depth -= 1
        texts = _grouped((place[:depth], inputs) for place, inputs in condensed.items())


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its bytes, in any script. It need not be exact, only fixed."""
    return len(text.encode()) // 4


def join(fragments: Sequence[str], limit: int = MAX_DESCRIPTION) -> str:
    """Distinct fragments in order, joined by the separator; those that would exceed `limit` are left out."""
    kept: list[str] = []
    room = limit
    for fragment in dict.fromkeys(islice(fragments, MAX_JOINED)):
        cost = len(fragment) + (len(SEPARATOR) if kept else 0)
        if cost <= room:
            kept.append(fragment)
            room -= cost
        elif not kept:
            return fragment[:limit]
    return SEPARATOR.join(kept)


def depth_of(count: int) -> int:
    """Levels below the topmost group for that many fragments."""
    return next((level for level in range(LEVELS) if count <= MAX_GROUP_SIZE * 16**level), LEVELS)


def _grouped(texts: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Texts by the place of their group, in the order they come."""
    found: dict[str, list[str]] = defaultdict(list)
    for place, some in texts:
        found[place] += some
    return found
