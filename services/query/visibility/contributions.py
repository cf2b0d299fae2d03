"""The port of what chunks contribute, as what is seen of the graph is made of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from contracts.graph import Partition, Provenance
from knowledge.contributions import Key


class PagedContributions(Protocol):
    """Reads what chunks contribute to an entity or relation, page by page."""

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """Return up to `limit` contributions after the key `after`, only those of the documents
        `among` if given.
        """
        ...


class Contributions(PagedContributions, Protocol):
    """Reads what chunks contribute, to many entities and relations at once, too."""

    async def edited_keys(self, partition: Partition, keys: Collection[Key]) -> set[Key]:
        """Return those of the keys that people have edited so that other contributions belong to
        them than those which have their names, or not all of these.
        """
        ...

    async def in_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Provenance]]:
        """Return by key what these of its chunks say of it, of a key that people have not edited.

        A key of which they say nothing has an empty list.
        """
        ...
