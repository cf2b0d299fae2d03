"""The indexer's replay: what a rebuild runs to fill a new generation of vectors."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from contracts.events import ChunksCreated, DocumentDeleted, Event, GraphMerged
from contracts.graph import Entity, Generations, Partition, Relation, of_origin
from contracts.ids import entity_vector_id, relation_vector_id
from knowledge.vector_rows import entity_row, relation_row
from runtime.batching import batched
from runtime.bus.batches import by_workspace, document_bounds
from runtime.bus.port import Delivery
from runtime.models.port import Embedder
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.projections.embedding import EmbeddedVectors
from runtime.replay import ReplayHandler
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.graph_index import GraphKeys, index_graph
from services.indexer.handler import Indexing, chunk_rows, on_chunks
from services.indexer.own_generations import handle_by_generation
from services.indexer.vector_updates import Outdated, embed_and_put, find_outdated

BATCH_SIZE = 1000
"""Entities and relations that are indexed at a time."""


class _Target(NamedTuple):
    """Where the vectors of a workspace go, and what makes them."""

    vectors: Vectors
    embeddings: CachedEmbeddings


@dataclass
class VectorReplay:
    """Indexes chunks as the rebuild reads them, and entities and relations once, from the graph.

    So an entity with many contributions is embedded once and not after each of them.
    `own_embeddings`: what embeds the workspaces that have a model of their own, and their branches.
    """

    events = (ChunksCreated, DocumentDeleted)

    rows: Rows
    graph: Graph
    vectors: Vectors
    embedder: Embedder
    own_embeddings: Mapping[str, EmbeddedVectors] = field(
        default_factory=dict[str, EmbeddedVectors]
    )
    _keys: dict[str, set[tuple[str, ...]]] = field(default_factory=dict[str, set[tuple[str, ...]]])
    """Entities (one name) and relations (two names) whose vectors are still to be made, by
    workspace.
    """

    def __post_init__(self) -> None:
        self._bounds = RowDocumentBounds(self.rows, "vector_extents")
        self._target_of_stack = _Target(self.vectors, CachedEmbeddings(self.rows, self.embedder))
        self._own_targets = {
            workspace: _Target(embedding.vectors, CachedEmbeddings(self.rows, embedding.embedder))
            for workspace, embedding in self.own_embeddings.items()
        }

    def _target(self, workspace: str) -> _Target:
        return of_origin(self._own_targets, workspace) or self._target_of_stack

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers for events about chunks."""
        return [ReplayHandler(self.events, self._on_chunks)]

    async def _on_chunks(
        self, batch: Sequence[Delivery[Any]], generations: Generations, /
    ) -> Sequence[list[Indexing]]:
        return await handle_by_generation(batch, generations, self._on_chunks_of_one_generation)

    async def _on_chunks_of_one_generation(
        self, batch: Sequence[Delivery[Any]], generations: Generations, /
    ) -> list[list[Indexing]]:
        vectors, embeddings = self._target(batch[0].workspace)
        return await on_chunks(
            batch, generations, vectors=vectors, embeddings=embeddings, extents=self._bounds
        )

    async def take_bounds(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """See `BoundedReplay.take_bounds`."""
        for workspace, deliveries in by_workspace(batch).items():
            partition = Partition(workspace, generations.of_workspace(workspace).vectors)
            for bounds in document_bounds(deliveries):
                await self._bounds.put(partition, bounds)

    async def take(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """See `BulkReplay.take`. Chunks of versions that the log has a newer one of, or that are
        deleted, are not embedded.
        """
        for workspace, deliveries in by_workspace(batch).items():
            partition = Partition(workspace, generations.of_workspace(workspace).vectors)
            vectors, embeddings = self._target(workspace)
            newest_events = await self._newest(partition, deliveries)
            rows = chunk_rows(newest_events, embeddings.model)
            outdated_rows = await find_outdated(partition, "chunks", rows, vectors)
            await embed_and_put(partition, [outdated_rows], vectors, embeddings)

    async def _newest(
        self, partition: Partition, deliveries: Sequence[Delivery[Any]]
    ) -> list[ChunksCreated]:
        """Return those of the ChunksCreated that are of the newest version of their document."""
        events = [
            delivery.event for delivery in deliveries if isinstance(delivery.event, ChunksCreated)
        ]
        bounds = await self._bounds.get(partition, {event.document.id for event in events})
        newest_events: list[ChunksCreated] = []
        for event in events:
            of_document = bounds.get(event.document.id)
            if of_document is None or event.document.version >= of_document.version:
                newest_events.append(event)
        return newest_events

    async def finish(self, generations: Generations) -> None:
        """See `BulkReplay.finish`: every batch is written when it is taken. The rest comes by
        `put`.
        """

    async def put(
        self,
        workspace: str,
        entities: Sequence[Entity],
        relations: Sequence[Relation],
        generations: Generations,
    ) -> None:
        """Make the vectors of these entities and relations, and remove those of tombstones. Repeats
        change nothing.
        """
        partition = Partition(workspace, generations.of_workspace(workspace).vectors)
        vectors, embeddings = self._target(workspace)
        gone_entities = [entity_vector_id(entity.name) for entity in entities if entity.is_gone]
        gone_relations = [
            relation_vector_id(*relation.key) for relation in relations if relation.is_gone
        ]
        await vectors.delete(partition, "entities", gone_entities)
        await vectors.delete(partition, "relations", gone_relations)
        rows = [
            Outdated(
                "entities", [entity_row(entity) for entity in entities if not entity.is_gone], set()
            ),
            Outdated(
                "relations",
                [relation_row(relation) for relation in relations if not relation.is_gone],
                set(),
            ),
        ]
        await embed_and_put(partition, rows, vectors, embeddings)

    async def pages(
        self, generations: Generations, workspaces: Collection[str] = ()
    ) -> AsyncGenerator[tuple[str, list[Entity], list[Relation]]]:
        """Yield workspaces with the entities and the relations of the graph that is live, a page at
        a time; with `workspaces` only those.
        """
        for source in sorted(
            await self.graph.partitions(), key=lambda partition: partition.workspace
        ):
            if source.generation != generations.graph:
                continue
            if workspaces and source.workspace not in workspaces:
                continue
            name = ""
            key = ("", "")
            while entities := await self.graph.scan_entities(source, name, BATCH_SIZE):
                yield source.workspace, entities, []
                name = entities[-1].name
            while relations := await self.graph.scan_relations(source, key, BATCH_SIZE):
                yield source.workspace, [], relations
                key = relations[-1].key

    def collect(self, workspace: str, events: Sequence[Event]) -> None:
        """Note the entities and relations that the GraphMerged events among these changed."""
        keys = self._keys.setdefault(workspace, set())
        for event in events:
            if isinstance(event, GraphMerged):
                keys |= {(entity.name,) for entity in event.entities}
                keys |= {(relation.source, relation.target) for relation in event.relations}

    async def index_collected(
        self,
        generations: Generations,
        retry: Callable[[Callable[[], Awaitable[object]]], Awaitable[object]],
    ) -> AsyncGenerator[tuple[int, int]]:
        """Make the vectors of the collected keys; `retry` runs each batch. Yields how many are
        made, of how many.
        """
        for workspace, keys in self._keys.items():
            indexed_keys = 0
            for batch in batched(sorted(keys), BATCH_SIZE):
                await retry(partial(self._index, workspace, batch, generations))
                indexed_keys += len(batch)
                yield indexed_keys, len(keys)
        self._keys.clear()

    async def _index(
        self, workspace: str, keys: Sequence[tuple[str, ...]], generations: Generations
    ) -> None:
        entities = {key[0] for key in keys if len(key) == 1}
        relations = {(key[0], key[1]) for key in keys if len(key) == 2}
        vectors, embeddings = self._target(workspace)
        await index_graph(
            workspace,
            GraphKeys(entities, relations),
            generations.of_workspace(workspace),
            self.graph,
            vectors,
            embeddings,
        )
