"""The services as replicas over stores in memory, every port of theirs interrupted by chance."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from contracts.chunking import Chunking
from contracts.events import Stage
from contracts.topology import declared_consumer
from knowledge.descriptions import SummaryLimits
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from runtime.bus.document_versions import LogVersions
from runtime.bus.memory import MemoryBlobs, MemoryLiveGenerations, MemoryLog, MemoryParkedEvents
from runtime.bus.parking.policy import ParkingPolicy
from runtime.bus.parking.reader import ParkedReader
from runtime.bus.port import Handler
from runtime.bus.processor import EventProcessor, each
from runtime.costs.ledger import RowLedger
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.chunker.adapters.description_cache import DescriptionCache
from services.chunker.describing import FigureDependencies, on_figures_listed
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.domain.figures import FigureLimits
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.handler import on_chunks_created
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.adapters.summarizer import ModelSummarizer
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import (
    on_description_summarized,
    on_entities_extracted,
    on_extents,
    on_graph_edited,
)
from services.merger.main import debounce
from services.merger.port import MergeDependencies
from services.merger.summarize import on_graph_merged as summarize
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.status.projection import on_events
from tests.simulation.models import CountingChat, CountingDescriber, CountingExtractor, Payments
from tests.simulation.scheduler import Chance, Interrupted, SimulatedDurable
from tests.support.chunking import CodePointTokenizer

Change = Callable[[str, Handler], Handler]
"""Puts another handler in place of that of a durable: how a bug is planted."""

SERVICES: tuple[Stage, ...] = ("chunker", "extractor", "merger", "indexer", "query")
HANDLED: dict[str, Stage] = {
    "chunker": "chunker",
    "chunker-figures": "chunker",
    "extractor": "extractor",
    "merger": "merger",
    "merger-extents": "merger",
    "merger-edits": "merger",
    "merger-summarized": "merger",
    "merger-summaries": "merger",
    "indexer-chunks": "indexer",
    "indexer-graph": "indexer",
    "query-status": "query",
}
"""All durables, and their services."""

LIMITS = SummaryLimits(fragments=3)
"""A thing that three passages describe is summarised."""
FIGURE_LIMITS = FigureLimits(max_figures=10, max_bytes=1000, min_side=64)
DIMENSION = 8
TOKENS = CodePointTokenizer()


@dataclass
class Replica:
    """One process of a service: its processors, its readers of parked events, and the tasks in
    which they work.
    """

    service: str
    processors: dict[str, EventProcessor]
    readers: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def end(self) -> None:
        """Stop in the middle of whatever it does."""
        tasks = [*self.tasks, *self.readers.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Pipeline:
    """The log, the stores and the replicas of each service."""

    def __init__(
        self,
        chance: Chance,
        *,
        summaries: bool,
        describes_at_once: bool = True,
        replicas: int = 2,
        change: Change = lambda name, handler: handler,
    ) -> None:
        """Without `describes_at_once` figures are described only where somebody asks for it."""
        self.chance, self.summaries, self.change = chance, summaries, change
        self.describes_at_once = describes_at_once
        self.log, self.blobs, self.pointers = MemoryLog(), MemoryBlobs(), MemoryLiveGenerations()
        self.parked = MemoryParkedEvents(self.log)
        self.stores = Stores(MemoryRows(), MemoryGraph(), MemoryVectors("simulated", DIMENSION))
        self.embedder = LexicalEmbedder(DIMENSION)
        self.extractor, self.chat = (
            CountingExtractor(chance, Payments(chance)),
            CountingChat(chance, Payments(chance)),
        )
        self.describer = CountingDescriber(chance, Payments(chance))
        self.durables = {
            name: SimulatedDurable(declared_consumer(name), chance) for name in HANDLED
        }
        self.replicas = [self._replica(service) for service in SERVICES for _ in range(replicas)]
        self.kills = self.clock_steps = self._offered = 0
        self._lengths: deque[tuple[float, int]] = deque()
        self.broken: BaseException | None = None
        """What ended a processor: nothing may."""

    def port(self, inner: Any) -> Any:
        """Return a port as processes see it."""
        return Interrupted(inner, self.chance)

    def _replica(self, service: Stage) -> Replica:
        """A process as it starts: nothing in its memory."""
        log = self.port(self.log)
        makers = {
            "chunker": self._chunker,
            "extractor": self._extractor,
            "merger": self._merger,
            "indexer": self._indexer,
            "query": self._query,
        }
        handlers = makers[service](log)
        processors = {
            name: EventProcessor(
                service,
                (durable := declared_consumer(name)),
                self.change(name, handler),
                log,
                self.pointers,
                delay=lambda attempt, _: self.chance.rng.random() * min(attempt, 5),
                now=_now,
                parking=ParkingPolicy(
                    durable, self.port(self.parked), clock=lambda: time.time()
                ),  # the simulated one
            )
            for name, handler in handlers.items()
        }
        return Replica(service, processors)

    def _chunker(self, log: Any) -> dict[str, Handler]:
        cut: Any = partial(
            on_document_added,
            blobs=self.blobs,
            cutters=Cutters(TOKENS),
            chunking=ChunkingDefaults(Chunking(size=1200, overlap=100)),
            limits=DocumentLimits(
                1 << 20, figures=FIGURE_LIMITS if self.describes_at_once else None
            ),
            versions=LogVersions(log, look_again=0.0),
        )
        describe: Any = partial(
            on_figures_listed,
            dependencies=FigureDependencies(
                self.blobs,
                self.describer,
                DescriptionCache(self.port(self.stores.rows)),
                TOKENS,
                lambda: 0.0,
            ),
            versions=LogVersions(log, look_again=0.0),
        )
        return {"chunker": each(cut), "chunker-figures": each(describe)}

    def _extractor(self, log: Any) -> dict[str, Handler]:
        extract: Any = partial(
            on_chunks_created,
            extractor=self.extractor,
            extractions=ExtractionCache(self.port(self.stores.rows)),
            clock=lambda: 0.0,
            versions=LogVersions(log, look_again=0.0),
        )
        return {"extractor": each(extract)}

    def _merger(self, _: Any) -> dict[str, Handler]:
        rows = self.port(self.stores.rows)
        graph = self.port(self.stores.graph)
        dependencies = MergeDependencies(
            RowContributions(rows),
            RowSummaries(rows),
            graph,
            LIMITS,
            AggregateCache(min_contributions=3),
        )
        chat = ModelSummarizer(self.chat, rows, language="English", context=12_000, length=600)
        summarizer = chat if self.summaries else None

        return {
            "merger": partial(on_entities_extracted, dependencies=dependencies),
            "merger-extents": partial(on_extents, dependencies=dependencies),
            "merger-edits": partial(on_graph_edited, dependencies=dependencies),
            "merger-summarized": partial(on_description_summarized, dependencies=dependencies),
            "merger-summaries": partial(
                summarize, dependencies=dependencies, summarizer=summarizer, debounce=self._debounce
            ),
        }

    async def _debounce(self, since: datetime) -> None:
        await debounce(self.chance.rng.random(), since)

    def _indexer(self, log: Any) -> dict[str, Handler]:
        rows, graph, vectors = map(
            self.port, (self.stores.rows, self.stores.graph, self.stores.vectors)
        )
        embeddings = CachedEmbeddings(rows, self.embedder)
        return {
            "indexer-chunks": partial(
                on_chunks,
                vectors=vectors,
                embeddings=embeddings,
                extents=RowDocumentBounds(rows, "vector_extents"),
                versions=LogVersions(log, look_again=0.0),
            ),
            "indexer-graph": partial(
                on_graph_merged, graph=graph, vectors=vectors, embeddings=embeddings
            ),
        }

    def _query(self, _: Any) -> dict[str, Handler]:
        rows = self.port(self.stores.rows)
        documents = RowDocuments(rows)
        passages = RowPassages(rows)
        return {
            "query-status": partial(
                on_events, documents=documents, passages=passages, ledger=RowLedger(rows)
            )
        }

    def deliver(self) -> bool:
        """Give some messages of a durable to a replica of its service; return whether there were
        any.
        """
        self._offer()
        now = self.chance.now
        busy = [
            name
            for name, durable in self.durables.items()
            if durable.free and durable.has_work(now)
        ]
        if not busy:
            return False
        name = self.chance.rng.choice(busy)
        messages = self.durables[name].fetch()
        replica = self.chance.rng.choice(
            [replica for replica in self.replicas if name in replica.processors]
        )
        task = asyncio.create_task(replica.processors[name].process(messages))
        replica.tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            replica.tasks.discard(task)
            if not task.cancelled() and (error := task.exception()):
                self.broken = error
            # Unacknowledged by now: the acknowledgement was lost, or the process died. It comes
            # again.
            for message in messages:
                self.durables[name].put_down(message)

        task.add_done_callback(ended)
        return True

    def _offer(self) -> None:
        for message in self.log.messages[self._offered :]:
            for durable in self.durables.values():
                durable.offer(message)
        self._offered = len(self.log.messages)

    def forget_ids(self) -> None:
        """Have the log forget the ids of what is older than its duplicate window."""
        now, length = self.chance.now, len(self.log.messages)
        if not self._lengths or self._lengths[-1][1] < length:
            self._lengths.append((now, length))
        forgotten = 0
        while self._lengths and self._lengths[0][0] <= now - self.chance.window:
            forgotten = self._lengths.popleft()[1]
        if forgotten:
            self.log.ids = {id: n for id, n in self.log.ids.items() if n > forgotten}

    def read_parked(self) -> None:
        """Have every process read the list of parked events of which its durable has some."""
        for durable in {durable for durable, _ in self.parked.records}:
            for replica in self.replicas:
                if durable in replica.processors and durable not in replica.readers:
                    reader = ParkedReader(replica.processors[durable], self.port(self.parked))
                    replica.readers[durable] = asyncio.create_task(reader.run())

    async def kill(self) -> None:
        """End a process in the middle of what it does; another one starts in its place."""
        place = self.chance.rng.randrange(len(self.replicas))
        await self.replicas[place].end()
        self.kills += 1
        service: Any = self.replicas[place].service
        self.replicas[place] = self._replica(service)

    async def end(self) -> None:
        """End every process, and forget them: they refer to the pipeline, which no search for
        garbage has to find.
        """
        for replica in self.replicas:
            await replica.end()
        self.replicas.clear()

    @property
    def at_rest(self) -> bool:
        """Whether nothing waits, is parked, or is in anybody's hands."""
        self._offer()
        waits = any(durable.waiting for durable in self.durables.values()) or bool(
            self.parked.records
        )
        return not waits and not any(replica.tasks for replica in self.replicas)


def _now() -> datetime:
    """Return the simulated time, which somebody may have set."""
    return datetime.fromtimestamp(time.time(), UTC)
