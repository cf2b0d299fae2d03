"""Tries again what failed of documents: only that, so finished chunks are not paid for twice."""

from collections.abc import Sequence

from contracts.graph import Partition
from publishing.retries import named_ids
from services.query.status.listing import FAILED_STATUSES, list_documents
from services.query.status.port import Documents


async def ids_to_retry(
    documents: Documents, partition: Partition, names: Sequence[str]
) -> list[str]:
    """Return the ids that these ids or file names mean; without any, those of all that failed."""
    failed_documents = await list_documents(documents, partition, FAILED_STATUSES)
    file_paths = {id: status.file_path for id, status in failed_documents.items()}
    return named_ids(names, file_paths) if names else list(failed_documents)
