"""Documents by id or file name, and passages by their place in one."""

from collections.abc import Iterable
from dataclasses import dataclass

from contracts.graph import Partition
from contracts.ids import chunk_id, ids_of_name
from contracts.spelling import spellings
from runtime.errors import NotFound
from services.query.passage import Passage
from services.query.status.document_status import STATUSES, DocumentStatus
from services.query.status.port import Passages
from services.query.visibility.documents import ReadDocuments


@dataclass(frozen=True)
class StoredDocuments:
    """Documents and passages of one workspace, and the partition in which they are read."""

    documents: ReadDocuments
    passages: Passages
    partition: Partition


async def document_ids(stored_documents: StoredDocuments, names: Iterable[str]) -> list[str]:
    """Return the ids of documents that are named by id or file name. Raises NotFound for one that
    is not there.
    """
    ids: dict[str, None] = {}
    for name in names:
        status = await document_named(stored_documents, name)
        ids[status.id] = None
    return list(ids)


async def document_named(stored_documents: StoredDocuments, name: str) -> DocumentStatus:
    """Return the state of a document by its id or file name. Raises NotFound."""
    candidates = list(dict.fromkeys((*spellings(name), *ids_of_name(name))))
    statuses = await stored_documents.documents.get(stored_documents.partition, candidates)
    for id in candidates:
        if id in statuses and statuses[id][0].status in STATUSES:
            return statuses[id][0]
    raise NotFound(
        f"there is no document {name!r}: give its id or its file name as the list of documents "
        "has them"
    )


async def passages_around(
    stored_documents: StoredDocuments, document_id: str, order: int, *, before: int, after: int
) -> tuple[DocumentStatus, list[Passage]]:
    """Return the state of a document, and the passage at that place with those before and behind
    it, in order. Raises NotFound.
    """
    statuses = await stored_documents.documents.get(stored_documents.partition, [document_id])
    status, _ = statuses.get(document_id, (None, 0))
    if status is None or status.status not in STATUSES:
        raise NotFound(f"there is no document {document_id!r}")
    first = max(0, order - before)
    ids = [chunk_id(document_id, number) for number in range(first, order + after + 1)]
    passages = await stored_documents.passages.get(stored_documents.partition, ids)
    if chunk_id(document_id, order) not in passages:
        raise NotFound(
            f"the document {document_id!r} has no passage {order}: it has {status.chunk_count}, "
            "counted from 0"
        )
    return status, [passages[id] for id in ids if id in passages]
