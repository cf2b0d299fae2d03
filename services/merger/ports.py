"""What the merger needs of the outside, beside the graph."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from contracts.graph import Extent, Space
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.edits import Edit


class Contributions(Protocol):
    """What chunks say, by chunk and by key. Law held by `tests/contract/test_contributions.py`.

    A newer version of a chunk, or of the extent of its document, takes back what an older one said: such
    contributions stay, marked as retracted, so that a late arrival finds them and cannot come to life again.
    """

    async def replace(
        self, space: Space, said: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """Each chunk now says exactly this, in this version. A newer version that already stands wins.

        Returns for each chunk every key whose fold this may change. Twice is once and returns the same keys, so a
        caller that was killed half way can do it all again.
        """
        ...

    async def limit(self, space: Space, extents: Mapping[str, Extent]) -> dict[str, set[Key]]:
        """Documents reach so far now: what chunks behind it said in older versions is retracted.

        Returns for each document every key whose fold this may change; twice is once, likewise.
        """
        ...

    async def revisions(self, space: Space, keys: Sequence[Key]) -> dict[Key, int]:
        """Count each key up by one and read it.

        Whoever then calls `of` or `edits` sees every contribution and edit that the number counts.
        """
        ...

    async def of(self, space: Space, keys: Collection[Key]) -> dict[Key, list[Contribution]]:
        """All contributions to each key, retracted ones too, in no particular order."""
        ...

    async def at(self, space: Space, names: Collection[str]) -> set[Key]:
        """The keys with one of these names in them, to which anything was ever contributed."""
        ...

    async def put_edits(self, space: Space, edits: Sequence[Edit]) -> None:
        """Keep what people said. Twice is once."""
        ...

    async def edits(self, space: Space) -> list[Edit]:
        """All that people said of this workspace."""
        ...
