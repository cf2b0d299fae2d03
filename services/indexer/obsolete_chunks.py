"""Removes the vectors of chunks that their document no longer has."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence, Set

from contracts.events import ChunksCreated, DocumentDeleted
from contracts.graph import DocumentBounds, Partition, VectorRow
from contracts.ids import chunk_vector_id, chunk_vector_prefix, is_window, window_vector_id
from offline.language.windows import MOST_WINDOWS, has_windows, windows_of
from runtime.bus.batches import document_bounds
from runtime.bus.port import Delivery
from runtime.stores.vectors.port import Vectors
from services.indexer.port import Extents

FIRST_LOOK = 1
"""Rows read at first when looking for rows behind the end of a document: most have none."""

PAGE = 50
"""Rows read at once from then on."""


def chunks_created(
    deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
) -> dict[int, ChunksCreated]:
    """Return the events that bring chunks, by their sequences."""
    chunk_events: dict[int, ChunksCreated] = {}
    for delivery in deliveries:
        if isinstance(delivery.event, ChunksCreated):
            chunk_events[delivery.sequence] = delivery.event
    return chunk_events


async def remove_obsolete_chunks(
    partition: Partition,
    deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    vectors: Vectors,
    extents: Extents,
) -> None:
    """Remove rows behind the end of their document.

    Another replica may be writing an older version. Each replica does this after it has written, so
    the last one sees all rows (decision 17).
    """
    documents: set[str] = set()
    earlier_bounds: dict[str, DocumentBounds] = {}
    for bounds in document_bounds(deliveries):
        before = await extents.put(partition, bounds)
        earlier_bounds |= before
        # The first bounds of a document make nothing obsolete: its chunks belong to the same
        # version.
        for id, extent in bounds.items():
            if id in before or not extent.count:
                documents.add(id)
    stored_bounds = await extents.get(
        partition, {delivery.event.aggregate_id for delivery in deliveries}
    )
    oldest_versions = _oldest_versions(deliveries)
    for id, extent in stored_bounds.items():
        if id in oldest_versions and extent.version > oldest_versions[id]:
            documents.add(id)
    deleted_ids = _deleted_documents(
        documents - oldest_versions.keys(), stored_bounds, earlier_bounds
    )
    if deleted_ids:
        ids: list[str] = []
        for id in sorted(deleted_ids):
            for order in range(earlier_bounds[id].count):
                chunk = chunk_vector_id(id, order)
                ids += [chunk, *windows_behind(chunk, 0, vectors.model)]
        first_deletion = min(stored_bounds[id].version for id in deleted_ids)
        await vectors.delete(partition, "chunks", ids, before=first_deletion)
    # At the same time: a backlog of deletions must not wait for one call after the other.
    await asyncio.gather(
        *(
            _remove_behind(partition, id, stored_bounds[id], vectors)
            for id in sorted(documents - deleted_ids)
        )
    )


async def remove_older_windows(
    partition: Partition, rows: Iterable[VectorRow], replaced_ids: Set[str], vectors: Vectors
) -> None:
    """Remove the windows that older versions of these chunks have, and these have not.

    `rows`: those of chunks and their windows.
    """
    ids_by_version: dict[int, list[str]] = {}
    for row in rows:
        if row.id in replaced_ids and not is_window(row.id):
            count = len(windows_of(vectors.model, row.text))
            ids = windows_behind(row.id, count, vectors.model)
            ids_by_version.setdefault(row.version, []).extend(ids)
    for version, ids in ids_by_version.items():
        await vectors.delete(partition, "chunks", ids, before=version)


def windows_behind(chunk: str, count: int, model: str) -> list[str]:
    """Return the vector ids that windows of a chunk may have behind the first `count`."""
    if not has_windows(model):
        return []
    return [window_vector_id(chunk, number) for number in range(count + 1, MOST_WINDOWS + 1)]


def _deleted_documents(
    documents: Set[str],
    bounds: Mapping[str, DocumentBounds],
    earlier_bounds: Mapping[str, DocumentBounds],
) -> set[str]:
    """Return the deleted documents whose rows are known by their earlier bounds, and whose versions
    are older than all of these deletions: they are removed in one call.

    Whoever writes a row that those bounds do not have looks at the bounds afterwards, and removes
    it. A deletion that comes again, after one that was interrupted, finds its own bounds: its rows
    are looked for.
    """
    deleted_ids = {
        id
        for id in documents & earlier_bounds.keys()
        if not bounds[id].count
        and earlier_bounds[id].count
        and earlier_bounds[id].version < bounds[id].version
    }
    first_deletion = min((bounds[id].version for id in deleted_ids), default=0)
    return {id for id in deleted_ids if earlier_bounds[id].version < first_deletion}


async def _remove_behind(
    partition: Partition, document: str, extent: DocumentBounds, vectors: Vectors
) -> None:
    """Remove the rows of a document that its bounds make obsolete, page by page."""
    prefix = chunk_vector_prefix(document)
    after = chunk_vector_id(document, extent.end - 1) if extent.end else prefix
    limit = FIRST_LOOK
    while True:
        page = await vectors.scan(partition, "chunks", after, limit)
        rows = [row for row in page if row.id.startswith(prefix)]
        if not rows:
            return
        obsolete = [row.id for row in rows if extent.is_obsolete_chunk(row.order, row.version)]
        # A newer version may have been written under the same id meanwhile: ids of chunks have no
        # version in them (decision 4).
        await vectors.delete(partition, "chunks", obsolete, before=extent.version)
        if len(rows) < limit:
            return
        after = rows[-1].id
        limit = PAGE


def _oldest_versions(
    deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
) -> dict[str, int]:
    """Return the oldest version of each document that chunks came of."""
    versions: dict[str, int] = {}
    for event in chunks_created(deliveries).values():
        document = event.document
        versions[document.id] = min(document.version, versions.get(document.id, document.version))
    return versions
