"""What the merger needs of the outside, beside the graph."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from contracts.graph import Space
from services.merger.domain import Contribution

Key = tuple[str, ...]
"""An entity's name alone, or the two sorted names of a relation."""


class Contributions(Protocol):
    """What chunks say, by chunk and by key. Law held by `tests/contract/test_contributions.py`."""

    async def replace(
        self, space: Space, said: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """Each chunk now says exactly this, in this version; what an older version said and this one does not is marked
        as retracted. A newer version that already stands wins.

        Returns for each chunk every key whose fold this may change. Twice is once and returns the same keys, so a
        caller that was killed half way can do it all again.
        """
        ...

    async def revisions(self, space: Space, keys: Sequence[Key]) -> dict[Key, int]:
        """Count each key up by one and read it.

        Whoever then calls `of` sees every contribution that the number counts.
        """
        ...

    async def of(self, space: Space, keys: Sequence[Key]) -> dict[Key, list[Contribution]]:
        """All contributions to each key, retracted ones too, in no particular order."""
        ...
