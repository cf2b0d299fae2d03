"""The port of what chunks contribute, as what is seen of the graph is made of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from contracts.graph import Partition, Provenance
from knowledge.contributions import Key


class PagedContributions(Protocol):
    """Reads what chunks contribute, page by page: see `ProvenanceReader`."""

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """See `ProvenanceReader.of`."""
        ...


class Contributions(PagedContributions, Protocol):
    """Reads what chunks contribute, to many entities and relations at once, too."""

    async def edited_keys(self, partition: Partition, keys: Collection[Key]) -> set[Key]:
        """See `ProvenanceReader.edited_keys`."""
        ...

    async def in_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Provenance]]:
        """See `ProvenanceReader.in_chunks`."""
        ...
