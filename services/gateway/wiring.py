"""Opens what the routes work with, and gives each slice its part of it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from nats.js import JetStreamContext

from contracts.topology import (
    CONVERSATIONS_BUCKET,
    REQUESTS_BUCKET,
    UPLOADS_BUCKET,
    WEBHOOKS_BUCKET,
)
from publishing.upload_records import UploadRecords
from runtime.bus.feed.port import EventFeed
from runtime.bus.nats.connection import translated
from runtime.bus.nats.consumers import read_consumers
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.port import Blobs, LiveGenerations, Log
from runtime.bus_examination import examine_bus
from runtime.concurrency.background import in_background
from runtime.costs.port import Ledger
from runtime.findings import Finding
from runtime.health import Health
from runtime.metrics.exposition import exposed
from runtime.models.rate_limiters import provider_states
from runtime.projections.operator_orders import NatsOperatorProcess
from runtime.projections.progress import read_states
from runtime.projections.rebuild_candidate import plan
from runtime.service import Bus
from runtime.stores.graph.port import Graph
from services.gateway.auth.known_principals import KnownPrincipals
from services.gateway.branches.dependencies import BranchDependencies
from services.gateway.brand import Brand
from services.gateway.conversations.store import Conversations
from services.gateway.documents.dependencies import DocumentDependencies
from services.gateway.documents.reading import Readings
from services.gateway.documents.request_records import RequestRecords
from services.gateway.documents.scanning import Scans
from services.gateway.documents.uploading import ReadLimits
from services.gateway.feeds.dependencies import FeedDependencies
from services.gateway.feeds.streams import EventStreams
from services.gateway.golden.dependencies import GoldenDependencies
from services.gateway.graph.dependencies import GraphDependencies
from services.gateway.operations.consumers import ConsumerRates
from services.gateway.operations.dependencies import (
    CostDependencies,
    Operations,
    WorkspaceOperations,
)
from services.gateway.operations.model_trials import Models
from services.gateway.operations.rebuilding import Rebuilds
from services.gateway.past.dependencies import PastDependencies
from services.gateway.promoted_branches import PromotedBranches
from services.gateway.questions.dependencies import CountTokens, QuestionDependencies
from services.gateway.receipts.dependencies import ReceiptDependencies
from services.gateway.search.dependencies import SearchDependencies
from services.gateway.settings import GatewaySettings, WebhookSettings
from services.gateway.system.dependencies import SystemDependencies
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.dependencies import WebhookDependencies
from services.gateway.webhooks.endpoints import Endpoints
from services.gateway.webhooks.http_poster import HttpPoster
from services.gateway.webhooks.principals import publish_principals
from services.gateway.webhooks.sender import WebhookSender
from services.gateway.webhooks.trials import OrderedTrials, OwnTrials, Trials
from services.gateway.workspaces import DefaultWorkspace
from services.query.answering.port import ModelResultCaches
from services.query.charges import Charges
from services.query.past.port import PastDocuments
from services.query.past.reading import Past
from services.query.questions.port import Questions
from services.query.retrieval.port import EntityAliases, ProvenanceReader
from services.query.status.current_partitions import CurrentPartitions
from services.query.status.port import Documents, Passages, Positions
from services.query.visibility.port import Visibility
from services.query.visibility.restricted_items import RestrictedItems


@dataclass(frozen=True, kw_only=True)
class Projections:
    """What routes read of the stores themselves, and the caches that they clear."""

    documents: Documents
    visibility: Visibility
    passages: Passages
    provenance: ProvenanceReader
    aliases: EntityAliases
    graph: Graph
    ledger: Ledger
    caches: ModelResultCaches
    restricted_items: RestrictedItems = field(default_factory=RestrictedItems)
    """What viewers are shown of the graph, and of exact search."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What the service opened. `charges`: of models that this process itself pays, if it does."""

    settings: GatewaySettings
    log: Log
    blobs: Blobs
    pointers: LiveGenerations
    feed: EventFeed
    streams: EventStreams
    projections: Projections
    positions: Positions
    questions: Questions
    count_tokens: CountTokens
    past: Past
    past_documents: PastDocuments
    operations: Operations
    webhooks: Webhooks
    models: Models
    conversations: Conversations
    uploads: UploadRecords
    requests: RequestRecords
    charges: Charges | None = None

    def slices(self) -> tuple[object, ...]:
        """Return what the routes of each slice work with, for `provide`."""
        current = CurrentPartitions(self.pointers, self.positions)
        promoted = PromotedBranches(self.log)
        documents = self.projections.documents
        return (
            Brand(self.settings.webui_title or None, self.settings.webui_description or None),
            DefaultWorkspace(self.settings.workspace),
            *((self.charges,) if self.charges else ()),
            self._documents(),
            self._feeds(),
            self._graph(current),
            promoted,
            self._questions(current, promoted),
            self._search(),
            GoldenDependencies(self.log, self.feed),
            BranchDependencies(self.log, self.pointers, documents, self.projections.graph),
            PastDependencies(self.log, self.past, self.projections.visibility),
            self._receipts(),
            SystemDependencies(self.settings, self.questions, self.pointers, documents),
            WebhookDependencies(self.webhooks, self._trials(), self.log, self.feed),
            self.operations,
            self.models,
            self.conversations,
            WorkspaceOperations(self.settings, self.log, self.feed, self.pointers, documents),
            CostDependencies(
                self.log, self.pointers, self.projections.ledger, self.settings.prices, documents
            ),
        )

    def _trials(self) -> Trials:
        if self.settings.webhook_sender == "apart":
            return OrderedTrials(self.webhooks.endpoints.values)
        return OwnTrials(self.webhooks)

    def _receipts(self) -> ReceiptDependencies:
        return ReceiptDependencies(
            log=self.log,
            feed=self.feed,
            questions=self.questions,
            pointers=self.pointers,
            visibility=self.projections.visibility,
            documents=self.projections.documents,
            passages=self.projections.passages,
        )

    def _documents(self) -> DocumentDependencies:
        read_limits = ReadLimits(
            self.settings.max_upload_size,
            self.settings.parsing_services(),
            self.settings.keep_originals,
        )
        return DocumentDependencies(
            log=self.log,
            blobs=self.blobs,
            pointers=self.pointers,
            documents=self.projections.documents,
            visibility=self.projections.visibility,
            caches=self.projections.caches,
            requests=self.requests,
            scans=Scans(self.settings.input_dir, read_limits),
            readings=Readings(read_limits, self.uploads),
            read_limits=read_limits,
        )

    def _feeds(self) -> FeedDependencies:
        return FeedDependencies(
            log=self.log,
            feed=self.feed,
            streams=self.streams,
            pointers=self.pointers,
            documents=self.projections.documents,
            visibility=self.projections.visibility,
            passages=self.projections.passages,
            provenance=self.projections.provenance,
            prices=self.settings.prices,
        )

    def _graph(self, current: CurrentPartitions) -> GraphDependencies:
        return GraphDependencies(
            log=self.log,
            pointers=self.pointers,
            current_partitions=current,
            graph=self.projections.graph,
            documents=self.projections.documents,
            visibility=self.projections.visibility,
            passages=self.projections.passages,
            provenance=self.projections.provenance,
            aliases=self.projections.aliases,
            max_nodes=self.settings.max_graph_nodes,
            edit_timeout=self.settings.edit_timeout,
            restricted_items=self.projections.restricted_items,
        )

    def _search(self) -> SearchDependencies:
        return SearchDependencies(
            pointers=self.pointers,
            documents=self.projections.documents,
            visibility=self.projections.visibility,
            passages=self.projections.passages,
            graph=self.projections.graph,
            provenance=self.projections.provenance,
            past_documents=self.past_documents,
            restricted_items=self.projections.restricted_items,
        )

    def _questions(
        self, current: CurrentPartitions, promoted: PromotedBranches
    ) -> QuestionDependencies:
        return QuestionDependencies(
            questions=self.questions,
            current_partitions=current,
            positions=self.positions,
            pointers=self.pointers,
            past=self.past,
            branches=promoted,
            settings=self.settings,
            count_tokens=self.count_tokens,
        )


