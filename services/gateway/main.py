"""The HTTP API as a process, by default with the query service in it: what answers questions, and
the handler that takes every event for the status projection.
"""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from secrets import token_urlsafe

from fastapi import FastAPI

from publishing.branch_copies import BranchFollower
from runtime.bus.nats.carrier import Carrier
from runtime.bus.nats.feed import NatsEventFeed
from runtime.concurrency.background import in_background
from runtime.health import Health
from runtime.metrics.bus_readings import read_audit, read_deployment
from runtime.projections.audit_progress import AUDIT_NOTE, audit_note
from runtime.projections.watched_pointers import WatchedPointers
from runtime.service import Bus, Subscription, read_settings, run, starting
from runtime.settings import Settings
from runtime.settings_lines import STACK_FILE
from runtime.stores.documents.port import Rows
from services.gateway.answering import OpenAnswering, open_here
from services.gateway.app import compare_routes, create_app
from services.gateway.auth.config import AuthConfig, auth_config
from services.gateway.auth.settings import AccessSettings
from services.gateway.dependencies import provide
from services.gateway.feeds.streams import EventStreams
from services.gateway.operations.model_trials import Models
from services.gateway.settings import GatewaySettings
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import WebhookSender, disabled_webhooks
from services.gateway.wiring import (
    Parts,
    open_conversations,
    open_requests,
    open_uploads,
    open_webhooks,
    operations_on,
    webhooks_sent,
)
from services.query.adapters.document_counts import read_document_counts
from services.query.questions.settings import QuestionClientSettings
from services.query.settings import QuerySettings
from services.query.status.positions import LogPositions
from services.query.wiring import try_reranker


def main() -> None:
    """Run the gateway, with the query service in this process unless QUESTIONS_URL says where that
    is.
    """
    settings = read_settings(
        "gateway", GatewaySettings, AccessSettings, QuestionClientSettings, QuerySettings
    )
    access = read_settings("gateway", AccessSettings)
    client_settings = read_settings("gateway", QuestionClientSettings)
    if client_settings.questions_url:
        # Imported only here: by default nothing is asked over the wire.
        from services.gateway.answering_apart import opener_apart  # noqa: PLC0415

        process = "gateway"
        app = closed(process, access, client_settings)
        with starting(process, access):
            opener = opener_apart(client_settings)
    else:
        process = "query"
        question_settings = read_settings("query", QuerySettings)
        app = closed(process, access, question_settings)
        opener = partial(open_here, question_settings, settings.workspace)
    run(
        process,
        settings,
        partial(build, settings, opener, app),
        app,
        settings.workers,
        same(access),
    )


@asynccontextmanager
async def build(
    settings: GatewaySettings, opener: OpenAnswering, app: FastAPI, bus: Bus, health: Health
) -> AsyncGenerator[Sequence[Subscription]]:
    """Give the application what its routes need, and yield what follows the log for them."""
    auth: AuthConfig = app.state.auth
    async with (
        opener(bus, health) as answering,
        open_webhooks(settings, bus, auth.may_write) as webhooks,
        in_background(compare_routes(app)),
    ):
        documents = answering.projections.documents
        pointers = WatchedPointers(bus.pointers, bus.integrity)
        feed = NatsEventFeed(bus.jetstream)
        health.notes[AUDIT_NOTE] = partial(audit_note, bus.integrity.values)
        health.notes["webhooks"] = partial(disabled_webhooks, webhooks.endpoints)
        parts = Parts(
            settings=settings,
            log=bus.log,
            blobs=bus.blobs,
            pointers=pointers,
            feed=feed,
            streams=EventStreams(settings.max_event_streams, health.stopping),
            projections=answering.projections,
            positions=LogPositions(bus.log, documents),
            questions=answering.questions,
            count_tokens=answering.count_tokens,
            past=answering.past,
            past_documents=answering.past_documents,
            operations=operations_on(bus, health),
            webhooks=webhooks,
            charges=answering.charges,
            models=models_of(settings, answering.model_settings),
            conversations=await open_conversations(bus),
            uploads=await open_uploads(bus),
            requests=await open_requests(bus),
        )
        provide(app, *parts.slices(), *([bus.region] if bus.region else []))
        sender = WebhookSender(
            webhooks, feed, Notifier(bus.log, pointers, documents, places_of=auth.places_of)
        )
        _measure(health, bus, answering.rows)
        if bus.region:  # that one sends webhooks, and copies into branches
            yield ()
            return
        async with (
            webhooks_sent(settings, sender, auth.known_principals()),
            in_background(BranchFollower(bus.log, bus.blobs).run()),
            in_background(Carrier(bus.jetstream).run()),
        ):
            yield answering.subscriptions


def models_of(settings: GatewaySettings, question_settings: QuerySettings | None) -> Models:
    """Return what the routes about models work with, with the settings of this process's models,
    if it asks any.
    """
    file = os.environ.get(STACK_FILE, "")
    path = Path(file) if file else None
    return Models(question_settings, try_reranker, settings.model_networks, path)


def _measure(health: Health, bus: Bus, rows: Rows) -> None:
    """Have the deployment, the audit and the counts of documents read for the metrics."""
    health.readings.add("the deployment", partial(read_deployment, bus.jetstream, bus.pointers))
    health.readings.add("the audit", partial(read_audit, bus.integrity.values))
    health.readings.add("documents", partial(read_document_counts, rows, bus.pointers))


def same(access: AccessSettings) -> dict[str, str]:
    """Return environment variables that all worker processes must share: a random token secret, if
    none is set.
    """
    return {} if access.token_secret.get_secret_value() else {"TOKEN_SECRET": token_urlsafe(32)}


def closed(process: str, access: AccessSettings, question_settings: Settings) -> FastAPI:
    """Return the application with access configured. Ends the process when the settings are not
    safe; says which of them contradict each other.
    """
    with starting(process, access, question_settings):
        return create_app(auth_config(access))


if __name__ == "__main__":
    main()
