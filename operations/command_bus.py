"""The bus as commands use it: one connection for each, and the name under which they publish."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from nats.js import JetStreamContext

from runtime.bus.nats.connection import connected

SOURCE = "/lightstream/cli"
"""`source` of the events the command line publishes."""


@asynccontextmanager
async def connect_bus(url: str) -> AsyncGenerator[JetStreamContext]:
    """The bus, for one command."""
    async with connected(url, name="lightstream-cli") as client:
        yield client.jetstream()
