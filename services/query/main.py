"""Wiring of the query service: the API and the status projection."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from runtime.health import Health
from runtime.models.open import open_chat, open_embedder, open_tokenizer
from runtime.service import Bus, Subscription, run, starting, until_it_answers
from runtime.stores.open import open_documents, open_graph, open_vectors
from services.query.adapters import RowDocuments, RowPassages
from services.query.api.app import create_app
from services.query.api.door import door
from services.query.api.routes import Context
from services.query.api.settings import AccessSettings
from services.query.library import Library
from services.query.models import ExtractiveAnswers, ModelAnswers, ModelKeywords, OfflineKeywords
from services.query.positions import LogPositions
from services.query.project import on_facts
from services.query.settings import QuerySettings

PATIENCE = 30.0
"""Seconds a question waits for its turn at a model that others use too."""


def main() -> None:
    """Run the service."""
    settings = QuerySettings()
    app = closed()

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        embedder = open_embedder(settings, bus.guards, patience=PATIENCE)
        chat = open_chat(settings, bus.guards, patience=PATIENCE)
        rows, graph = open_documents(settings), open_graph(settings)
        vectors = open_vectors(settings, model=embedder.model, dimension=embedder.dimension)
        documents, passages = RowDocuments(rows), RowPassages(rows)
        library = Library(
            graph=graph,
            vectors=vectors,
            passages=passages,
            keywords=ModelKeywords(chat, settings.summary_language) if chat else OfflineKeywords(),
            answers=ModelAnswers(chat) if chat else ExtractiveAnswers(embedder),
            embed=embedder.embed,
            count=open_tokenizer().count,
            min_score=settings.cosine_threshold,
            related_chunks=settings.related_chunk_number,
            pick=settings.kg_chunk_pick_method,
            min_rerank_score=settings.min_rerank_score,
        )
        try:
            await until_it_answers("the document store", rows.prepare, health)
            await until_it_answers("the graph store", graph.prepare, health)
            await until_it_answers("the vector store", vectors.ping, health)
            app.state.context = Context(
                bus.log, bus.blobs, bus.pointers, documents, LogPositions(bus.log, documents), library, settings
            )
            yield [Subscription("query-status", partial(on_facts, documents=documents, passages=passages))]
        finally:
            for part in (vectors, graph, rows, embedder, *([chat] if chat else [])):
                await part.close()

    run("query", settings, build, app)


def closed() -> FastAPI:
    """The application behind its door. Ends the process when the settings would let in who must not come in."""
    access = AccessSettings()
    with starting("query", access):
        return create_app(door(access))


if __name__ == "__main__":
    main()
