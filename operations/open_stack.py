"""A stack's bus and stores, open for a command."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from nats.aio.client import Client

from operations.digest import Stores
from runtime.bus.nats.connection import connected
from runtime.projections.embedding import GenerationEmbedders
from runtime.settings import Settings
from runtime.stores.open import open_documents, open_graph, open_vectors


@dataclass(frozen=True)
class OpenStack:
    """A stack's bus and stores, open. The stores' vectors are those of the configured embedding
    model.
    """

    client: Client
    settings: Settings
    stores: Stores
    embeddings: GenerationEmbedders

    @asynccontextmanager
    async def stores_of_generation(self, generation: int) -> AsyncGenerator[Stores]:
        """Give the stores, with vectors opened for the embedding model that made this
        generation.
        """
        stored_model = await self.stores.vectors.model_of(generation)
        if stored_model in (None, self.embeddings.configured.model):
            yield self.stores
            return
        vectors = open_vectors(
            self.settings, model=stored_model.name, dimension=stored_model.dimension
        )
        try:
            yield replace(self.stores, vectors=vectors)
        finally:
            await vectors.close()


@asynccontextmanager
async def open_prepared(settings: Settings) -> AsyncGenerator[OpenStack]:
    """Connect to bus and stores, and create what the stores lack. Raises ConfigurationError or
    Unavailable.
    """
    async with open_as_is(settings) as stack:
        await stack.stores.rows.prepare()
        await stack.stores.graph.prepare()
        yield stack


@asynccontextmanager
async def open_as_is(settings: Settings) -> AsyncGenerator[OpenStack]:
    """Connect to bus and stores and create nothing. Raises ConfigurationError when the bus does not
    answer.
    """
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        embeddings = GenerationEmbedders(settings)
        rows = open_documents(settings)
        graph = open_graph(settings)
        try:
            yield OpenStack(
                client, settings, Stores(rows, graph, embeddings.configured.vectors), embeddings
            )
        finally:
            for part in (embeddings, graph, rows):
                await part.close()
