"""The documents that a viewer sees, as if there were no others."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from contracts.graph import Partition
from services.query.status.document_status import DocumentStatus
from services.query.status.port import Listing, Page
from services.query.visibility.port import Visibility
from services.query.visibility.viewer import Viewer


class ReadDocuments(Protocol):
    """What readers ask of `Documents`."""

    async def get(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, tuple[DocumentStatus, int]]:
        """See `Documents.get`."""
        ...

    async def page(self, partition: Partition, listing: Listing) -> Page:
        """See `Documents.page`."""
        ...

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """See `Documents.by_track_id`."""
        ...

    async def counts(self, partition: Partition) -> dict[str, int]:
        """See `Documents.counts`."""
        ...


@dataclass(frozen=True)
class RestrictedDocuments:
    """`ReadDocuments` of these ids alone. A page and the counts read the states of all."""

    documents: ReadDocuments
    ids: frozenset[str]

    async def get(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, tuple[DocumentStatus, int]]:
        """See `Documents.get`."""
        return await self.documents.get(partition, [id for id in ids if id in self.ids])

    async def page(self, partition: Partition, listing: Listing) -> Page:
        """See `Documents.page`."""
        statuses = await self._listed(partition, replace(listing, skip=0, limit=0))
        end = listing.skip + listing.limit if listing.limit else None
        return Page(statuses[listing.skip : end], len(statuses))

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """See `Documents.by_track_id`."""
        statuses = await self.documents.by_track_id(partition, track_id)
        return [status for status in statuses if status.id in self.ids]

    async def counts(self, partition: Partition) -> dict[str, int]:
        """See `Documents.counts`."""
        statuses = await self._listed(partition, Listing())
        return dict(Counter(status.status for status in statuses))

    async def _listed(self, partition: Partition, listing: Listing) -> Sequence[DocumentStatus]:
        page = await self.documents.page(partition, listing)
        return [status for status in page.documents if status.id in self.ids]


async def documents_seen_by(
    viewer: Viewer | None, documents: ReadDocuments, visibility: Visibility, workspace: str
) -> ReadDocuments:
    """Return the documents that the viewer sees; for None all."""
    if viewer is None:
        return documents
    visible = await visibility.of(workspace, viewer)
    return RestrictedDocuments(documents, visible.ids)
