"""Aggregates the contributions to one key at once: cheaper than an `IncrementalAggregate` where
they are few.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from sys import getsizeof
from typing import NamedTuple

from knowledge.contributions import Contribution, Key
from knowledge.descriptions import Description, SummaryLimits, describe
from knowledge.fold import Aggregate, active_contributions, aggregate, fragments
from knowledge.homonyms import Source

EMPTY = 300
OVERHEAD = 650
"""Bytes of few contributions without any, and of each besides description and keywords;
measured.
"""


class FragmentList:
    """Distinct fragments in canonical order, and the summaries of their groups. Offers what
    `DescriptionTree` offers to describe a key.
    """

    def __init__(self, key: Key, texts: Sequence[str], limits: SummaryLimits) -> None:
        self._key = key
        self._texts = texts
        self._limits = limits
        self._summaries: dict[str, str] = {}
        self._looked_up_hashes: set[str] = set()
        self._description = describe(key, texts, self._summaries, limits)

    def pending_summaries(self) -> set[str]:
        """Return hashes of groups whose summaries have to be looked up before `description` knows
        which are missing.
        """
        hashes = {group.hash for group in self._description.missing_summaries}
        return hashes - self._looked_up_hashes

    def apply_summaries(
        self, summaries: Mapping[str, str], looked_up_hashes: Collection[str]
    ) -> None:
        """Use these summaries, by hash of group; of the `looked_up_hashes` there are no others."""
        for hash in looked_up_hashes:
            if hash in summaries:
                self._summaries[hash] = summaries[hash]
        self._looked_up_hashes.update(looked_up_hashes)
        self._description = describe(self._key, self._texts, self._summaries, self._limits)

    def description(self, *, with_missing: bool = True) -> Description:
        """Return the description, its groups that lack a summary only `with_missing`."""
        if with_missing or not self._description.missing_summaries:
            return self._description
        return replace(self._description, missing_summaries=())


class FewContributions(NamedTuple):
    """The active contributions to one canonical key, which never change.

    `sources` and `revision`: as of an `IncrementalAggregate`.
    """

    key: Key
    sources: tuple[Source, ...]
    revision: int
    contributions: Sequence[Contribution]

    @property
    def size(self) -> int:
        """Return about how many bytes they take."""
        return EMPTY + sum(
            OVERHEAD
            + getsizeof(contribution.description)
            + sum(map(getsizeof, contribution.keywords))
            for contribution in self.contributions
        )

    def updated(self, changes: Iterable[Contribution]) -> list[Contribution]:
        """Return the contributions, those of changed chunks replaced."""
        by_chunk = {(item.names, item.chunk_id): item for item in self.contributions}
        by_chunk |= {(item.names, item.chunk_id): item for item in changes}
        return list(by_chunk.values())


class SmallAggregate:
    """What few contributions to one canonical key add up to, which never changes.

    `sources` and `revision`: as of an `IncrementalAggregate`. `few`: the contributions, which are
    all that is worth caching of it.
    """

    def __init__(
        self,
        key: Key,
        contributions: Iterable[Contribution],
        limits: SummaryLimits,
        sources: tuple[Source, ...] = (),
        revision: int = 0,
    ) -> None:
        self.key = key
        self.sources = sources
        self.revision = revision
        active = active_contributions(contributions)
        self.few = FewContributions(key, sources, revision, active)
        self.fragments = FragmentList(key, fragments(active), limits)

    def aggregate(self) -> Aggregate:
        """Return the fields that the contributions add up to."""
        return aggregate(self.few.contributions)
