"""A query service over stores in memory, filled by the real handlers of the other services."""

from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import FastAPI

from contracts.envelope import Envelope
from contracts.events import DocumentAdded, Event
from contracts.graph import Generations
from contracts.topology import declared_consumer
from offline.embeddings.lexical import LexicalEmbedder
from publishing.upload_records import UploadRecords
from runtime.bus.codec import decode
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.memory import (
    MemoryBlobs,
    MemoryConsumer,
    MemoryLiveGenerations,
    MemoryLog,
    MemorySharedValues,
)
from runtime.bus.port import Delivery
from runtime.costs.ledger import RowLedger
from runtime.models.open import open_tokenizer
from runtime.models.scripted import CountingEmbedder
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.gateway.app import create_app
from services.gateway.auth.config import AuthConfig
from services.gateway.conversations.store import Conversations
from services.gateway.dependencies import provide
from services.gateway.documents.request_records import RequestRecords
from services.gateway.feeds.streams import EventStreams
from services.gateway.operations.dependencies import Operations
from services.gateway.operations.model_trials import Models
from services.gateway.settings import GatewaySettings
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoints
from services.gateway.webhooks.http_poster import HttpPoster
from services.gateway.wiring import Parts, Projections
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.handler import on_entities_extracted
from services.query.adapters.aliases import RowAliases
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.adapters.model_result_caches import RowModelResultCaches
from services.query.adapters.offline import ExtractiveAnswerGenerator, OfflineKeywordExtractor
from services.query.adapters.provenance import RowProvenance
from services.query.answering.dependencies import QueryDependencies
from services.query.charges import Charges
from services.query.past.answers import MemoryPastAnswers
from services.query.past.documents import MemoryPastDocuments
from services.query.past.reading import Past
from services.query.questions.local import LocalQuestions
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.settings import QuerySettings
from services.query.status.positions import LogPositions
from services.query.status.projection import on_events
from services.query.visibility.followed_log import FollowedVisibility
from services.query.wiring import try_reranker
from tests.support.events import (
    NOON,
    added,
    chunked,
    delivered,
    document,
    entity,
    extracted,
    relation,
)
from tests.support.merging import merge_dependencies
from tests.support.operations import memory_operations
from tests.support.waiting import PATIENCE

LIVE = Generations()


