"""ChunksCreated and GraphMerged in, VectorsIndexed out: what changed is embedded, what is gone is removed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from contracts.events import ChunksCreated, Event, GraphMerged, VectorsIndexed
from contracts.graph import Generations, Space, VectorKind, VectorRow
from contracts.ids import entity_vector_id, relation_vector_id
from contracts.values import ChunkRef, DocumentVersion
from runtime.bus.port import Delivery
from runtime.errors import Retryable
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.domain import chunk_row, entity_row, relation_row
from services.indexer.ports import Embeddings

E = TypeVar("E", bound=Event)
Pair = tuple[str, str]

SETTLE_ROUNDS = 10


async def on_chunks_created(
    batch: Sequence[Delivery[ChunksCreated]], generations: Generations, *, vectors: Vectors, embeddings: Embeddings
) -> list[list[VectorsIndexed]]:
    """Index passages at once, so that they can be found before anything is extracted."""
    embedded: dict[int, int] = {}
    for workspace, deliveries in by_workspace(batch).items():
        space = Space(workspace, generations.vectors)
        rows: dict[str, VectorRow] = {}
        for event in sorted((delivery.event for delivery in deliveries), key=lambda e: e.document.version):
            rows |= {row.id: row for row in (chunk_row(event.document, chunk) for chunk in event.chunks)}
        changed = await _put_changed(space, "chunks", rows, vectors, embeddings)
        for delivery in deliveries:
            event = delivery.event
            embedded[delivery.sequence] = len(changed & {chunk_row(event.document, c).id for c in event.chunks})
    return [[_indexed(d.event.document, "chunks", d.event.chunks, embedded[d.sequence], embeddings)] for d in batch]


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
        changed = await index_graph(workspace, names, pairs, generations, graph, vectors, embeddings)
        for delivery in deliveries:
            ids = {entity_vector_id(e.name) for e in delivery.event.entities}
            ids |= {relation_vector_id(r.source, r.target) for r in delivery.event.relations}
            embedded[delivery.sequence] = len(changed & ids)
    return [[_indexed(d.event.document, "graph", d.event.chunks, embedded[d.sequence], embeddings)] for d in batch]


async def index_graph(
    workspace: str,
    names: set[str],
    pairs: set[Pair],
    generations: Generations,
    graph: Graph,
    vectors: Vectors,
    embeddings: Embeddings,
) -> set[str]:
    """Bring the vectors of these entities and relations to what the graph says. Returns the ids that were embedded.

    Another replica may read the graph before us and write after us. So after writing we look again, and whoever
    writes last has looked last: the newest text always stands in the end.
    """
    source, space = Space(workspace, generations.graph), Space(workspace, generations.vectors)
    changed: set[str] = set()
    for _ in range(SETTLE_ROUNDS):
        entities = {e.name: entity_row(e) for e in (await graph.entities(source, names)).values()}
        relations = {r.key: relation_row(r) for r in (await graph.relations(source, pairs)).values()}
        await vectors.delete(space, "entities", [entity_vector_id(name) for name in names - entities.keys()])
        await vectors.delete(space, "relations", [relation_vector_id(*pair) for pair in pairs - relations.keys()])
        now = await _put_changed(space, "entities", {r.id: r for r in entities.values()}, vectors, embeddings)
        now |= await _put_changed(space, "relations", {r.id: r for r in relations.values()}, vectors, embeddings)
        changed |= now
        if not now:
            return changed
    raise Retryable("the graph changes faster than it can be indexed")


async def _put_changed(
    space: Space, kind: VectorKind, rows: Mapping[str, VectorRow], vectors: Vectors, embeddings: Embeddings
) -> set[str]:
    """Embed and write the rows whose text differs from the stored one. Returns their ids."""
    stored = await vectors.get(space, kind, list(rows))
    written = [row for row in rows.values() if row.id not in stored or _outdated(kind, stored[row.id], row)]
    made = await embeddings.embed(space.workspace, [row.text for row in written])
    await vectors.put(space, kind, [replace(row, vector=vector) for row, vector in zip(written, made, strict=True)])
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


def _indexed(
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
