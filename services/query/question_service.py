"""What answers questions and follows the log for their answers, for whichever process does it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from contracts.events import Event
from contracts.graph import Generations
from runtime.bus.port import Delivery
from runtime.health import Health
from runtime.models.roles import language_model
from runtime.projections.watched_pointers import WatchedPointers
from runtime.service import Bus, Subscription
from runtime.stores.documents.port import Rows
from runtime.stores.open import open_documents
from services.query.adapters.contributions import RowContributions
from services.query.adapters.documents import RowDocuments
from services.query.adapters.stages import measured_stage
from services.query.charges import Charges
from services.query.past.answers import MemoryPastAnswers
from services.query.past.reading import Past
from services.query.past.stored_present import StoredPresent
from services.query.questions.local import LocalQuestions
from services.query.receipt_forms import ReceiptForms
from services.query.receipts.publishing import AnswerReceipts
from services.query.settings import QuerySettings
from services.query.status.projection import on_events
from services.query.visibility.followed_log import FollowedVisibility
from services.query.warming import Warming
from services.query.wiring import open_dependencies

DEFAULT_WORKSPACE = "default"


@dataclass(frozen=True)
class QuestionService:
    """Answers questions. `subscription`: the status projection; `charges` are published each
    second; `rows`: the document store.
    """

    questions: LocalQuestions
    charges: Charges
    subscription: Subscription
    rows: Rows


@asynccontextmanager
async def open_question_service(
    settings: QuerySettings, bus: Bus, health: Health, workspace: str = DEFAULT_WORKSPACE
) -> AsyncGenerator[QuestionService]:
    """Open stores and models, and publish what models are paid and the receipts of answers, inside
    of the block. `workspace`: that of questions that name none.
    """
    rows = open_documents(settings)
    try:
        async with open_dependencies(settings, bus, health) as opened:
            pointers = WatchedPointers(bus.pointers, bus.integrity)
            visibility = FollowedVisibility(bus.log, pointers, RowDocuments(rows))
            dependencies = replace(opened, measure=measured_stage, visibility=visibility)
            stored_present = StoredPresent(bus.log, rows, RowContributions(rows), pointers)
            past = Past(bus.log, settings.summary_limits, stored_present)
            # Where the log is another region's, neither receipts nor charges can go into it.
            forms = ReceiptForms() if bus.region else settings.receipt_forms
            receipts = AnswerReceipts(bus.log, forms, answering_model(settings))
            past_answers = MemoryPastAnswers(bus.log, rows)
            questions = LocalQuestions(settings, dependencies, past, past_answers, receipts)
            project = partial(
                on_events,
                documents=dependencies.documents,
                passages=dependencies.passages,
                ledger=dependencies.ledger,
            )
            assert opened.warm_caches
            # Without what measures questions: nobody has asked what it asks.
            warming = Warming(opened, opened.warm_caches, pointers, workspace)

            async def handle(
                batch: Sequence[Delivery[Any]], generations: Generations, /
            ) -> list[list[Event]]:
                warming.notice(batch)
                return await project(batch, generations)

            charges = Charges(bus.log)
            charging = nullcontext() if bus.region else charges.published_each_second()
            async with charging, receipts.published_in_background(), warming.in_background():
                subscription = Subscription("query-status", handle)
                yield QuestionService(questions, charges, subscription, rows)
    finally:
        await rows.close()


def answering_model(settings: QuerySettings) -> str:
    """Return the language model that writes answers, empty where none does."""
    model = language_model(settings, "query")
    return model.model if model else ""
