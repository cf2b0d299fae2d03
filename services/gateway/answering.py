"""How the gateway reaches the query service: in its own process, or in one apart."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from runtime.health import Health
from runtime.service import Bus, Subscription
from runtime.stores.documents.port import Rows
from services.gateway.questions.dependencies import CountTokens
from services.gateway.wiring import Projections
from services.query.charges import Charges
from services.query.past.documents import MemoryPastDocuments
from services.query.past.port import PastDocuments
from services.query.past.reading import Past
from services.query.question_service import open_question_service
from services.query.questions.port import Questions
from services.query.settings import QuerySettings


@dataclass(frozen=True, kw_only=True)
class Answering:
    """Who answers questions, and what routes read beside them.

    `charges`, `model_settings` and `subscriptions` are of the query service, where that is in this
    process.
    """

    questions: Questions
    projections: Projections
    past: Past
    past_documents: PastDocuments
    count_tokens: CountTokens
    rows: Rows
    charges: Charges | None = None
    model_settings: QuerySettings | None = None
    subscriptions: Sequence[Subscription] = ()


OpenAnswering = Callable[[Bus, Health], AbstractAsyncContextManager[Answering]]


@asynccontextmanager
async def open_here(
    settings: QuerySettings, workspace: str, bus: Bus, health: Health
) -> AsyncGenerator[Answering]:
    """Open the query service in this process. `workspace`: that of questions that name none."""
    async with open_question_service(settings, bus, health, workspace) as service:
        dependencies = service.questions.answering
        yield Answering(
            questions=service.questions,
            projections=Projections(
                documents=dependencies.documents,
                visibility=dependencies.visibility,
                passages=dependencies.passages,
                provenance=dependencies.provenance,
                aliases=dependencies.aliases,
                graph=dependencies.graph,
                ledger=dependencies.ledger,
                caches=dependencies.caches,
                restricted_items=dependencies.restricted_items,
            ),
            past=service.questions.past,
            past_documents=MemoryPastDocuments(bus.log, service.questions.past),
            count_tokens=dependencies.count_tokens,
            rows=service.rows,
            charges=service.charges,
            model_settings=settings,
            subscriptions=[service.subscription],
        )
