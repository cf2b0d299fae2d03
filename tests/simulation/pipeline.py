"""The services as replicas over stores in memory, every port of theirs interrupted by chance."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

from contracts.events import Stage
from contracts.topology import declared_consumer
from contracts.values import Chunking, ExtractedEntity, ExtractedRelation
from runtime.bus.document_versions import LogVersions
from runtime.bus.memory import MemoryActiveGenerations, MemoryBlobs, MemoryLog
from runtime.bus.port import Handler
from runtime.bus.processor import EventProcessor, each
from runtime.costs.ledger import RowLedger
from runtime.models.lexical import LexicalEmbedder
from runtime.models.open import open_tokenizer
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.chunker.handler import DocumentLimits, on_document_added
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.domain.extraction import Extraction
from services.extractor.handler import on_chunks_created
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.handler import on_entities_extracted, on_extents, on_graph_edited
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.status.projection import on_events
from standalone.operations.digest import Stores
from tests.simulation.scheduler import Chance, Interrupted, SimulatedDurable
from tests.support.events import NOON
from tests.support.merging import merging


@dataclass
class CountingExtractor:
    """Finds the names of a passage and relations of neighbours; `calls` counts what was paid for, by passage."""

    calls: Counter[str] = field(default_factory=Counter[str])
    model = "simulated"
    draft_version = prompt_version = "simulated-1"

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        self.calls[content] += 1
        names = [word for word in content.split() if word.isalpha()]
        return Extraction(
            tuple(ExtractedEntity(name=name, type="person", description=f"{name} of {content}") for name in names),
            tuple(
                ExtractedRelation(source=a, target=b, keywords=("met",), description=f"{a} met {b} in {content}")
                for a, b in pairwise(names)
            ),
        )

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        return first


Change = Callable[[str, Handler], Handler]
"""Puts another handler in place of that of a durable: how a bug is planted."""


@dataclass
class Replica:
    """One process of a service: its processors, and the tasks in which they work."""

    service: str
    processors: dict[str, EventProcessor]
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])


class Pipeline:
    """The log, the stores and two replicas of each service."""

    REPLICAS = 2

    def __init__(self, chance: Chance, change: Change = lambda name, handler: handler) -> None:
        self.chance, self.change = chance, change
        self.log, self.blobs = MemoryLog(), MemoryBlobs()
        self.stores = Stores(MemoryRows(), MemoryGraph(), MemoryVectors("simulated", 16))
        self.extractor = CountingExtractor()
        self.durables = {name: self._durable(name) for name in HANDLED}
        self.replicas = [self._replica(service) for service in SERVICES for _ in range(self.REPLICAS)]
        self.kills = 0

    def _durable(self, name: str) -> SimulatedDurable:
        return SimulatedDurable(self.log, declared_consumer(name), self.chance)

    def _replica(self, service: Stage) -> Replica:
        """A process as it starts: nothing in its memory."""
        log: Any = Interrupted(self.log, self.chance)
        handlers = self._handlers(log)
        processors = {
            name: EventProcessor(
                stage, declared_consumer(name), self.change(name, handlers[name]), log, MemoryActiveGenerations(),
                delay=lambda attempt, wait: 0.0, now=lambda: NOON,
            )
            for name, stage in HANDLED.items()
            if stage == service
        }  # fmt: skip
        return Replica(service, processors)

    def _handlers(self, log: Any) -> dict[str, Handler]:
        rows, graph, vectors = (
            Interrupted(store, self.chance) for store in (self.stores.rows, self.stores.graph, self.stores.vectors)
        )  # fmt: skip
        port: Any = rows
        stores: Any = {"graph": graph, "vectors": vectors}
        versions = LogVersions(log, look_again=0.0)
        embeddings = CachedEmbeddings(port, LexicalEmbedder(16))
        merger = merging(port, stores["graph"])
        cut: Any = partial(
            on_document_added, blobs=self.blobs, tokens=open_tokenizer(), chunking=Chunking(size=1200, overlap=100),
            limits=DocumentLimits(1 << 20), versions=versions,
        )  # fmt: skip
        extract: Any = partial(
            on_chunks_created, extractor=self.extractor, extractions=ExtractionCache(port), clock=lambda: 0.0,
            versions=versions,
        )  # fmt: skip
        return {
            "chunker": each(cut),
            "extractor": each(extract),
            "merger": partial(on_entities_extracted, merging=merger),
            "merger-extents": partial(on_extents, merging=merger),
            "merger-edits": partial(on_graph_edited, merging=merger),
            "indexer-chunks": partial(
                on_chunks, vectors=stores["vectors"], embeddings=embeddings,
                extents=RowDocumentBounds(port, "vector_extents"), versions=versions,
            ),
            "indexer-graph": partial(on_graph_merged, **stores, embeddings=embeddings),
            "query-status": partial(
                on_events, documents=RowDocuments(port), passages=RowPassages(port), ledger=RowLedger(port)
            ),
        }  # fmt: skip

    def deliver(self) -> bool:
        """Give some messages of a durable to a replica of its service; return whether there were any."""
        busy = [name for name, durable in self.durables.items() if durable.has_work()]
        if not busy:
            return False
        name = self.chance.rng.choice(busy)
        messages = self.durables[name].fetch()
        replica = self.chance.rng.choice([each for each in self.replicas if name in each.processors])
        task = asyncio.create_task(replica.processors[name].process(messages))
        replica.tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            replica.tasks.discard(task)
            # Unacknowledged by now: the acknowledgement was lost, or the process died. It comes again.
            for message in messages:
                self.durables[name].put_down(message)

        task.add_done_callback(ended)
        return True

    async def kill(self) -> None:
        """End a process in the middle of what it does; another one starts in its place."""
        place = self.chance.rng.randrange(len(self.replicas))
        for task in (tasks := list(self.replicas[place].tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.kills += 1
        service: Any = self.replicas[place].service
        self.replicas[place] = self._replica(service)

    @property
    def working(self) -> bool:
        """Whether any process has messages in its hands."""
        return any(replica.tasks for replica in self.replicas)


SERVICES: tuple[Stage, ...] = ("chunker", "extractor", "merger", "indexer", "query")
HANDLED: dict[str, Stage] = {
    "chunker": "chunker", "extractor": "extractor", "merger": "merger", "merger-extents": "merger",
    "merger-edits": "merger", "indexer-chunks": "indexer", "indexer-graph": "indexer", "query-status": "query",
}  # fmt: skip
"""Durables that work without a language model's summaries, and their services."""
