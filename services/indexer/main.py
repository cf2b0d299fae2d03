"""The indexer as a process: which handler takes the messages of which durable, and what it is
given.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from runtime.bus.document_versions import LogVersions
from runtime.health import Health
from runtime.projections.embedding import GenerationEmbedders
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.open import open_documents, open_graph
from services.indexer.handler import on_chunks, on_graph_merged
from services.indexer.settings import IndexerSettings
from services.indexer.wiring import GenerationHandlers


def main() -> None:
    """Run the service."""
    settings = read_settings("indexer", IndexerSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        embeddings = GenerationEmbedders(settings, bus.limiters)
        rows = open_documents(settings)
        graph = open_graph(settings)
        health.notes["vectors"] = partial(embeddings.note, bus.pointers)
        of_generation = GenerationHandlers(embeddings, rows, settings.embedding_batch_num)
        chunks = of_generation.handler(
            on_chunks,
            extents=RowDocumentBounds(rows, "vector_extents"),
            versions=LogVersions(bus.log),
        )
        graph_merged = of_generation.handler(on_graph_merged, graph=graph)
        try:
            await until_it_answers("the document store", rows.prepare, health)
            await until_it_answers("the graph store", graph.prepare, health)
            await until_it_answers("the vector store", embeddings.configured.vectors.ping, health)
            parts = {
                "the document store": RowCheckpoints(rows, "vectors"),
                "the vector store": embeddings,
            }
            filling = ("indexer-chunks", "indexer-graph")
            bus.integrity.watch("vectors", parts, filling, held_durables=filling)
            bus.integrity.watch(
                "graph", {"the graph store": graph}, held_durables=("indexer-graph",)
            )
            bus.integrity.schema_store = rows
            yield [
                Subscription("indexer-chunks", chunks),
                Subscription("indexer-graph", graph_merged),
            ]
        finally:
            await embeddings.close()
            await graph.close()
            await rows.close()

    run("indexer", settings, build)


if __name__ == "__main__":
    main()
