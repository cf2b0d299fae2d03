"""The query service as a process: the API, and the handler that takes every event for the status
projection.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from secrets import token_urlsafe

from fastapi import FastAPI

from runtime.bus.nats.feed import NatsEventFeed
from runtime.health import Health
from runtime.metrics.bus_readings import read_audit, read_deployment
from runtime.projections.audit_progress import AUDIT_NOTE, audit_note
from runtime.projections.watched_pointers import WatchedPointers
from runtime.service import Bus, Subscription, run, starting
from runtime.stores.documents.port import Rows
from runtime.stores.open import open_documents
from services.gateway.app import create_app
from services.gateway.auth.config import AuthConfig, auth_config
from services.gateway.auth.settings import AccessSettings
from services.gateway.dependencies import provide
from services.gateway.feeds.streams import EventStreams
from services.gateway.past.answers import MemoryPastAnswers
from services.gateway.past.stored_present import StoredPresent
from services.gateway.settings import GatewaySettings
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import WebhookSender, disabled_webhooks
from services.gateway.wiring import Parts, open_webhooks, operations_on, webhooks_sent
from services.query.adapters.contributions import RowContributions
from services.query.adapters.document_counts import read_document_counts
from services.query.adapters.stages import measured_stage
from services.query.settings import QuerySettings
from services.query.status.positions import LogPositions
from services.query.status.projection import on_events
from services.query.wiring import open_dependencies


def main() -> None:
    """Run the service."""
    settings = GatewaySettings()
    question_settings = QuerySettings()
    access = AccessSettings()
    app = closed(access, question_settings)
    built = partial(build, settings, question_settings, app)
    run("query", settings, built, app, settings.workers, same(access))


@asynccontextmanager
async def build(
    settings: GatewaySettings,
    question_settings: QuerySettings,
    app: FastAPI,
    bus: Bus,
    health: Health,
) -> AsyncGenerator[Sequence[Subscription]]:
    """Give the application what its routes need, and yield what follows the log for them."""
    auth: AuthConfig = app.state.auth
    async with (
        open_dependencies(question_settings, bus, health) as opened,
        open_webhooks(settings, bus, auth.may_write) as webhooks,
    ):
        deps = replace(opened, measure=measured_stage)
        documents = deps.documents
        passages = deps.passages
        pointers = WatchedPointers(bus.pointers, bus.integrity)
        feed = NatsEventFeed(bus.jetstream)
        rows = open_documents(settings)
        health.notes[AUDIT_NOTE] = partial(audit_note, bus.integrity.values)
        health.notes["webhooks"] = partial(disabled_webhooks, webhooks.endpoints)
        try:
            parts = Parts(
                settings=settings,
                question_settings=question_settings,
                log=bus.log,
                blobs=bus.blobs,
                pointers=pointers,
                feed=feed,
                streams=EventStreams(settings.max_event_streams, health.stopping),
                documents=documents,
                positions=LogPositions(bus.log, documents),
                answering=deps,
                past_answers=MemoryPastAnswers(bus.log, rows),
                present=StoredPresent(bus.log, rows, RowContributions(rows), pointers),
                operations=operations_on(bus, health),
                webhooks=webhooks,
            )
            provide(app, *parts.slices())
            handle = partial(on_events, documents=documents, passages=passages, ledger=deps.ledger)
            sender = WebhookSender(
                webhooks, feed, Notifier(bus.log, pointers, documents, places_of=auth.places_of)
            )
            async with (
                webhooks_sent(settings, sender, auth.known_principals()),
                parts.charges.published_each_second(),
            ):
                _measure(health, bus, rows)
                yield [Subscription("query-status", handle)]
        finally:
            await rows.close()


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


def closed(access: AccessSettings, question_settings: QuerySettings) -> FastAPI:
    """Return the application with access configured. Ends the process when the settings are not
    safe; says which of them contradict each other.
    """
    with starting("query", access, question_settings):
        return create_app(auth_config(access))


if __name__ == "__main__":
    main()
