"""Fills the caches of a workspace, so that no question has to."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.query.adapters.searches import ModelVectorSearches
from services.query.adapters.sources import Sources
from services.query.partitions import Partitions
from services.query.retrieval.caches.invalidation import MAX_EVENTS_UNASKED


@dataclass(frozen=True)
class SourceCaches:
    """`WarmCaches` of the sources that questions are answered from."""

    sources: Sources
    searches: ModelVectorSearches

    def workspaces(self) -> Sequence[str]:
        """See `WarmCaches.workspaces`."""
        return self.sources.cache.workspaces()

    async def warm(self, partitions: Partitions) -> None:
        """See `WarmCaches.warm`."""
        await self.sources.cache.refresh(
            partitions.graph, partitions.vectors, max_events=MAX_EVENTS_UNASKED
        )
        # The graph has the names, too, if it fits.
        await self.sources.reader.renew(partitions.graph)
        await self.sources.names.renew(partitions)
        async with self.searches.of(partitions.vectors.generation) as search:
            await search.reader.renew(partitions.vectors)
