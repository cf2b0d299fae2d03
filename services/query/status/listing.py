"""Lists documents by their status."""

from collections.abc import Collection

from contracts.graph import Partition
from services.query.status.document_status import DocumentStatus
from services.query.status.port import Documents, Listing

FAILED_STATUSES = ("failed", "partial")
"""Statuses of documents of which at least a part failed."""

PAGE_SIZE = 1000
"""Documents that are listed per read."""


async def list_documents(
    documents: Documents, partition: Partition, statuses: Collection[str]
) -> dict[str, DocumentStatus]:
    """Return all documents with any of these statuses, by id.

    Paging through a list that changes may skip a document, so the list is read again until it
    brings nothing new.
    """
    status_of: dict[str, DocumentStatus] = {}
    while True:
        previous_count = len(status_of)
        skip = 0
        has_more = True
        while has_more:
            page = await documents.page(
                partition, Listing(statuses=list(statuses), skip=skip, limit=PAGE_SIZE)
            )
            status_of |= {status.id: status for status in page.documents}
            skip = skip + PAGE_SIZE
            has_more = len(page.documents) == PAGE_SIZE
        if len(status_of) == previous_count:
            return status_of
