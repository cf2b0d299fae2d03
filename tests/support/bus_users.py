"""The bus of docker-compose.yml with everything declared, and connections of its users."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import subjects
from contracts.topology import BUCKETS
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations
from tests.support.deployed_bus import DeployedBus, deployed_bus


@asynccontextmanager
async def declared_bus(folder: Path) -> AsyncGenerator[DeployedBus]:
    """The bus with its streams, which the operator has declared, and something in each of them."""
    async with (
        deployed_bus(folder) as bus,
        connected(bus.operator, name="test") as client,
    ):
        jetstream = client.jetstream()
        assert await topology.apply(jetstream)
        assert await topology.check(jetstream) == []
        await NatsLiveGenerations(await jetstream.key_value("KB_GENERATIONS")).write({}, 0)
        for bucket in BUCKETS:
            await (await jetstream.key_value(bucket.name)).put("seed", b"{}")
        await jetstream.publish("parked.a.a.a", b"{}")
        await jetstream.publish("blob.a.a", b"text")
        await client.subscribe(subjects.REBUILDS, cb=_take_order)
        await client.flush()
        yield bus


async def _take_order(message: Msg) -> None:
    """Answer as an operator process does."""
    await message.respond(b"{}")


async def opened(bus: DeployedBus, user: str) -> Client:
    """A connection of that user. What the server says of refusals is no matter: they show as
    answers that are none.
    """
    return await nats.connect(bus.url(user), error_cb=_ignored)


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""
