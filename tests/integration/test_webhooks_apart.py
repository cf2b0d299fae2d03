"""Webhooks sent by a process of its own, with its own user of the bus of docker-compose.yml: the
gateway tells it who may use them, and no credentials.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from nats.js import JetStreamContext

from contracts.topology import WEBHOOKS_BUCKET
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from services.gateway.auth.known_principals import KnownPrincipals
from services.gateway.auth.permissions import Permissions
from services.gateway.webhooks.endpoints import Endpoint, Endpoints
from services.gateway.webhooks.principals import publish_principals
from services.gateway.webhooks.signing import new_secret
from services.gateway.webhooks.trials import OrderedTrials
from tests.integration.test_webhooks import Receiver, publish, receiver
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.nats_server import until
from tests.support.services import page, service

__all__ = ["receiver"]

WRITER = Permissions(frozenset({"w"}))
PLACES_KEY = hashlib.sha256(b"of this test").digest()
MODULE = "services.gateway.webhooks.main"


@asynccontextmanager
async def prepared_bus(folder: Path) -> AsyncGenerator[tuple[DeployedBus, JetStreamContext]]:
    """The bus of docker-compose.yml with its topology, and what the operator may do on it."""
    async with (
        deployed_bus(folder / "bus") as bus,
        connected(bus.operator, name="test") as client,
    ):
        await topology.apply(client.jetstream())
        yield bus, client.jetstream()


def variables(bus: DeployedBus) -> dict[str, str]:
    """What the sender is told: its bus, and that receivers of this machine are allowed."""
    return {**bus.variables("webhooks"), "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128"}


async def test_a_sender_with_a_user_of_its_own_sends_tries_and_stops_with_its_principal(
    tmp_path: Path, receiver: tuple[Receiver, str]
) -> None:
    hook, url = receiver
    async with prepared_bus(tmp_path) as (bus, jetstream):
        values = await NatsSharedValues.bind(jetstream, WEBHOOKS_BUCKET)
        await publish_principals(values, KnownPrincipals({"key:writer": WRITER}, PLACES_KEY))
        async with service("webhooks", tmp_path, module=MODULE, **variables(bus)):
            endpoints = Endpoints(values)
            draft = Endpoint(
                "",
                "w",
                f"{url}/hook",
                ("DocumentAdded",),
                new_secret(),
                created_by="key:writer",
            )
            endpoint = await endpoints.add(draft, 0)
            await publish(jetstream, "one")
            await until(lambda: _count(hook, 1), "the event")
            event = json.loads(hook.got[0][1])
            assert event["type"] == "DocumentAdded"
            # A principal of one workspace is shown numbers in the place of sequences.
            principals = KnownPrincipals({"key:writer": WRITER}, PLACES_KEY)
            place = principals.places_of("key:writer", "w").shown(
                await NatsLog(jetstream).last_sequence()
            )
            assert event["data"]["sequence"] == place

            outcome = await OrderedTrials(values).send(endpoint)
            assert (outcome.status, outcome.error) == (200, "")
            assert json.loads(hook.got[1][1])["type"] == "test"
            hook.down = True
            assert (await OrderedTrials(values).send(endpoint)).status == 503
            hook.down = False
            assert (await values.read(f"trial.{endpoint.id}"))[0] == b""

            await publish_principals(values, KnownPrincipals({}, PLACES_KEY))
            await publish(jetstream, "two")
            await until(lambda: _refused(endpoints, endpoint.id), "nothing is sent any more")
            assert len(hook.got) == 2


async def _count(hook: Receiver, number: int) -> bool:
    return len(hook.got) >= number


async def _refused(endpoints: Endpoints, id: str) -> bool:
    record = await endpoints.state(id)
    return record is not None and "who registered this webhook is gone" in record.state.last_error


async def test_a_sender_waits_until_a_gateway_has_told_who_may_use_webhooks(
    tmp_path: Path,
) -> None:
    async with prepared_bus(tmp_path) as (bus, jetstream):
        values = await NatsSharedValues.bind(jetstream, WEBHOOKS_BUCKET)
        sender = service("webhooks", tmp_path, wait=False, module=MODULE, **variables(bus))
        async with sender as process:

            async def alive() -> bool:
                return (await page(process, "live"))[0] == 200

            await until(alive, "the process answers")
            assert (await page(process, "ready"))[0] == 503
            await publish_principals(values, KnownPrincipals(None, PLACES_KEY))
            await asyncio.wait_for(process.ready(), 60)
