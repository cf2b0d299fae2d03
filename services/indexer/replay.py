"""The indexer's replay handlers: what a rebuild runs to fill a new generation of vectors."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from contracts.events import ChunksCreated, DocumentDeleted, Event, GraphMerged
from contracts.graph import Generations
from runtime.batching import batched
from runtime.models.port import Embedder
from runtime.replay import ReplayHandler
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.adapters import CachedEmbeddings
from services.indexer.graph_index import GraphKeys, index_graph
from services.indexer.handler import on_chunks

BATCH_SIZE = 500
"""Entities and relations that are indexed at a time."""


@dataclass
class VectorReplay:
    """Indexes chunks as the rebuild reads them, and entities and relations once, at its end.

    So an entity with many contributions is embedded once and not after each of them.
    """

    rows: Rows
    graph: Graph
    vectors: Vectors
    embedder: Embedder
    _keys: dict[str, set[tuple[str, ...]]] = field(default_factory=dict[str, set[tuple[str, ...]]])
    """Entities (one name) and relations (two names) whose vectors are still to be made, by workspace."""

    def __post_init__(self) -> None:
        self._embeddings = CachedEmbeddings(self.rows, self.embedder)

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers for events about chunks."""
        handle = partial(
            on_chunks,
            vectors=self.vectors,
            embeddings=self._embeddings,
            extents=RowDocumentBounds(self.rows, "vector_extents"),
        )
        return [ReplayHandler((ChunksCreated, DocumentDeleted), handle)]

    def collect(self, workspace: str, events: Sequence[Event]) -> None:
        """Note the entities and relations that the GraphMerged events among these changed."""
        keys = self._keys.setdefault(workspace, set())
        for event in events:
            if isinstance(event, GraphMerged):
                keys |= {(entity.name,) for entity in event.entities}
                keys |= {(relation.source, relation.target) for relation in event.relations}

    async def index_collected(
        self, generations: Generations, retry: Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]
    ) -> AsyncGenerator[tuple[int, int]]:
        """Make the vectors of the collected keys; `retry` runs each batch. Yields how many are made, of how many."""
        for workspace, keys in self._keys.items():
            done = 0
            for batch in batched(sorted(keys), BATCH_SIZE):
                await retry(partial(self._index, workspace, batch, generations))
                done += len(batch)
                yield done, len(keys)
        self._keys.clear()

    async def _index(self, workspace: str, keys: Sequence[tuple[str, ...]], generations: Generations) -> None:
        entities = {key[0] for key in keys if len(key) == 1}
        relations = {(key[0], key[1]) for key in keys if len(key) == 2}
        await index_graph(
            workspace, GraphKeys(entities, relations), generations, self.graph, self.vectors, self._embeddings
        )