def operations_on(bus: Bus, health: Health) -> Operations:
    """Return what operations on the deployment work with."""
    rebuilds = Rebuilds(
        NatsOperatorProcess(bus.client), bus.integrity.values, partial(plan, bus.jetstream)
    )
    return Operations(
        NatsDeadLetters(bus.jetstream),
        partial(read_states, bus.jetstream),
        rebuilds,
        partial(_examine, bus.jetstream),
        ConsumerRates(partial(read_consumers, bus.jetstream)),
        partial(exposed, health.readings),
        partial(provider_states, bus.limiters.values),
        NatsParkedEvents(bus.jetstream),
    )


async def _examine(jetstream: JetStreamContext) -> AsyncGenerator[Finding]:
    with translated():
        async for finding in examine_bus(jetstream, None):
            yield finding


async def open_conversations(bus: Bus) -> Conversations:
    """Return the conversations of accounts, which stand on the bus."""
    return Conversations(await NatsSharedValues.bind(bus.jetstream, CONVERSATIONS_BUCKET))


async def open_uploads(bus: Bus) -> UploadRecords:
    """Return the records of uploads, which stand on the bus."""
    return UploadRecords(await NatsSharedValues.bind(bus.jetstream, UPLOADS_BUCKET))


async def open_requests(bus: Bus) -> RequestRecords:
    """Return what keys of requests were used for, which stands on the bus."""
    return RequestRecords(await NatsSharedValues.bind(bus.jetstream, REQUESTS_BUCKET))


@asynccontextmanager
async def open_webhooks(
    settings: WebhookSettings, bus: Bus, may_write: Callable[[str, str], bool]
) -> AsyncGenerator[Webhooks]:
    """Open what webhooks are sent with. `may_write`: see `Webhooks`.

    Raises ConfigurationError for networks that are none.
    """
    endpoints = Endpoints(await NatsSharedValues.bind(bus.jetstream, WEBHOOKS_BUCKET))
    poster = HttpPoster()
    try:
        yield Webhooks(endpoints, poster, settings.webhook_networks, may_write)
    finally:
        await poster.close()


@asynccontextmanager
async def webhooks_sent(
    settings: GatewaySettings, sender: WebhookSender, principals: KnownPrincipals
) -> AsyncGenerator[None]:
    """Send webhooks in the block, or tell the process that does who may use them."""
    if settings.webhook_sender == "apart":
        await publish_principals(sender.endpoints.values, principals)
        yield
    else:
        async with in_background(sender.run()):
            yield
