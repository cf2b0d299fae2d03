"""All five services in one event loop, on a bus and stores in memory, behind the real HTTP server
on a free port.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import uvicorn
from fastapi import FastAPI

from contracts.chunking import Chunking
from contracts.events import Stage
from contracts.text import MAX_TEXT_BYTES
from contracts.topology import declared_consumer
from embedded.processes import free_port
from runtime.bus.memory import MemoryConsumer, MemoryLog
from runtime.bus.port import ALL_WANTED, DocumentVersions, Handler
from runtime.bus.processor import EventProcessor, each
from runtime.models.open import open_tokenizer
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.handler import on_chunks_created
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.handler import on_entities_extracted, on_extents, on_graph_edited
from services.query.status.projection import on_events
from tests.support.merging import merge_dependencies
from tests.support.querying import QueryHarness


@dataclass
class FollowedLog(MemoryLog):
    """A log that knows how far each consumer is."""

    positions: dict[str, int] = field(default_factory=dict[str, int])
    paused: set[str] = field(default_factory=set[str])
    """Consumers that handle nothing for now."""
    settled: int = 0
    """Up to here every consumer is done that is not paused."""

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        return min((self.positions.get(name, 0) for name in durables or self.positions), default=0)

    def resume(self) -> None:
        """Let all consumers go on."""
        self.paused.clear()
        self.settled = 0


@dataclass
class Worker:
    """One consumer, its processor and its place in the log."""

    consumer: MemoryConsumer
    edge: EventProcessor

    async def step(self) -> bool:
        """Handle what waits; whether there was anything."""
        messages = self.consumer.fetch(self.edge.durable.batch)
        if messages:
            await self.edge.process(messages)
        return bool(messages)


def workers(harness: QueryHarness, versions: DocumentVersions = ALL_WANTED) -> list[Worker]:
    """Every consumer that works without a language model, over the stores of this world."""
    embeddings = CachedEmbeddings(harness.rows, harness.embedder)
    merger = merge_dependencies(harness.rows, harness.graph)
    chunking = ChunkingDefaults(Chunking(size=1200, overlap=100))
    cut = partial(
        on_document_added,
        blobs=harness.blobs,
        cutters=Cutters(open_tokenizer()),
        chunking=chunking,
        limits=DocumentLimits(MAX_TEXT_BYTES),
        versions=versions,
    )
    extract = partial(
        on_chunks_created,
        extractor=OfflineExtractor(),
        extractions=ExtractionCache(harness.rows),
        clock=time.monotonic,
        versions=versions,
    )
    passages = partial(
        on_chunks,
        vectors=harness.vectors,
        embeddings=embeddings,
        extents=RowDocumentBounds(harness.rows, "vector_extents"),
        versions=versions,
    )
    things = partial(
        on_graph_merged, graph=harness.graph, vectors=harness.vectors, embeddings=embeddings
    )
    status = partial(
        on_events, documents=harness.documents, passages=harness.passages, ledger=harness.ledger
    )
    parts: list[tuple[str, Stage, Handler]] = [
        ("chunker", "chunker", each(cut)),
        ("extractor", "extractor", each(extract)),
        ("merger", "merger", partial(on_entities_extracted, dependencies=merger)),
        ("merger-extents", "merger", partial(on_extents, dependencies=merger)),
        ("merger-edits", "merger", partial(on_graph_edited, dependencies=merger)),
        ("indexer-chunks", "indexer", passages),
        ("indexer-graph", "indexer", things),
        ("query-status", "query", status),
    ]
    return [
        Worker(
            harness.consumer(declared_consumer(name)),
            EventProcessor(stage, declared_consumer(name), handle, harness.log, harness.pointers),
        )
        for name, stage, handle in parts
    ]


async def work(harness: QueryHarness) -> None:
    """Bring every event to its effect, for ever."""
    ours = workers(harness)
    log = harness.log if isinstance(harness.log, FollowedLog) else FollowedLog()
    while True:
        moved = [await _worked(worker, log) for worker in ours]
        if not any(moved):
            active_names = log.positions.keys() - log.paused
            log.settled = min((log.positions[name] for name in active_names), default=0)
        await asyncio.sleep(0 if any(moved) else 0.005)


async def _worked(worker: Worker, log: FollowedLog) -> bool:
    name = worker.edge.durable.name
    if name in log.paused:
        return False
    has_moved = await worker.step()
    log.positions[name] = worker.consumer.seen_count
    return has_moved


@asynccontextmanager
async def working(harness: QueryHarness) -> AsyncGenerator[None]:
    """The services are at work."""
    task = asyncio.create_task(work(harness))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def settle(harness: QueryHarness, seconds: float = 30) -> None:
    """Wait until every event has had its effect; the services must be at work."""
    end = time.monotonic() + seconds
    log = harness.log
    assert isinstance(log, FollowedLog)
    while log.settled != len(log.messages):
        assert time.monotonic() < end, (
            f"{log.settled} of {len(log.messages)} within {seconds:.0f} s"
        )
        await asyncio.sleep(0.005)


@contextmanager
def serving(app: FastAPI, harness: QueryHarness) -> Generator[str]:
    """The address of the application, served by a thread of this process while the services work
    beside it.
    """
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(app, "127.0.0.1", port, log_config=None, lifespan="off", server_header=False)
    )

    async def serve() -> None:
        async with working(harness):
            await server.serve()

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive() and time.monotonic() < end, "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not stop"
