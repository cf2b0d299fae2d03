"""Wiring of the indexer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from runtime.bus.versions import LogVersions
from runtime.health import Health
from runtime.models.open import open_embedder
from runtime.service import Bus, Subscription, run, until_it_answers
from runtime.stores.documents.caches import CachedEmbeddings
from runtime.stores.documents.extents import RowExtents
from runtime.stores.open import open_documents, open_graph, open_vectors
from services.indexer.handler import on_chunks, on_graph_merged
from services.indexer.settings import IndexerSettings

CALLS_OF_A_GROUP = 8
"""Full batches whose vectors are written down together."""


def main() -> None:
    """Run the service."""
    settings = IndexerSettings()

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        embedder = open_embedder(settings, bus.guards)
        rows, graph = open_documents(settings), open_graph(settings)
        vectors = open_vectors(settings, model=embedder.model, dimension=embedder.dimension)
        try:
            await until_it_answers("the document store", rows.prepare, health)
            await until_it_answers("the graph store", graph.prepare, health)
            await until_it_answers("the vector store", vectors.ping, health)
            embeddings = CachedEmbeddings(rows, embedder, CALLS_OF_A_GROUP * settings.embedding_batch_num)
            yield [
                Subscription(
                    "indexer-chunks",
                    partial(
                        on_chunks,
                        vectors=vectors,
                        embeddings=embeddings,
                        extents=RowExtents(rows, "vector_extents"),
                        versions=LogVersions(bus.log),
                    ),
                ),
                Subscription(
                    "indexer-graph", partial(on_graph_merged, graph=graph, vectors=vectors, embeddings=embeddings)
                ),
            ]
        finally:
            await vectors.close()
            await graph.close()
            await rows.close()
            await embedder.close()

    run("indexer", settings, build)


if __name__ == "__main__":
    main()
