"""Fills the caches of a workspace, so that no question has to."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.query.adapters.searches import ModelVectorSearches
from services.query.adapters.sources import Sources
from services.query.partitions import Partitions


@dataclass(frozen=True)
class SourceCaches:
    """`WarmCaches` of the sources that questions are answered from."""

    sources: Sources
    searches: ModelVectorSearches

    def workspaces(self) -> Sequence[str]:
        """See `WarmCaches.workspaces`."""
        return self.sources.cache.workspaces()

    async def follow(self, partitions: Partitions) -> None:
        """See `WarmCaches.follow`."""
        await self.sources.cache.refresh(partitions.graph, partitions.vectors, is_awaited=False)

    async def warm(self, partitions: Partitions) -> None:
        """See `WarmCaches.warm`."""
        await self.follow(partitions)
        # The graph has the names, too, if it fits.
        await self.sources.reader.renew(partitions.graph)
        await self.sources.names.renew(partitions)
        async with self.searches.of(partitions.vectors.generation) as search:
            await search.reader.renew(partitions.vectors)