@dataclass
class QueryHarness:
    """Every store in memory."""

    rows: MemoryRows = field(default_factory=MemoryRows)
    graph: MemoryGraph = field(default_factory=MemoryGraph)
    embedder: CountingEmbedder = field(
        default_factory=lambda: CountingEmbedder(LexicalEmbedder(256))
    )
    log: MemoryLog = field(default_factory=MemoryLog)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    pointers: MemoryLiveGenerations = field(default_factory=MemoryLiveGenerations)
    operations: Operations = field(default_factory=memory_operations)
    uploads: MemorySharedValues = field(default_factory=MemorySharedValues)
    requests: MemorySharedValues = field(default_factory=MemorySharedValues)

    def __post_init__(self) -> None:
        self.vectors = MemoryVectors(self.embedder.model, self.embedder.dimension)
        self.documents, self.passages = RowDocuments(self.rows), RowPassages(self.rows)
        self.ledger = RowLedger(self.rows)
        self.visibility = FollowedVisibility(self.log, self.pointers, self.documents)
        self.names = NameIndexes(
            self.graph, self.documents, RowAliases(self.rows), max_wait=PATIENCE
        )

    async def project(self, *deliveries: Delivery[Any]) -> None:
        """Let the status projection see these events."""
        await on_events(
            deliveries, LIVE, documents=self.documents, passages=self.passages, ledger=self.ledger
        )

    async def index(
        self,
        name: str,
        *passages: str,
        says: Any = (),
        version: int = 1,
        workspace: str = "w",
        **fields: Any,
    ) -> None:
        """A document through all services: `says` is, for each passage, its (entities, relations).

        `fields` are those of its DocumentAdded, but for `added_at`, the time of that event.
        """
        at = fields.pop("added_at", NOON)
        of = document(name, version, added_at=at, file_path=f"{name}.txt")
        cut = delivered(chunked(of, *passages), version + 1, workspace=workspace, correlation=name)
        sequence = version + 2
        await self.project(
            delivered(
                added(name, "\n".join(passages), **fields),
                version,
                workspace=workspace,
                id=name,
                correlation=name,
                time=at,
            ),
            cut,
        )
        embeddings = CachedEmbeddings(self.rows, self.embedder)
        events: list[Any] = await on_chunks(
            [cut],
            LIVE,
            vectors=self.vectors,
            embeddings=embeddings,
            extents=RowDocumentBounds(self.rows, "vector_extents"),
        )
        attributes: dict[str, Any] = {"workspace": workspace, "correlation": name}
        said = [
            delivered(
                extracted(of, order, *(says[order] if order < len(says) else ())),
                sequence + order,
                **attributes,
            )
            for order in range(len(passages))
        ]
        await self.project(*said)
        merged = await on_entities_extracted(
            said, LIVE, dependencies=merge_dependencies(self.rows, self.graph)
        )
        events += merged
        deliveries = [
            delivered(event, sequence + 100 + n, workspace=workspace)
            for n, (event,) in enumerate(merged)
        ]
        events += await on_graph_merged(
            deliveries, LIVE, graph=self.graph, vectors=self.vectors, embeddings=embeddings
        )
        numbered = enumerate(events, sequence + 200)
        await self.project(
            *(delivered(event, number, **attributes) for number, (event,) in numbered)
        )

    def consumer(self, durable: Any) -> MemoryConsumer:
        """A consumer over the log."""
        return MemoryConsumer(self.log, durable)

    def deps(self, cache_bytes: int = 0, **changes: Any) -> QueryDependencies:
        """What questions are answered from, offline. What is indexed here is not always in the log,
        so that nothing is cached.
        """
        cache = ProjectionCache(self.log, cache_bytes)
        deps = QueryDependencies(
            graph=self.graph,
            graph_reader=CachedGraph(self.graph, cache),
            vectors=self.vectors,
            vector_reader=CachedVectors(self.vectors, cache),
            cache_invalidation=cache,
            documents=self.documents,
            passages=self.passages,
            provenance=RowProvenance(self.rows),
            aliases=RowAliases(self.rows),
            caches=RowModelResultCaches(self.rows),
            ledger=self.ledger,
            entity_names=self.names,
            passage_reader=self.passages,
            visibility=self.visibility,
            keyword_extractor=OfflineKeywordExtractor(),
            answer_generator=ExtractiveAnswerGenerator(self.embedder),
            embed=self.embedder.embed,
            count_tokens=open_tokenizer().count,
            min_score=0.05,
        )
        return replace(deps, **changes)

    def app(self, config: AuthConfig | None = None, **changes: Any) -> FastAPI:
        """The HTTP API over these stores, open to everybody without a configuration of access."""
        app = create_app(config)
        answering = changes.pop("answering", None) or self.deps()
        question_settings = changes.pop("question_settings", None) or QuerySettings()
        present = changes.pop("present", None)
        past = Past(self.log, question_settings.summary_limits, present)
        parts: dict[str, Any] = {
            "settings": GatewaySettings(workspace="w"),
            "log": self.log,
            "blobs": self.blobs,
            "pointers": self.pointers,
            "feed": MemoryEventFeed(self.log),
            "streams": EventStreams(),
            "projections": self.projections(),
            "positions": LogPositions(self.log, self.documents),
            "questions": LocalQuestions(
                question_settings, answering, past, MemoryPastAnswers(self.log, self.rows)
            ),
            "count_tokens": answering.count_tokens,
            "past": past,
            "past_documents": MemoryPastDocuments(self.log, past),
            "operations": self.operations,
            "webhooks": Webhooks(Endpoints(MemorySharedValues()), HttpPoster()),
            "conversations": Conversations(MemorySharedValues()),
            "uploads": UploadRecords(self.uploads),
            "requests": RequestRecords(self.requests),
            "models": Models(question_settings, try_reranker, (), None),
            "charges": Charges(self.log),
        }
        provide(app, *Parts(**{**parts, **changes}).slices())
        return app

    def projections(self) -> Projections:
        """What routes read beside questions."""
        return Projections(
            documents=self.documents,
            visibility=self.visibility,
            passages=self.passages,
            provenance=RowProvenance(self.rows),
            aliases=RowAliases(self.rows),
            graph=self.graph,
            ledger=self.ledger,
            caches=RowModelResultCaches(self.rows),
        )


CURIE = (
    "Marie Curie discovered radium in Paris together with Pierre Curie.",
    "Radium glows in the dark and was used on the dials of watches.",
)
CURIE_SAYS = (
    (
        [
            entity("Marie Curie", "person", "She discovered radium"),
            entity("Radium", "data", "An element that glows"),
        ],
        [relation("Marie Curie", "Radium", "Marie Curie discovered radium", "discovery")],
    ),
    (
        [entity("Radium", "data", "Used on dials of watches")],
        [relation("Radium", "Watch", "Dials glow", "use")],
    ),
)
BAKER = ("The baker of the village sells bread and honey cakes on market days.",)
BAKER_SAYS: Any = (([entity("Baker", "person", "Sells bread and honey cakes")], []),)


async def library_of_two() -> QueryHarness:
    """One document about radium, one about bread."""
    harness = QueryHarness()
    await harness.index("curie", *CURIE, says=CURIE_SAYS)
    await harness.index("baker", *BAKER, says=BAKER_SAYS, version=1000)
    return harness


async def projected(harness: QueryHarness) -> None:
    """What the projection makes of everything in the log."""
    for message in harness.consumer(declared_consumer("query-status")).fetch(1000):
        envelope: Envelope[Event] = decode(message.data, message.subject)
        await harness.project(Delivery(envelope, message.sequence, 1, message.published_at))


def events(harness: QueryHarness) -> list[Event]:
    """What was published, in its order."""
    return [decode(message.data, message.subject).data for message in harness.log.messages]


def texts(harness: QueryHarness) -> list[str | None]:
    """The texts of the documents that were added, in their order."""
    return [event.text for event in events(harness) if isinstance(event, DocumentAdded)]
