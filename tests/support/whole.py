"""All services in one process on stores in memory, with the HTTP API on a real port: seconds instead of a stack."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import uvicorn
from fastapi import FastAPI

from contracts.events import Stage
from contracts.topology import durable
from runtime.bus.edge import Edge, each
from runtime.bus.memory import MemoryConsumer
from runtime.bus.port import Handle
from runtime.models.open import open_tokenizer
from runtime.stores.documents.caches import CachedEmbeddings, ExtractionCache
from runtime.stores.documents.extents import RowExtents
from services.chunker.handler import on_document_added
from services.chunker.settings import ChunkerSettings
from services.extractor.adapters.rules import OfflineExtractor
from services.extractor.handler import on_chunks_created
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.handler import on_entities_extracted, on_extents, on_graph_edited
from services.query.project import on_facts
from standalone.processes import free_port
from tests.support.merging import merging
from tests.support.querying import World


def _handlers(world: World) -> dict[str, tuple[Stage, Handle]]:
    """What each durable gives its events to, over the stores of this world."""
    chunking = ChunkerSettings()
    cut = partial(
        on_document_added, blobs=world.blobs, tokens=open_tokenizer(), chunking=chunking.chunking,
        max_bytes=chunking.max_text_bytes,
    )  # fmt: skip
    extract = partial(
        on_chunks_created, extractor=OfflineExtractor(), extractions=ExtractionCache(world.rows), clock=time.monotonic
    )
    fold = {"merging": merging(world.rows, world.graph)}
    index = {"vectors": world.vectors, "embeddings": CachedEmbeddings(world.rows, world.embedder)}
    extents = RowExtents(world.rows, "vector_extents")
    return {
        "query-status": ("query", partial(on_facts, documents=world.documents, passages=world.passages)),
        "chunker": ("chunker", each(cut)),
        "extractor": ("extractor", each(extract)),
        "merger": ("merger", partial(on_entities_extracted, **fold)),
        "merger-extents": ("merger", partial(on_extents, **fold)),
        "merger-edits": ("merger", partial(on_graph_edited, **fold)),
        "indexer-chunks": ("indexer", partial(on_chunks, **index, extents=extents)),
        "indexer-graph": ("indexer", partial(on_graph_merged, **index, graph=world.graph)),
    }


@asynccontextmanager
async def working(world: World) -> AsyncIterator[None]:
    """Every service takes the events of the log as they come."""
    edges = [
        (MemoryConsumer(world.log, durable(name)), Edge(stage, durable(name), handle, world.log, world.pointers))
        for name, (stage, handle) in _handlers(world).items()
    ]

    async def work() -> None:
        while True:
            for consumer, edge in edges:
                if messages := consumer.fetch(edge.durable.batch):
                    await edge.process(messages)
            await asyncio.sleep(0.005)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[str]:
    """The application on a free port; its address."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    )
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running
