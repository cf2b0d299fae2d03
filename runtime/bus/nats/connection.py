"""The connection to NATS JetStream, and what its client raises in our words."""

import asyncio
import math
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from nats.aio.client import Client
from nats.errors import (
    AuthorizationError,
    ConnectionClosedError,
    ConnectionDrainingError,
    ConnectionReconnectingError,
    NoRespondersError,
    OutboundBufferLimitError,
)
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError, ServerError, ServiceUnavailableError

from runtime.bus.nats.addresses import parse_bus_address
from runtime.errors import ConfigurationError, Unavailable
from runtime.workarounds.nats_py import tolerate_any_headers

logger = structlog.get_logger(__name__)

REQUEST_TIMEOUT = 10.0
"""Seconds for a call that is not repeated."""

FIRST_CONNECTION = 10.0
"""Seconds until a process that was never connected gives up: it was told a wrong address or
password.
"""

SILENT = (
    NatsTimeout,
    ConnectionClosedError,
    ConnectionDrainingError,
    ConnectionReconnectingError,
    OutboundBufferLimitError,
    NoStreamResponseError,
    NoRespondersError,
)
"""What the client raises when the server, or its JetStream, does not answer."""

_OF_ANOTHER_ACCOUNT = 10039  # JSNotEnabledForAccountErr


class BusClient(Client):
    """A connection whose calls of JetStream begin as its address says."""

    def __init__(self, api_prefix: str) -> None:
        super().__init__()
        self._api_prefix = api_prefix

    def jetstream(self, **options: Any) -> JetStreamContext:
        """Return the JetStream of the bus; of another account or domain with a `prefix`."""
        return super().jetstream(**{"prefix": self._api_prefix, **options})


@asynccontextmanager
async def connected(
    url: str, *, name: str, on_closed: Callable[[], Awaitable[None]] | None = None
) -> AsyncGenerator[Client]:
    """Open a connection that reconnects for ever. `on_closed` is called when it is closed for good.

    Raises ConfigurationError when no server lets us in at first, within 10 s: where it should be is
    a setting.
    """
    faults = deque[Exception](maxlen=16)
    first_until = asyncio.get_running_loop().time() + FIRST_CONNECTION

    async def on_error(error: Exception) -> None:
        # A forbidden publish shows only here and as a timeout.
        logger.warning("bus error", error=f"{type(error).__name__}: {error}")
        faults.append(error)
        # In Python 3.11 the client loses a cancellation that comes together with an answer; this
        # ends its attempts.
        if asyncio.get_running_loop().time() > first_until:
            raise TimeoutError

    address = parse_bus_address(url)
    client = BusClient(address.api_prefix)
    tolerate_any_headers(client)
    encryption = address.encryption
    try:
        try:
            async with asyncio.timeout(FIRST_CONNECTION):
                await client.connect(
                    list(address.servers),
                    name=name,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=1,
                    error_cb=on_error,
                    closed_cb=on_closed,
                    connect_timeout=5,
                    **address.credentials,
                    **encryption,
                )
        except (OSError, TimeoutError, NatsError):
            raise ConfigurationError(
                refusal(faults)
                or "no NATS server answers at NATS_URL "
                f"({type(faults[-1]).__name__ if faults else 'it is silent'})"
            ) from None
        first_until = math.inf
        yield client
    finally:  # a server that is gone cannot be told goodbye
        with suppress(OSError, NatsError):
            await client.close()


def refusal(faults: Sequence[Exception]) -> str:
    """Return why servers that answer let nobody in, without the URL: a refused login even if later
    attempts failed otherwise. Empty where none of these errors says it.
    """
    if any(
        isinstance(fault, AuthorizationError) or "authorization" in str(fault).lower()
        for fault in faults
    ):
        return "the NATS server refuses the user or the password of NATS_URL"
    if tls_error := next((fault for fault in faults if isinstance(fault, ssl.SSLError)), None):
        return (
            f"TLS with the servers of NATS_URL fails ({tls_error.reason or tls_error}): see ca, "
            "cert and key there"
        )
    return ""


class translated:
    """Translate the client's errors: no answer becomes `Unavailable`, a missing permission
    ConfigurationError.
    """

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        # An error that the client raises by itself has no code.
        if isinstance(error, APIError) and getattr(error, "err_code", None) == _OF_ANOTHER_ACCOUNT:
            raise ConfigurationError(
                "the account of this user of NATS_URL has no JetStream of its own: "
                "set NATS_API_PREFIX to the name under which it imports that of the log, "
                "or use a user who may read the log"
            ) from error
        if isinstance(error, (*SILENT, ServerError, ServiceUnavailableError)):
            raise Unavailable(f"the bus does not answer: {error!r}") from error
