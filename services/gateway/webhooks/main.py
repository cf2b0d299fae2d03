"""The sender of webhooks as a process of its own: it alone has a way to the outside, and it holds
no credentials of callers.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from contracts.topology import WEBHOOKS_BUCKET
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.concurrency.background import in_background
from runtime.health import Health
from runtime.projections.watched_pointers import WatchedPointers
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.open import open_documents
from services.gateway.settings import WebhookSettings
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoints
from services.gateway.webhooks.http_poster import HttpPoster
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.principals import PublishedPrincipals
from services.gateway.webhooks.sender import WebhookSender, disabled_webhooks
from services.gateway.webhooks.trials import TrialOrders
from services.query.adapters.documents import RowDocuments


def main() -> None:
    """Run the sender."""
    settings = read_settings("webhooks", WebhookSettings)
    run("webhooks", settings, partial(build, settings))


@asynccontextmanager
async def build(
    settings: WebhookSettings, bus: Bus, health: Health
) -> AsyncGenerator[Sequence[Subscription]]:
    """Send webhooks, which follow the log by cursors of their own and no durable, inside of the
    block. Raises `Unavailable` until a gateway has told who may use them.
    """
    values = await NatsSharedValues.bind(bus.jetstream, WEBHOOKS_BUCKET)
    principals = await PublishedPrincipals.read(values)
    endpoints = Endpoints(values)
    poster = HttpPoster()
    rows = open_documents(settings)
    try:
        await until_it_answers("the document store", rows.prepare, health)
        bus.integrity.schema_store = rows
        bus.integrity.watch("status", {"the document store": RowCheckpoints(rows, "status")})
        pointers = WatchedPointers(bus.pointers, bus.integrity)
        webhooks = Webhooks(endpoints, poster, settings.webhook_networks, principals.may_write)
        notifier = Notifier(bus.log, pointers, RowDocuments(rows), places_of=principals.places_of)
        feed = NatsEventFeed(bus.jetstream)
        sender = WebhookSender(webhooks, feed, notifier, principals.refresh)
        health.notes["webhooks"] = partial(disabled_webhooks, endpoints)
        async with (
            in_background(sender.run()),
            in_background(TrialOrders(webhooks).keep_carrying_out()),
        ):
            yield []
    finally:
        await poster.close()
        await rows.close()


if __name__ == "__main__":
    main()
