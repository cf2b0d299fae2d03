"""What the merger needs of the outside, beside the graph."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import DocumentBounds, Partition
from contracts.values import TokenUsage
from runtime.stores.graph.port import Graph
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.descriptions import Group, Limits
from services.merger.domain.edits import Edit
from services.merger.hubs import Hubs

Line = tuple[Key, str]
"""What one chunk says about one key: the key and the chunk's id."""


class Contributions(Protocol):
    """What chunks say, by chunk and by key. Law held by `tests/contract/test_contributions.py`.

    A newer version of a chunk, or of the extent of its document, takes back what an older one said: such
    contributions stay, marked as retracted, so that a late arrival finds them and cannot come to life again.
    """

    async def replace(
        self, space: Partition, said: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """Each chunk now says exactly this, in this version. A newer version that already stands wins.

        Returns for each chunk every key whose fold this may change. Twice is once and returns the same keys, so a
        caller that was killed half way can do it all again.
        """
        ...

    async def limit(self, space: Partition, extents: Mapping[str, DocumentBounds]) -> dict[str, set[Line]]:
        """Documents reach so far now: what chunks behind it said in older versions is retracted.

        Returns for each document all that this may have changed; twice is once, likewise.
        """
        ...

    async def revisions(self, space: Partition, keys: Sequence[Key]) -> dict[Key, int]:
        """Count each key up by one and read it.

        Whoever then calls `of` or `edits` sees every contribution and edit that the number counts.
        """
        ...

    async def counted(self, space: Partition, keys: Collection[Key]) -> dict[Key, int]:
        """The revisions as they are now, of keys that were ever counted."""
        ...

    async def of(self, space: Partition, keys: Collection[Key]) -> dict[Key, list[Contribution]]:
        """All contributions to each key, retracted ones too, in no particular order."""
        ...

    async def among(self, space: Partition, chunks: Mapping[Key, Collection[str]]) -> dict[Key, list[Contribution]]:
        """What these chunks say about each key, as `of` has it."""
        ...

    async def at(self, space: Partition, names: Collection[str]) -> set[Key]:
        """The keys with one of these names in them, to which anything was ever contributed."""
        ...

    async def put_folded(self, space: Partition, folded: Mapping[Key, tuple[int, Sequence[tuple[Key, int]]]]) -> None:
        """Tell readers what supports these present keys, unless a greater revision has told them.

        By key: the revision, and the raw keys with the version until which what they say does not count.
        """
        ...

    async def put_edits(self, space: Partition, edits: Sequence[Edit]) -> None:
        """Keep what people said. Twice is once."""
        ...

    async def edits(self, space: Partition) -> list[Edit]:
        """All that people said of this workspace."""
        ...


@dataclass(frozen=True)
class Summary:
    """What a language model made of a group of texts."""

    text: str
    usage: TokenUsage


class Summaries(Protocol):
    """Summaries that are in the log, by hash of their group."""

    async def put(self, space: Partition, summaries: Mapping[str, tuple[int, str]]) -> None:
        """Keep (place in the log, text) by hash; of two for one hash the earlier in the log stands. Twice is once."""
        ...

    async def get(self, space: Partition, hashes: Collection[str]) -> dict[str, str]:
        """The texts of those that are known among `hashes`."""
        ...


class Summarizer(Protocol):
    """A language model that condenses texts. Raises what `Chat` raises."""

    model: str
    prompt_version: str

    async def summarize(self, workspace: str, group: Group) -> Summary:
        """One text for all of them. What was paid for once is not paid for again in the same workspace."""
        ...


@dataclass(frozen=True)
class Merging:
    """What a fold is made from, and where it goes. `hubs` belong to one process and one value of `limits`."""

    said: Contributions
    summaries: Summaries
    graph: Graph
    limits: Limits
    hubs: Hubs
