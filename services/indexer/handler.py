"""Handles ChunksCreated, DocumentDeleted and GraphMerged: updates the vectors, returns VectorsIndexed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from contracts.events import ChunksCreated, DocumentDeleted, Event, GraphMerged, VectorsIndexed
from contracts.graph import Generations, Partition, VectorKind, VectorRow
from contracts.ids import chunk_vector_id, chunk_vector_prefix, entity_vector_id, relation_vector_id
from contracts.values import ChunkRef, DocumentVersion
from runtime.bus.port import ALL_WANTED, Delivery, DocumentVersions, document_bounds, version_deleted
from runtime.errors import Retryable
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.domain.vector_rows import chunk_row, entity_row, relation_row
from services.indexer.port import Embeddings, Extents

E = TypeVar("E", bound=Event)
Pair = tuple[str, str]

MAX_ROUNDS = 10
"""Times that a batch is indexed again because the graph has changed meanwhile, before it is tried again later."""

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
) -> list[list[VectorsIndexed]]:
    """Index new chunks, and remove those that their document no longer has.

    Chunks of a replaced or deleted version are not embedded and give no event: nobody waits for one. Chunks of a
    cancelled version are embedded: they are in the log, so a rebuild would embed them too.
    """
    indexed: dict[int, list[VectorsIndexed]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.vectors)
        created = {delivery.sequence: e for delivery in deliveries if isinstance(e := delivery.event, ChunksCreated)}
        current_events = {
            sequence: e
            for sequence, e in created.items()
            if await versions.obsolete(workspace, e.document) in (None, "cancelled")
        }
        rows: dict[str, VectorRow] = {}
        for event in sorted(current_events.values(), key=lambda e: e.document.version):
            rows |= {row.id: row for row in (chunk_row(event.document, chunk) for chunk in event.chunks)}
        changed = await _put_changed(partition, "chunks", rows, vectors, embeddings)
        await _remove_obsolete_chunks(partition, deliveries, vectors, extents)
        for delivery in deliveries:
            event = delivery.event
            if isinstance(event, DocumentDeleted):
                events = [_vectors_indexed(version_deleted(delivery, event), "chunks", (), 0, embeddings)]
            elif delivery.sequence in current_events:
                changed_ids = changed & {chunk_vector_id(event.document.id, chunk.order) for chunk in event.chunks}
                events = [_vectors_indexed(event.document, "chunks", event.chunks, len(changed_ids), embeddings)]
            else:
                events = []
            indexed[delivery.sequence] = events
    return [indexed[delivery.sequence] for delivery in batch]


async def _remove_obsolete_chunks(
    partition: Partition,
    deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    vectors: Vectors,
    extents: Extents,
) -> None:
    """Remove rows behind the end of their document.

    Another replica may be writing an older version. Each replica does this after it has written, so the last one sees
    all rows.
    """
    documents: set[str] = set()
    for bounds in document_bounds(deliveries):
        before = await extents.put(partition, bounds)
        # The first bounds of a document make nothing obsolete: its chunks belong to the same version.
        documents |= {id for id, extent in bounds.items() if id in before or not extent.count}
    stored = await extents.get(partition, {delivery.event.aggregate_id for delivery in deliveries})
    documents |= {id for id, extent in stored.items() if any(extent.version > v for v in _versions(id, deliveries))}
    for id in sorted(documents):
        prefix, extent = chunk_vector_prefix(id), stored[id]
        after = chunk_vector_id(id, extent.count - 1) if extent.count else prefix
        while rows := [
            row for row in await vectors.scan(partition, "chunks", after, PAGE) if row.id.startswith(prefix)
        ]:
            await vectors.delete(
                partition, "chunks", [row.id for row in rows if extent.is_obsolete_chunk(row.order, row.version)]
            )
            after = rows[-1].id


def _versions(document: str, deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]]) -> set[int]:
    events = [delivery.event for delivery in deliveries if delivery.event.aggregate_id == document]
    return {event.document.version for event in events if isinstance(event, ChunksCreated)}


async def on_graph_merged(
    batch: Sequence[Delivery[GraphMerged]],
    generations: Generations,
    *,
    graph: Graph,
    vectors: Vectors,
    embeddings: Embeddings,
) -> list[list[VectorsIndexed]]:
    """Index the entities and relations that changed, as the graph has them now."""
    embedded: dict[int, int] = {}
    for workspace, deliveries in by_workspace(batch).items():
        names = {e.name for d in deliveries for e in d.event.entities}
        pairs = {(r.source, r.target) for d in deliveries for r in d.event.relations}
        changed = await index_graph(workspace, GraphKeys(names, pairs), generations, graph, vectors, embeddings)
        for delivery in deliveries:
            ids = {entity_vector_id(e.name) for e in delivery.event.entities}
            ids |= {relation_vector_id(r.source, r.target) for r in delivery.event.relations}
            embedded[delivery.sequence] = len(changed & ids)
    return [
        [
            _vectors_indexed(d.event.document, "graph", d.event.chunks, embedded[d.sequence], embeddings).model_copy(
                update={"part": d.event.part, "parts": d.event.parts}
            )
        ]
        for d in batch
    ]


class GraphKeys(NamedTuple):
    """Names of entities, and sorted pairs of names of relations."""

    names: set[str]
    pairs: set[Pair]


async def index_graph(
    workspace: str,
    keys: GraphKeys,
    generations: Generations,
    graph: Graph,
    vectors: Vectors,
    embeddings: Embeddings,
) -> set[str]:
    """Update the vectors of these entities and relations from the graph. Returns the ids that were embedded.

    Another replica may read the graph before us and write after us. So each reads the graph again after writing, until
    nothing has changed: in the end the newest text is stored. Raises `Retryable` after `MAX_ROUNDS` rounds.
    """
    names, pairs = keys
    source, partition = Partition(workspace, generations.graph), Partition(workspace, generations.vectors)
    embedded_ids: set[str] = set()
    for _ in range(MAX_ROUNDS):
        entities = {e.name: entity_row(e) for e in (await graph.entities(source, names)).values()}
        relations = {r.key: relation_row(r) for r in (await graph.relations(source, pairs)).values()}
        await vectors.delete(partition, "entities", [entity_vector_id(name) for name in names - entities.keys()])
        await vectors.delete(partition, "relations", [relation_vector_id(*pair) for pair in pairs - relations.keys()])
        new_ids = await _put_changed(partition, "entities", {r.id: r for r in entities.values()}, vectors, embeddings)
        new_ids |= await _put_changed(
            partition, "relations", {r.id: r for r in relations.values()}, vectors, embeddings
        )
        embedded_ids |= new_ids
        if not new_ids:
            return embedded_ids
    raise Retryable("the graph changes faster than it can be indexed")


async def _put_changed(
    partition: Partition, kind: VectorKind, rows: Mapping[str, VectorRow], vectors: Vectors, embeddings: Embeddings
) -> set[str]:
    """Embed and write the rows whose text differs from the stored one. Returns their ids."""
    stored = await vectors.get(partition, kind, list(rows))
    changed = [row for row in rows.values() if row.id not in stored or _outdated(kind, stored[row.id], row)]
    new_vectors = await embeddings.embed(partition.workspace, [row.text for row in changed])
    await vectors.put(
        partition, kind, [replace(row, vector=vector) for row, vector in zip(changed, new_vectors, strict=True)]
    )
    return {row.id for row in changed if row.id not in stored or stored[row.id].text_hash != row.text_hash}


def _outdated(kind: VectorKind, stored: VectorRow, row: VectorRow) -> bool:
    # A chunk never replaces one of a newer version, so a newer one is written even with the same text (its vector is
    # cached). Revisions of the graph are not compared: a rebuilt graph counts them from the beginning.
    if kind == "chunks" and stored.version != row.version:
        return stored.version < row.version
    return stored.text_hash != row.text_hash


def by_workspace(batch: Sequence[Delivery[E]]) -> dict[str, list[Delivery[E]]]:
    """Return the deliveries of a batch by workspace, each list in the order of the batch."""
    groups: dict[str, list[Delivery[E]]] = defaultdict(list)
    for delivery in batch:
        groups[delivery.workspace].append(delivery)
    return groups


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
