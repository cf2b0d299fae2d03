"""Lists documents by their status."""

from collections.abc import Collection

from contracts.graph import Partition
from runtime.batching import batched
from services.query.status.document_status import DocumentStatus
from services.query.status.port import Documents

FAILED_STATUSES = ("failed", "partial")
"""Statuses of documents of which at least a part failed."""

READ_AT_ONCE = 1000
"""Documents that are read at once."""


async def list_documents(
    documents: Documents, partition: Partition, statuses: Collection[str]
) -> dict[str, DocumentStatus]:
    """Return all documents with any of these statuses, by id.

    A list that changes while it is read may lack a document, so it is read again until it brings
    nothing new.
    """
    status_of: dict[str, DocumentStatus] = {}
    ids_read = set[str]()
    while new_ids := await documents.ids_with_status(partition, statuses) - ids_read:
        for batch in batched(sorted(new_ids), READ_AT_ONCE):
            states = await documents.get(partition, batch)
            status_of |= {
                id: state for id, (state, _) in states.items() if state.status in statuses
            }
        ids_read |= new_ids
    return status_of
