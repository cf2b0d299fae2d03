"""The gateway without the query service, which is another process: what routes read of the stores
themselves, and how questions are asked.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from knowledge.descriptions import SummaryLimits
from runtime.costs.ledger import RowLedger
from runtime.health import Health
from runtime.models.open import open_tokenizer
from runtime.models.roles import SummarySettings
from runtime.projections.watched_pointers import WatchedPointers
from runtime.service import Bus, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.open import open_documents, open_graph
from services.gateway.answering import Answering, OpenAnswering
from services.gateway.wiring import Projections
from services.query.adapters.aliases import RowAliases
from services.query.adapters.contributions import RowContributions
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.adapters.model_result_caches import RowModelResultCaches
from services.query.adapters.provenance import RowProvenance
from services.query.past.documents import MemoryPastDocuments
from services.query.past.reading import Past
from services.query.past.stored_present import StoredPresent
from services.query.questions.remote import RemoteQuestions
from services.query.questions.settings import QuestionClientSettings
from services.query.visibility.followed_log import FollowedVisibility
from services.query.visibility.port import Visibility


def opener_apart(client_settings: QuestionClientSettings) -> OpenAnswering:
    """Return what opens the stores, and asks at the address of the settings. Raises
    ConfigurationError for no address, or no key.
    """
    questions = RemoteQuestions(client_settings.questions_url, client_settings.required_key())
    return partial(open_apart, SummarySettings(), questions)


@asynccontextmanager
async def open_apart(
    settings: SummarySettings,
    questions: RemoteQuestions,
    bus: Bus,
    health: Health,
) -> AsyncGenerator[Answering]:
    """Open the stores that routes read by themselves: documents and graph. Vectors and models are
    the query service's, which is asked over the wire.
    """
    rows = open_documents(settings)
    graph = open_graph(settings)
    try:
        await until_it_answers("the document store", rows.prepare, health)
        await until_it_answers("the graph store", graph.prepare, health)
        _watch(bus, rows, graph)
        pointers = WatchedPointers(bus.pointers, bus.integrity)
        stored_present = StoredPresent(bus.log, rows, RowContributions(rows), pointers)
        limits = SummaryLimits(settings.force_llm_summary_on_merge, settings.summary_max_tokens)
        past = Past(bus.log, limits, stored_present)
        yield Answering(
            questions=questions,
            projections=_projections(
                rows, graph, FollowedVisibility(bus.log, pointers, RowDocuments(rows))
            ),
            past=past,
            past_documents=MemoryPastDocuments(bus.log, past),
            count_tokens=open_tokenizer().count,
            rows=rows,
        )
    finally:
        await questions.close()
        await graph.close()
        await rows.close()


def _watch(bus: Bus, rows: Rows, graph: Graph) -> None:
    """Watch that the stores are not behind their checkpoints, which the query service keeps."""
    bus.integrity.schema_store = rows
    bus.integrity.watch("status", {"the document store": RowCheckpoints(rows, "status")})
    bus.integrity.watch(
        "graph", {"the document store": RowCheckpoints(rows, "graph"), "the graph store": graph}
    )


def _projections(rows: Rows, graph: Graph, visibility: Visibility) -> Projections:
    return Projections(
        documents=RowDocuments(rows),
        visibility=visibility,
        passages=RowPassages(rows),
        provenance=RowProvenance(rows),
        aliases=RowAliases(rows),
        graph=graph,
        ledger=RowLedger(rows),
        caches=RowModelResultCaches(rows),
    )
