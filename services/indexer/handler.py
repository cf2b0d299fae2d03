"""Handles ChunksCreated, DocumentDeleted and GraphMerged: updates the vectors, returns
VectorsIndexed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from contracts.events import (
    ChunksCreated,
    DocumentDeleted,
    GraphMerged,
    StageFailed,
    VectorsIndexed,
)
from contracts.graph import Generations, Partition, VectorRow
from contracts.ids import chunk_vector_id, chunk_vector_prefix, entity_vector_id, relation_vector_id
from contracts.values import ChunkRef, DocumentVersion, TokenUsage
from knowledge.vector_rows import chunk_row
from runtime.bus.batches import by_workspace, document_bounds
from runtime.bus.port import ALL_WANTED, Delivery, DocumentVersions, version_deleted
from runtime.errors import ModelRefused
from runtime.models.call_scope import PaidCall, billed_calls
from runtime.models.cut_texts import noted_cuts
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.domain.cut_warnings import cut_warnings
from services.indexer.domain.usage_shares import usage_shares
from services.indexer.graph_index import GraphKeys, index_graph
from services.indexer.port import Embeddings, Extents
from services.indexer.vector_updates import Outdated, Refusals, embed_and_put, find_outdated

Indexing = VectorsIndexed | StageFailed
"""What is told of an event: what of it is indexed, then why the model refuses the rest."""

PAGE = 50
"""Rows read at once when looking for rows behind the end of a document."""


async def on_chunks(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    generations: Generations,
    *,
    vectors: Vectors,
    embeddings: Embeddings,
    extents: Extents,
    versions: DocumentVersions = ALL_WANTED,
) -> list[list[Indexing]]:
    """Index new chunks, and remove those that their document no longer has.

    Chunks of a replaced or deleted version are not embedded and give no event: nobody waits for
    one. Chunks of a cancelled version are embedded: they are in the log, so a rebuild would embed
    them too. A chunk that the model refuses gives a StageFailed; the others are not affected.
    """
    indexed: dict[int, list[Indexing]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.vectors)
        created = {
            delivery.sequence: e
            for delivery in deliveries
            if isinstance(e := delivery.event, ChunksCreated)
        }
        current_events = {
            sequence: e
            for sequence, e in created.items()
            if await versions.obsolete(workspace, e.document) in (None, "cancelled")
        }
        rows = _rows_of(current_events.values())
        outdated = await find_outdated(partition, "chunks", rows, vectors)
        with billed_calls() as bill, noted_cuts() as cuts:
            refusals = await embed_and_put(partition, [outdated], vectors, embeddings)
            # Of an obsolete version, too: an earlier attempt may have written it while it was
            # current.
            await _restore_newer_chunks(partition, created.values(), vectors, embeddings, versions)
        await _remove_obsolete_chunks(partition, deliveries, vectors, extents)
        for delivery in deliveries:
            event = delivery.event
            if isinstance(event, DocumentDeleted):
                events: list[Indexing] = [
                    _vectors_indexed(version_deleted(delivery, event), "chunks", (), 0, embeddings)
                ]
            elif delivery.sequence in current_events:
                events = _chunks_indexed(
                    delivery, event, Embedding(outdated, refusals, cuts), embeddings
                )
            else:
                events = []
            indexed[delivery.sequence] = events
        _share_usage(bill, [indexed[delivery.sequence] for delivery in deliveries])
    return [indexed[delivery.sequence] for delivery in batch]


def _share_usage(bill: Sequence[PaidCall], results: Sequence[list[Indexing]]) -> None:
    """Write into each event its share of what the texts of all of them took."""
    usage = sum((call.usage for call in bill), TokenUsage())
    indexed = [(events, events[0]) for events in results if events]
    vectors_indexed = [
        (events, first) for events, first in indexed if isinstance(first, VectorsIndexed)
    ]
    shares = usage_shares(usage, [first.embedded for _, first in vectors_indexed])
    for (events, first), share in zip(vectors_indexed, shares, strict=True):
        events[0] = first.model_copy(update={"usage": share})


async def _restore_newer_chunks(
    partition: Partition,
    written: Iterable[ChunksCreated],
    vectors: Vectors,
    embeddings: Embeddings,
    versions: DocumentVersions,
) -> None:
    """Write the chunks of newer versions again that another replica may have written just before
    these.

    The vector store compares nothing when it writes. The newer chunks are in the log before anybody
    writes their vectors, so whoever writes older ones later finds them there.
    """
    for document in {event.document.id: event.document for event in written}.values():
        current = document
        while parts := await versions.newer_chunks(partition.workspace, current):
            current = parts[0].document
            chunks = (chunk_row(current, chunk) for part in parts for chunk in part.chunks)
            outdated = await find_outdated(
                partition, "chunks", {row.id: row for row in chunks}, vectors
            )
            await embed_and_put(partition, [outdated], vectors, embeddings)


async def _remove_obsolete_chunks(
    partition: Partition,
    deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    vectors: Vectors,
    extents: Extents,
) -> None:
    """Remove rows behind the end of their document.

    Another replica may be writing an older version. Each replica does this after it has written, so
    the last one sees all rows.
    """
    documents: set[str] = set()
    for bounds in document_bounds(deliveries):
        before = await extents.put(partition, bounds)
        # The first bounds of a document make nothing obsolete: its chunks belong to the same
        # version.
        documents |= {id for id, extent in bounds.items() if id in before or not extent.count}
    stored = await extents.get(partition, {delivery.event.aggregate_id for delivery in deliveries})
    documents |= {
        id
        for id, extent in stored.items()
        if any(extent.version > v for v in _versions(id, deliveries))
    }
    for id in sorted(documents):
        prefix, extent = chunk_vector_prefix(id), stored[id]
        after = chunk_vector_id(id, extent.count - 1) if extent.count else prefix
        while rows := [
            row
            for row in await vectors.scan(partition, "chunks", after, PAGE)
            if row.id.startswith(prefix)
        ]:
            obsolete = [row.id for row in rows if extent.is_obsolete_chunk(row.order, row.version)]
            # A newer version may have been written under the same id meanwhile.
            await vectors.delete(partition, "chunks", obsolete, before=extent.version)
            after = rows[-1].id


def _versions(
    document: str, deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]]
) -> set[int]:
    events = [delivery.event for delivery in deliveries if delivery.event.aggregate_id == document]
    return {event.document.version for event in events if isinstance(event, ChunksCreated)}


async def on_graph_merged(
    batch: Sequence[Delivery[GraphMerged]],
    generations: Generations,
    *,
    graph: Graph,
    vectors: Vectors,
    embeddings: Embeddings,
) -> list[list[Indexing]]:
    """Index the entities and relations that changed, as the graph has them now.

    An event of which the model refuses a text gives a StageFailed; its other entities and relations
    are indexed.
    """
    indexed: dict[int, list[Indexing]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        names = {e.name for d in deliveries for e in d.event.entities}
        pairs = {(r.source, r.target) for d in deliveries for r in d.event.relations}
        with billed_calls() as bill:
            result = await index_graph(
                workspace, GraphKeys(names, pairs), generations, graph, vectors, embeddings
            )
        for delivery in deliveries:
            ids = {entity_vector_id(e.name) for e in delivery.event.entities}
            ids |= {relation_vector_id(r.source, r.target) for r in delivery.event.relations}
            event, embedded = delivery.event, len(result.embedded & ids)
            refused_ids = sorted(ids & result.refusals.keys())
            chunks = () if refused_ids else event.chunks
            of_graph = _vectors_indexed(event.document, "graph", chunks, embedded, embeddings)
            events: list[Indexing] = [
                of_graph.model_copy(update={"part": event.part, "parts": event.parts})
            ]
            if refused_ids:
                events.append(
                    _stage_failed(delivery, event, event.chunks, result.refusals[refused_ids[0]])
                )
            indexed[delivery.sequence] = events
        _share_usage(bill, [indexed[delivery.sequence] for delivery in deliveries])
    return [indexed[delivery.sequence] for delivery in batch]


def _rows_of(events: Iterable[ChunksCreated]) -> dict[str, VectorRow]:
    """Return the rows of the chunks by their ids; of several versions of a document those of the
    newest.
    """
    rows: dict[str, VectorRow] = {}
    for event in sorted(events, key=lambda event: event.document.version):
        rows |= {
            row.id: row for row in (chunk_row(event.document, chunk) for chunk in event.chunks)
        }
    return rows


class Embedding(NamedTuple):
    """What came of embedding chunks: the rows to write, those the model refused, the characters
    left of cut texts.
    """

    outdated: Outdated
    refusals: Refusals
    cuts: Mapping[str, int]


def _chunks_indexed(
    delivery: Delivery[Any], event: ChunksCreated, embedding: Embedding, embeddings: Embeddings
) -> list[Indexing]:
    """Return what is told of these chunks: how many were embedded, which were cut for that, and
    which are refused.
    """
    ids = {chunk_vector_id(event.document.id, chunk.order): chunk for chunk in event.chunks}
    refused_chunks = {id: chunk for id, chunk in ids.items() if id in embedding.refusals}
    embedded = len((embedding.outdated.changed & ids.keys()) - refused_chunks.keys())
    chunks = [chunk for id, chunk in ids.items() if id not in refused_chunks]
    indexed = _vectors_indexed(event.document, "chunks", chunks, embedded, embeddings)
    warnings = cut_warnings(event, embedding.cuts, embeddings.model)
    return [
        indexed.model_copy(update={"warnings": warnings}),
        *(
            _stage_failed(delivery, event, [chunk], embedding.refusals[id])
            for id, chunk in refused_chunks.items()
        ),
    ]


def _stage_failed(
    delivery: Delivery[Any],
    event: ChunksCreated | GraphMerged,
    chunks: Sequence[ChunkRef],
    refusal: ModelRefused,
) -> StageFailed:
    return StageFailed(
        stage="indexer",
        document_id=event.aggregate_id,
        document=event.document,
        chunks=tuple(ChunkRef(id=chunk.id, order=chunk.order) for chunk in chunks),
        cause_type=event.type_name(),
        error_type=type(refusal).__name__,
        message=str(refusal)[:2000],
        attempt=delivery.attempt,
        retry_may_help=False,
    )


def _vectors_indexed(
    document: DocumentVersion | None,
    kind: str,
    chunks: Sequence[ChunkRef],
    embedded: int,
    embeddings: Embeddings,
) -> VectorsIndexed:
    return VectorsIndexed(
        document=document,
        kind="chunks" if kind == "chunks" else "graph",
        chunks=tuple(ChunkRef(id=chunk.id, order=chunk.order) for chunk in chunks),
        embedded=embedded,
        model=embeddings.model,
        dimension=embeddings.dimension,
    )
