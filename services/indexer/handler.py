"""ChunksCreated and GraphMerged in, VectorsIndexed out: what changed is embedded, what is gone is removed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from contracts.events import ChunksCreated, DocumentDeleted, Event, GraphMerged, VectorsIndexed
from contracts.graph import Generations, Partition, VectorKind, VectorRow
from contracts.ids import chunk_vector_id, chunk_vector_prefix, entity_vector_id, relation_vector_id
from contracts.values import ChunkRef, DocumentVersion
from runtime.bus.port import ALL_WANTED, Delivery, DocumentVersions, version_deleted
from runtime.bus.port import document_bounds as reaches
from runtime.errors import Retryable
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.domain.vector_rows import chunk_row, entity_row, relation_row
from services.indexer.port import Embeddings, Extents

E = TypeVar("E", bound=Event)
Pair = tuple[str, str]

MAX_ROUNDS = 10
PAGE = 50
"""Rows of one look behind the end of a document."""


async def on_chunks(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    generations: Generations,
    *,
    vectors: Vectors,
    embeddings: Embeddings,
    extents: Extents,
    versions: DocumentVersions = ALL_WANTED,
) -> list[list[VectorsIndexed]]:
    """Index passages at once, so that they can be found before anything is extracted; remove those that are gone.

    Passages of an obsolete version are not embedded and give no event: nobody waits for one. Those of a cancelled
    version are, as a rebuild would do: the log holds them, and they stay.
    """
    indexed: dict[int, list[VectorsIndexed]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.vectors)
        created = {delivery.sequence: e for delivery in deliveries if isinstance(e := delivery.event, ChunksCreated)}
        wanted = {
            place: e
            for place, e in created.items()
            if await versions.obsolete(workspace, e.document) in (None, "cancelled")
        }
        rows: dict[str, VectorRow] = {}
        for event in sorted(wanted.values(), key=lambda e: e.document.version):
            rows |= {row.id: row for row in (chunk_row(event.document, chunk) for chunk in event.chunks)}
        changed = await _put_changed(partition, "chunks", rows, vectors, embeddings)
        await _remove_obsolete_chunks(partition, deliveries, vectors, extents)
        for delivery in deliveries:
            event = delivery.event
            if isinstance(event, DocumentDeleted):
                facts = [_vectors_indexed(version_deleted(delivery, event), "chunks", (), 0, embeddings)]
            elif delivery.sequence in wanted:
                ours = changed & {chunk_vector_id(event.document.id, chunk.order) for chunk in event.chunks}
                facts = [_vectors_indexed(event.document, "chunks", event.chunks, len(ours), embeddings)]
            else:
                facts = []
            indexed[delivery.sequence] = facts
    return [indexed[delivery.sequence] for delivery in batch]


async def _remove_obsolete_chunks(
    partition: Partition,
    deliveries: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    vectors: Vectors,
    extents: Extents,
) -> None:
    """Remove rows behind the end of their document.

    Another replica may be writing an older version: it looks here after it has written, so whoever is last removes.
    """
    look: set[str] = set()
    for reached in reaches(deliveries):
        before = await extents.put(partition, reached)
        # A document's first extent ends nothing: its chunks are as new as the extent itself.
        look |= {id for id, extent in reached.items() if id in before or not extent.count}
    standing = await extents.get(partition, {delivery.event.aggregate_id for delivery in deliveries})
    look |= {id for id, extent in standing.items() if any(extent.version > v for v in _versions(id, deliveries))}
    for id in sorted(look):
        prefix, extent = chunk_vector_prefix(id), standing[id]
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
    """Index the entities and relations that changed, as they stand in the graph now."""
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
    """Bring the vectors of these entities and relations to what the graph says. Returns the ids that were embedded.

    Another replica may read the graph before us and write after us. So after writing we look again, and whoever
    writes last has looked last: the newest text always stands in the end.
    """
    names, pairs = keys
    source, partition = Partition(workspace, generations.graph), Partition(workspace, generations.vectors)
    changed: set[str] = set()
    for _ in range(MAX_ROUNDS):
        entities = {e.name: entity_row(e) for e in (await graph.entities(source, names)).values()}
        relations = {r.key: relation_row(r) for r in (await graph.relations(source, pairs)).values()}
        await vectors.delete(partition, "entities", [entity_vector_id(name) for name in names - entities.keys()])
        await vectors.delete(partition, "relations", [relation_vector_id(*pair) for pair in pairs - relations.keys()])
        now = await _put_changed(partition, "entities", {r.id: r for r in entities.values()}, vectors, embeddings)
        now |= await _put_changed(partition, "relations", {r.id: r for r in relations.values()}, vectors, embeddings)
        changed |= now
        if not now:
            return changed
    raise Retryable("the graph changes faster than it can be indexed")


async def _put_changed(
    partition: Partition, kind: VectorKind, rows: Mapping[str, VectorRow], vectors: Vectors, embeddings: Embeddings
) -> set[str]:
    """Embed and write the rows whose text differs from the stored one. Returns their ids."""
    stored = await vectors.get(partition, kind, list(rows))
    written = [row for row in rows.values() if row.id not in stored or _outdated(kind, stored[row.id], row)]
    made = await embeddings.embed(partition.workspace, [row.text for row in written])
    await vectors.put(partition, kind, [replace(row, vector=vector) for row, vector in zip(written, made, strict=True)])
    return {row.id for row in written if row.id not in stored or stored[row.id].text_hash != row.text_hash}


def _outdated(kind: VectorKind, stored: VectorRow, row: VectorRow) -> bool:
    # A chunk of an older version never replaces a newer one, so a newer one is written even with the same text; its
    # vector is known. Revisions say nothing: a rebuilt graph counts them anew.
    if kind == "chunks" and stored.version != row.version:
        return stored.version < row.version
    return stored.text_hash != row.text_hash


def by_workspace(batch: Sequence[Delivery[E]]) -> dict[str, list[Delivery[E]]]:
    """A batch sorted by tenant."""
    found: dict[str, list[Delivery[E]]] = defaultdict(list)
    for delivery in batch:
        found[delivery.workspace].append(delivery)
    return found


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
