"""The documents that a viewer sees, as if there were no others."""

from collections.abc import Collection
from dataclasses import dataclass
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

    async def page(
        self, partition: Partition, listing: Listing, among: frozenset[str] | None = None
    ) -> Page:
        """See `Documents.page`."""
        ...

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """See `Documents.by_track_id`."""
        ...

    async def counts(
        self, partition: Partition, among: frozenset[str] | None = None
    ) -> dict[str, int]:
        """See `Documents.counts`."""
        ...


@dataclass(frozen=True)
class RestrictedDocuments:
    """`ReadDocuments` of these ids alone."""

    documents: ReadDocuments
    ids: frozenset[str]

    async def get(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, tuple[DocumentStatus, int]]:
        """See `Documents.get`."""
        return await self.documents.get(partition, [id for id in ids if id in self.ids])

    async def page(
        self, partition: Partition, listing: Listing, among: frozenset[str] | None = None
    ) -> Page:
        """See `Documents.page`."""
        return await self.documents.page(partition, listing, self._visible(among))

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """See `Documents.by_track_id`."""
        statuses = await self.documents.by_track_id(partition, track_id)
        return [status for status in statuses if status.id in self.ids]

    async def counts(
        self, partition: Partition, among: frozenset[str] | None = None
    ) -> dict[str, int]:
        """See `Documents.counts`."""
        return await self.documents.counts(partition, self._visible(among))

    def _visible(self, ids: frozenset[str] | None) -> frozenset[str]:
        return self.ids if ids is None else self.ids & ids


async def documents_seen_by(
    viewer: Viewer | None, documents: ReadDocuments, visibility: Visibility, workspace: str
) -> ReadDocuments:
    """Return the documents that the viewer sees; for None all."""
    if viewer is None:
        return documents
    visible = await visibility.of(workspace, viewer)
    return RestrictedDocuments(documents, visible.ids)
