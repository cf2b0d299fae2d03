"""What the routes of documents work with."""

from dataclasses import dataclass
from typing import Annotated

from contracts.graph import Partition
from runtime.bus.port import Blobs, LiveGenerations, Log
from services.gateway.dependencies import depends_on
from services.gateway.documents.adding import DocumentPublisher
from services.gateway.documents.reading import Readings
from services.gateway.documents.request_records import RequestRecords
from services.gateway.documents.scanning import Scans
from services.gateway.documents.uploading import ReadLimits
from services.query.answering.port import ModelResultCaches
from services.query.partitions import status_partition
from services.query.status.port import Documents
from services.query.visibility.documents import ReadDocuments, documents_seen_by
from services.query.visibility.port import Visibility
from services.query.visibility.viewer import Viewer


@dataclass(frozen=True)
class DocumentDependencies:
    """Where documents are added to, and where their status is read. `read_limits` bound the reading
    of files in this process, `scans` and `readings` are those under way in it.
    """

    log: Log
    blobs: Blobs
    pointers: LiveGenerations
    documents: Documents
    visibility: Visibility
    caches: ModelResultCaches
    requests: RequestRecords
    scans: Scans
    readings: Readings
    read_limits: ReadLimits

    def publisher(self, workspace: str) -> DocumentPublisher:
        """Return what takes the documents of the workspace."""
        return DocumentPublisher(self.log, self.blobs, workspace, self.requests)

    async def partition(self, workspace: str) -> Partition:
        """Return where the status of the workspace's documents is read."""
        return await status_partition(self.pointers, workspace)

    async def documents_of(self, viewer: Viewer | None, workspace: str) -> ReadDocuments:
        """Return the documents that the viewer sees."""
        return await documents_seen_by(viewer, self.documents, self.visibility, workspace)


DocumentDeps = Annotated[DocumentDependencies, depends_on(DocumentDependencies)]
