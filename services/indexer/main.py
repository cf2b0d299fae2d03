"""Wiring of the indexer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from contracts.events import ChunksCreated, DocumentDeleted, GraphMerged
from contracts.graph import EmbeddingModel, Generations
from runtime.bus.document_versions import LogVersions
from runtime.bus.port import Delivery, DocumentVersions, Events
from runtime.health import Health
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.service import Bus, Subscription, run, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.open import open_documents, open_graph
from services.indexer.adapters import CachedEmbeddings
from services.indexer.handler import on_chunks, on_graph_merged
from services.indexer.settings import IndexerSettings

CALLS_PER_GROUP = 8
"""Calls to the embedding model whose vectors are stored together."""


class Indexing:
    """The indexer's handlers, called with the vectors and the embedding model of the generation that is written."""

    def __init__(
        self, embeddings: GenerationEmbedders, rows: Rows, graph: Graph, versions: DocumentVersions, group: int
    ) -> None:
        self._embeddings, self._rows, self._graph, self._group = embeddings, rows, graph, group
        self._versions = versions
        self._extents = RowDocumentBounds(rows, "vector_extents")
        self._caches: dict[EmbeddingModel, CachedEmbeddings] = {}

    async def chunks(
        self, batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]], generations: Generations
    ) -> Sequence[Events]:
        """See `on_chunks`."""
        async with self._embeddings.of(generations.vectors) as target:
            return await on_chunks(
                batch,
                generations,
                vectors=target.vectors,
                embeddings=self._cached(target),
                extents=self._extents,
                versions=self._versions,
            )

    async def graph_merged(self, batch: Sequence[Delivery[GraphMerged]], generations: Generations) -> Sequence[Events]:
        """See `on_graph_merged`."""
        async with self._embeddings.of(generations.vectors) as target:
            return await on_graph_merged(
                batch,
                generations,
                graph=self._graph,
                vectors=target.vectors,
                embeddings=self._cached(target),
            )

    def _cached(self, target: EmbeddedVectors) -> CachedEmbeddings:
        if target.model not in self._caches:
            self._caches[target.model] = CachedEmbeddings(self._rows, target.embedder, self._group)
        return self._caches[target.model]


def main() -> None:
    """Run the service."""
    settings = IndexerSettings()

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        embeddings = GenerationEmbedders(settings, bus.limiters)
        rows, graph = open_documents(settings), open_graph(settings)
        versions = LogVersions(bus.log)
        health.notes["vectors"] = partial(embeddings.note, bus.pointers)
        indexing = Indexing(embeddings, rows, graph, versions, CALLS_PER_GROUP * settings.embedding_batch_num)
        try:
            await until_it_answers("the document store", rows.prepare, health)
            await until_it_answers("the graph store", graph.prepare, health)
            await until_it_answers("the vector store", embeddings.configured.vectors.ping, health)
            parts = {"the document store": RowCheckpoints(rows, "vectors"), "the vector store": embeddings}
            bus.integrity.watch("vectors", parts, ("indexer-chunks", "indexer-graph"))
            bus.integrity.watch("graph", {"the graph store": graph})
            yield [
                Subscription("indexer-chunks", indexing.chunks),
                Subscription("indexer-graph", indexing.graph_merged),
            ]
        finally:
            await embeddings.close()
            await graph.close()
            await rows.close()

    run("indexer", settings, build)


if __name__ == "__main__":
    main()
