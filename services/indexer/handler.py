"""Handles ChunksCreated, DocumentDeleted and GraphMerged: updates the vectors, returns
VectorsIndexed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contracts.events import (
    ChunksCreated,
    DocumentDeleted,
    GraphMerged,
    StageFailed,
    VectorsIndexed,
)
from contracts.graph import Generations, Partition, VectorRow
from contracts.ids import chunk_vector_id
from contracts.values import Chunk, ChunkRef, DocumentVersion, TokenUsage
from knowledge.vector_rows import passage_rows
from runtime.bus.batches import by_workspace
from runtime.bus.port import ALL_WANTED, Delivery, DocumentVersions, version_deleted
from runtime.errors import ModelRefused
from runtime.models.call_scope import PaidCall, billed_calls
from runtime.models.cut_texts import noted_cuts
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.domain.cut_warnings import cut_warnings
from services.indexer.domain.usage_shares import usage_shares
from services.indexer.graph_index import GraphKeys, IndexedIds, index_graph
from services.indexer.obsolete_chunks import (
    chunks_created,
    remove_obsolete_chunks,
    remove_older_windows,
    windows_behind,
)
from services.indexer.port import Embeddings, Extents
from services.indexer.vector_updates import Outdated, Refusals, embed_and_put, find_outdated

Indexing = VectorsIndexed | StageFailed
"""What is told of an event: what of it is indexed, then why the model refuses the rest."""


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
    indexer = _ChunkIndexer(generations.vectors, vectors, embeddings, extents, versions)
    results: dict[int, list[Indexing]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        results |= await indexer.index(workspace, deliveries)
    return [results[delivery.sequence] for delivery in batch]


@dataclass(frozen=True)
class _ChunkIndexer:
    """Indexes chunks in one generation of vectors."""

    generation: int
    vectors: Vectors
    embeddings: Embeddings
    extents: Extents
    versions: DocumentVersions

    async def index(
        self, workspace: str, deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]]
    ) -> dict[int, list[Indexing]]:
        """Index the chunks of one workspace; return what is told of each event by its sequence."""
        partition = Partition(workspace, self.generation)
        chunk_events = chunks_created(deliveries)
        events_to_embed = await self._wanted(workspace, chunk_events)
        rows = chunk_rows(events_to_embed.values(), self.embeddings.model)
        outdated_rows = await find_outdated(partition, "chunks", rows, self.vectors)
        # Before these are written: afterwards nothing would tell that there were older ones.
        replaced_ids = outdated_rows.replaced_ids
        await remove_older_windows(partition, rows.values(), replaced_ids, self.vectors)
        with billed_calls() as bill, noted_cuts() as cuts:
            refusals = await embed_and_put(
                partition, [outdated_rows], self.vectors, self.embeddings
            )
            # Of an obsolete version, too: an earlier attempt may have written it while it was
            # current (decision 12).
            await self._restore_newer_chunks(partition, chunk_events.values())
        await remove_obsolete_chunks(partition, deliveries, self.vectors, self.extents)
        embedding = Embedding(outdated_rows, refusals, cuts)
        results: dict[int, list[Indexing]] = {}
        for delivery in deliveries:
            results[delivery.sequence] = self._result(delivery, events_to_embed, embedding)
        _share_usage(bill, list(results.values()))
        return results

    async def _wanted(
        self, workspace: str, chunk_events: Mapping[int, ChunksCreated]
    ) -> dict[int, ChunksCreated]:
        """Return the events whose chunks are embedded: of versions that are current, or that were
        cancelled.
        """
        events_to_embed: dict[int, ChunksCreated] = {}
        for sequence, event in chunk_events.items():
            if await self.versions.obsolete(workspace, event.document) in (None, "cancelled"):
                events_to_embed[sequence] = event
        return events_to_embed

    def _result(
        self,
        delivery: Delivery[ChunksCreated | DocumentDeleted],
        events_to_embed: Mapping[int, ChunksCreated],
        embedding: "Embedding",
    ) -> list[Indexing]:
        event = delivery.event
        if isinstance(event, DocumentDeleted):
            version = version_deleted(delivery, event)
            return [_vectors_indexed(version, "chunks", (), 0, self.embeddings)]
        if delivery.sequence in events_to_embed:
            return _chunks_indexed(delivery, event, embedding, self.embeddings)
        return []

    async def _restore_newer_chunks(
        self, partition: Partition, chunk_events: Iterable[ChunksCreated]
    ) -> None:
        """Write the chunks of newer versions again that another replica may have written just
        before these.

        The vector store compares nothing when it writes (decision 12). The newer chunks are in the
        log before anybody writes their vectors, so whoever writes older ones later finds them
        there.
        """
        documents = {event.document.id: event.document for event in chunk_events}
        for document in documents.values():
            newest_document = document
            while parts := await self.versions.newer_chunks(partition.workspace, newest_document):
                newest_document = parts[0].document
                rows = chunk_rows(parts, self.embeddings.model)
                outdated_rows = await find_outdated(partition, "chunks", rows, self.vectors)
                await embed_and_put(partition, [outdated_rows], self.vectors, self.embeddings)
                await remove_older_windows(partition, rows.values(), rows.keys(), self.vectors)


def _share_usage(bill: Sequence[PaidCall], results: Sequence[list[Indexing]]) -> None:
    """Write into each event its share of what the texts of all of them took."""
    usage = sum((call.usage for call in bill), TokenUsage())
    vectors_indexed: list[tuple[list[Indexing], VectorsIndexed]] = []
    for events in results:
        if events and isinstance(events[0], VectorsIndexed):
            vectors_indexed.append((events, events[0]))
    shares = usage_shares(usage, [event.embedded for _, event in vectors_indexed])
    for (events, event), share in zip(vectors_indexed, shares, strict=True):
        events[0] = event.model_copy(update={"usage": share})


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
    results: dict[int, list[Indexing]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        keys = _keys_of(delivery.event for delivery in deliveries)
        with billed_calls() as bill:
            indexed_ids = await index_graph(
                workspace, keys, generations, graph, vectors, embeddings
            )
        of_workspace: list[list[Indexing]] = []
        for delivery in deliveries:
            events = _graph_indexed(delivery, indexed_ids, embeddings)
            results[delivery.sequence] = events
            of_workspace.append(events)
        _share_usage(bill, of_workspace)
    return [results[delivery.sequence] for delivery in batch]


def _keys_of(events: Iterable[GraphMerged]) -> GraphKeys:
    """Return what these events say has changed."""
    keys = GraphKeys(set(), set())
    for event in events:
        keys.names.update(entity.name for entity in event.entities)
        keys.pairs.update((relation.source, relation.target) for relation in event.relations)
    return keys


def _graph_indexed(
    delivery: Delivery[GraphMerged], indexed_ids: IndexedIds, embeddings: Embeddings
) -> list[Indexing]:
    """Return what is told of these entities and relations: how many were embedded, and which is
    refused.
    """
    event = delivery.event
    ids = _keys_of([event]).vector_ids()
    refused_ids = sorted(ids & indexed_ids.refusals.keys())
    chunks = () if refused_ids else event.chunks
    embedded_count = len(indexed_ids.embedded_ids & ids)
    vectors_indexed = _vectors_indexed(event.document, "graph", chunks, embedded_count, embeddings)
    events: list[Indexing] = [
        vectors_indexed.model_copy(update={"part": event.part, "parts": event.parts})
    ]
    if refused_ids:
        refusal = indexed_ids.refusals[refused_ids[0]]
        events.append(_stage_failed(delivery, event, event.chunks, refusal))
    return events


def chunk_rows(events: Iterable[ChunksCreated], model: str) -> dict[str, VectorRow]:
    """Return the rows of the chunks, and of their windows where `model` embeds windows, by their
    ids; of several versions of a document those of the newest.
    """
    rows: dict[str, VectorRow] = {}
    for event in sorted(events, key=lambda event: event.document.version):
        for chunk in event.chunks:
            id = chunk_vector_id(event.document.id, chunk.order)
            for window in windows_behind(id, 0, model):
                rows.pop(window, None)
            rows |= {row.id: row for row in passage_rows(event.document, chunk, model)}
    return rows


class Embedding(NamedTuple):
    """What came of embedding chunks: the rows to write, those the model refused, the characters
    left of cut texts.
    """

    outdated_rows: Outdated
    refusals: Refusals
    cuts: Mapping[str, int]


def _chunks_indexed(
    delivery: Delivery[Any], event: ChunksCreated, embedding: Embedding, embeddings: Embeddings
) -> list[Indexing]:
    """Return what is told of these chunks: how many were embedded, which were cut for that, and
    which are refused.
    """
    chunks: list[Chunk] = []
    failures: list[Indexing] = []
    embedded_count = 0
    for chunk in event.chunks:
        id = chunk_vector_id(event.document.id, chunk.order)
        if refusal := embedding.refusals.get(id):
            failures.append(_stage_failed(delivery, event, [chunk], refusal))
            continue
        chunks.append(chunk)
        embedded_count += id in embedding.outdated_rows.changed_ids
    vectors_indexed = _vectors_indexed(event.document, "chunks", chunks, embedded_count, embeddings)
    warnings = cut_warnings(event, embedding.cuts, embeddings.model)
    return [vectors_indexed.model_copy(update={"warnings": warnings}), *failures]


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
    embedded_count: int,
    embeddings: Embeddings,
) -> VectorsIndexed:
    return VectorsIndexed(
        document=document,
        kind="chunks" if kind == "chunks" else "graph",
        chunks=tuple(ChunkRef(id=chunk.id, order=chunk.order) for chunk in chunks),
        embedded=embedded_count,
        model=embeddings.model,
        dimension=embeddings.dimension,
    )
