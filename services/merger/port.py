"""The merger's ports, beside the graph: contributions of chunks, edits of users, summaries, and who
writes summaries.

A contribution is what one chunk says about one key. Its original key has the names of the document,
its canonical key those that edits have given them. A revision counts the changes of one canonical
key.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from contracts.graph import DocumentBounds, Partition
from contracts.values import TokenUsage
from knowledge.contributions import Contribution, Key
from knowledge.descriptions import Group, SummaryLimits
from knowledge.edit import Edit
from knowledge.homonyms import Source
from runtime.stores.graph.port import Graph
from services.merger.aggregate_cache import AggregateCache
from services.merger.domain.history import History
from services.merger.edits_cache import EditsCache

ContributionId = tuple[Key, str]
"""The original key and the chunk's id that identify a contribution."""


class Contributions(Protocol):
    """The repository of contributions and edits. `tests/contract/test_contributions.py` is its
    contract.

    A newer version of a chunk, or of the bounds of its document, retracts what an older one
    contributed: the names in it stay, so that a late delivery cannot bring it back, and a repeated
    one finds again what has to be folded.
    """

    async def replace(
        self, partition: Partition, contributions: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """Replace what each chunk has contributed by this version's contributions, unless a newer
        version is stored.

        Returns for each chunk every key whose fold this may change. Repeats do nothing and return
        the same keys, so a caller that was killed half way can repeat all of it. Count the changes
        of these keys afterwards.
        """
        ...

    async def apply_bounds(
        self, partition: Partition, bounds: Mapping[str, DocumentBounds]
    ) -> dict[str, set[ContributionId]]:
        """Retract what chunks behind the end of their document contributed in older versions.

        Returns for each document the contributions that this may have changed; repeats return the
        same.
        """
        ...

    async def count_changes(
        self,
        partition: Partition,
        chunks: Mapping[Key, Collection[str]],
        mentions: Mapping[Key, Collection[str]],
        summary_hashes: Mapping[Key, Collection[str]],
    ) -> dict[Key, History]:
        """Increment the revision of each key of `chunks`, note why, and return their histories.

        By key: `chunks`, those whose contributions may have changed; `mentions`, chunks that are to
        be found by original key from then on; `summary_hashes`, of the groups that have a summary
        now. Whoever reads a revision afterwards sees every contribution, mention and edit
        that was stored before it was counted.
        """
        ...

    async def histories(self, partition: Partition, keys: Collection[Key]) -> dict[Key, History]:
        """Return the histories of those keys that have one."""
        ...

    async def mentioning_chunks(
        self, partition: Partition, keys: Collection[Key]
    ) -> dict[Key, set[str]]:
        """Return the hashes of all chunks that ever contributed to each original key."""
        ...

    async def of_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Contribution]]:
        """Return what the chunks with these hashes contribute to each original key; retracted where
        it is nothing.
        """
        ...

    async def keys_with_names(self, partition: Partition, names: Collection[str]) -> set[Key]:
        """Return the relations with one of these names to which anything was ever contributed."""
        ...

    async def put_sources(
        self, partition: Partition, sources: Mapping[Key, tuple[int, Sequence[Source]]]
    ) -> None:
        """Store for readers whose contributions belong to these canonical keys, unless a greater
        revision is stored.

        By key: the revision and the sources.
        """
        ...

    async def put_edits(self, partition: Partition, edits: Sequence[Edit]) -> None:
        """Store edits and note it in their history. Repeats change no edit."""
        ...

    async def edit_history(self, partition: Partition) -> History:
        """Return how often edits were stored in this workspace, with the sequences of the last of
        them as notes.
        """
        ...

    async def edits(
        self, partition: Partition, sequences: Collection[int] | None = None
    ) -> list[Edit]:
        """Return all edits of this workspace, or those with these sequences in the log."""
        ...


@dataclass(frozen=True)
class Summary:
    """The summary of a group of texts, and what it cost."""

    text: str
    usage: TokenUsage


class Summaries(Protocol):
    """Summaries that are in the log, by hash of their group."""

    async def put(self, partition: Partition, summaries: Mapping[str, tuple[int, str]]) -> None:
        """Store (sequence, text) by hash; of two for one hash the earlier in the log counts.
        Repeats do nothing.
        """
        ...

    async def get(self, partition: Partition, hashes: Collection[str]) -> dict[str, str]:
        """Return the texts of those summaries that are stored."""
        ...


class Summarizer(Protocol):
    """A language model that summarises texts. Raises what `Chat` raises."""

    model: str
    prompt_version: str

    async def summarize(self, workspace: str, group: Group) -> Summary:
        """Return one text for all texts of the group; a repeat in the same workspace is not paid
        for again.
        """
        ...


@dataclass(frozen=True)
class MergeDependencies:
    """What merging needs: repositories, graph, limits, and caches that belong to one process and
    these limits.
    """

    contributions: Contributions
    summaries: Summaries
    graph: Graph
    limits: SummaryLimits
    cache: AggregateCache
    edits: EditsCache = field(default_factory=EditsCache)
