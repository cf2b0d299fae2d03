"""The connection of a service to the bus, as FastStream opens it."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from faststream.nats import NatsBroker
from faststream.nats.security import NatsSecurity, NatsToken, NatsUserPassword
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from runtime.bus.nats.addresses import BusAddress, parse_bus_address
from runtime.bus.nats.connection import refusal
from runtime.bus.write_status import WriteStatus
from runtime.errors import ConfigurationError
from runtime.health import Health
from runtime.settings import Settings

logger = structlog.get_logger(__name__)

STOPPING = "stopping"
GRACE = 3.0
"""Seconds a handler may go on after SIGTERM; what is not acknowledged by then is delivered
again.
"""


@asynccontextmanager
async def open_broker(
    process: str, settings: Settings, health: Health, writes: WriteStatus
) -> AsyncGenerator[NatsBroker]:
    """Yield a broker that is not connected yet, and end it. Raises ConfigurationError for a useless
    NATS_URL.
    """
    ending = asyncio.Event()

    async def closed() -> None:
        # Without a connection FastStream's loops spin silently for ever: better to end, and be
        # started again.
        if not ending.is_set() and health.stage != STOPPING:
            logger.error("the connection to the bus is closed for good")
            os._exit(1)

    async def on_error(error: Exception) -> None:
        logger.warning("bus error", error=f"{type(error).__name__}: {error}")

    address = parse_bus_address(settings.nats_url)
    broker = NatsBroker(
        address.servers,
        security=_security(address),
        name=f"lightstream-{process}",
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        closed_cb=closed,
        error_cb=on_error,
        disconnected_cb=writes.disconnected,
        reconnected_cb=writes.reconnected,
        graceful_timeout=GRACE,
        js_options={"prefix": address.api_prefix},
        apply_types=False,
        logger=None,
    )
    try:
        yield broker
    finally:
        ending.set()
        await stop_broker(broker, health)


async def connect(broker: NatsBroker) -> Client:
    """Connect the broker. Raises ConfigurationError where a server answers and lets nobody in."""
    try:
        return await broker.connect()
    except (OSError, NatsError) as error:
        if why := refusal([error]):
            raise ConfigurationError(why) from None
        raise


def jetstream_of(client: Client, settings: Settings) -> JetStreamContext:
    """Return the JetStream that the settings name, over a connection of the broker."""
    return client.jetstream(prefix=parse_bus_address(settings.nats_url).api_prefix)


def _security(address: BusAddress) -> NatsSecurity:
    """Return user and encryption in FastStream's words. Raises ConfigurationError."""
    encryption = address.encryption
    options: dict[str, Any] = {
        "ssl_context": encryption.get("tls"),
        "tls_handshake_first": encryption.get("tls_handshake_first", False),
    }
    if address.user is None:
        return NatsSecurity(**options)
    if address.password is None:
        return NatsToken(address.user, **options)
    return NatsUserPassword(address.user, address.password, **options)


async def stop_broker(broker: NatsBroker, health: Health) -> None:
    """End it in good order: handlers may finish. Repeats do nothing."""
    health.stage = STOPPING
    # A server that is down cannot be told goodbye; what is not acknowledged is delivered again.
    with suppress(NatsError):
        await broker.stop()
