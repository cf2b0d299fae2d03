"""Webhooks with a real bus and a real receiver: signed, in order, from a cursor that outlives the
sender.
"""

import base64
import hashlib
import hmac
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from urllib.parse import urlsplit

import pytest_asyncio
from nats.js import JetStreamContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from contracts.topology import WEBHOOKS_BUCKET
from runtime.bus.nats.consumers import read_consumers
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.concurrency.background import in_background
from runtime.stores.documents.memory import MemoryRows
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoint, Endpoints
from services.gateway.webhooks.http_poster import HttpPoster
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import WebhookSender
from services.gateway.webhooks.signing import new_secret
from services.query.adapters.documents import RowDocuments
from tests.support.events import added, sealed
from tests.support.nats_server import until
from tests.support.served import served


@dataclass
class Receiver:
    """What an address got: headers and bodies. It answers 503 while it is `down`."""

    got: list[tuple[dict[str, str], bytes]] = field(
        default_factory=list[tuple[dict[str, str], bytes]]
    )
    down: bool = False
    refused: int = 0

    async def hook(self, request: Request) -> Response:
        if self.down:
            self.refused += 1
            return Response(status_code=503)
        self.got.append((dict(request.headers), await request.body()))
        return Response()

    async def elsewhere(self, request: Request) -> Response:
        return RedirectResponse("/hook", 307)

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.got]


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[tuple[Receiver, str]]:
    receiver = Receiver()
    routes = [
        Route("/hook", receiver.hook, methods=["POST"]),
        Route("/moved", receiver.elsewhere, methods=["POST"]),
    ]
    async with served(Starlette(routes=routes)) as url:
        yield receiver, url.replace("127.0.0.1", "localhost")


@asynccontextmanager
async def sender(jetstream: JetStreamContext) -> AsyncGenerator[Endpoints]:
    """A sender as one process of the query service has it."""
    endpoints = Endpoints(await NatsSharedValues.bind(jetstream, WEBHOOKS_BUCKET))
    poster = HttpPoster()
    networks = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
    notifier = Notifier(
        NatsLog(jetstream), await NatsLiveGenerations.bind(jetstream), RowDocuments(MemoryRows())
    )
    webhooks = Webhooks(endpoints, poster, networks)
    sender = WebhookSender(webhooks, NatsEventFeed(jetstream), notifier)
    async with in_background(sender.run()):
        yield endpoints
    await poster.close()


async def publish(jetstream: JetStreamContext, *ids: str) -> None:
    for id in ids:
        await NatsLog(jetstream).publish(sealed(added("d", id), id=id))


async def test_events_arrive_signed_and_another_process_goes_on_where_the_first_stopped(
    jetstream: JetStreamContext, receiver: tuple[Receiver, str]
) -> None:
    hook, url = receiver
    endpoint = Endpoint("", "w", f"{url}/hook", ("DocumentAdded",), new_secret())
    await publish(jetstream, "one")
    async with sender(jetstream) as endpoints:
        endpoint = await endpoints.add(endpoint, 0)
        await until(lambda: _are(hook, "one"), "the first event")
        hook.down = True
        await publish(jetstream, "two")
        await until(lambda: _refused(hook), "a failed attempt")
    hook.down = False
    async with sender(jetstream) as endpoints:
        await endpoints.change_state(endpoint.id)
        await publish(jetstream, "three")
        await until(lambda: _are(hook, "one", "two", "three"), "the others")
        await endpoints.change_state(endpoint.id, cursor=1)
        await until(lambda: _are(hook, "one", "two", "three", "two", "three"), "the replay")
    for headers, body in hook.got:
        signing_input = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(endpoint.secret.removeprefix("whsec_"))
        signature = base64.b64encode(hmac.new(key, signing_input, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{signature}"
        # The connection went to the address, the request names the host.
        assert headers["host"] == urlsplit(url).netloc


async def test_a_redirect_is_a_failure_and_is_not_followed(
    jetstream: JetStreamContext, receiver: tuple[Receiver, str]
) -> None:
    hook, url = receiver
    await publish(jetstream, "one")
    async with sender(jetstream) as endpoints:
        endpoint = await endpoints.add(
            Endpoint("", "w", f"{url}/moved", ("DocumentAdded",), new_secret()), 0
        )

        async def has_failed() -> bool:
            record = await endpoints.state(endpoint.id)
            return bool(record and record.state.last_error == "redirects are not followed")

        await until(has_failed, "the failure")
    assert hook.got == []


async def test_every_consumer_is_read(jetstream: JetStreamContext) -> None:
    await publish(jetstream, "one", "two")
    states = {state.name: state for state in await read_consumers(jetstream)}
    assert (
        states["chunker"].pending,
        states["query-status"].pending,
        states["merger"].pending,
    ) == (2, 2, 0)


async def _are(hook: Receiver, *ids: str) -> bool:
    return hook.ids == list(ids)


async def _refused(hook: Receiver) -> bool:
    return hook.refused > 0
