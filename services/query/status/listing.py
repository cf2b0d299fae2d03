"""Lists documents by their status."""

from collections.abc import Collection

from contracts.graph import Partition
from services.query.status.document_status import DocumentStatus
from services.query.status.port import Documents

FAILED_STATUSES = ("failed", "partial")
"""Statuses of documents of which at least a part failed."""

PAGE_SIZE = 1000
"""Documents that are listed per read."""


async def list_documents(
    documents: Documents, partition: Partition, statuses: Collection[str]
) -> dict[str, DocumentStatus]:
    """Return all documents with any of these statuses, by id.

    Paging through a list that changes may skip a document, so the list is read again until it brings nothing new.
    """
    found: dict[str, DocumentStatus] = {}
    while True:
        previous_count, skip, more = len(found), 0, True
        while more:
            page = await documents.page(
                partition, statuses=list(statuses), order="id", descending=False, skip=skip, limit=PAGE_SIZE
            )
            found |= {status.id: status for status in page.documents}
            skip, more = skip + PAGE_SIZE, len(page.documents) == PAGE_SIZE
        if len(found) == previous_count:
            return found
