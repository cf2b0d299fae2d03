"""nats-py 2.16.0: headers that end its reading, handshakes that end its connecting, and what a
JetStream context does not say.

Headers: the server stores what it is sent. The client ends its reading of the connection at a block
of less than nine bytes, and takes a header `Status` for an answer of the server: one such message
in the log would stop every reader of it. Upstream: none found for these two; issues 491 and 924 of
nats-io/nats.py, on values that are not ASCII, are mended in this version.
May go when `test_the_client_alone_reads_nothing_any_more_after_one` fails
(`tests/integration/test_hostile_headers.py`).

Context: who is given a JetStreamContext cannot ask it for its connection or the prefix of its API,
which a request for messages needs. Upstream: none found.
May go when `test_a_jetstream_context_says_neither_its_connection_nor_its_prefix` fails
(`tests/unit/runtime/test_workarounds.py`).

Handshake: when one fails, asyncio tells the connection below the encryption nothing of its end, and
the client waits for that: it neither tries again, nor can it be closed, for ever. Upstream: issues
382 and 718 of nats-io/nats.py, both open.
May go when `test_the_client_alone_does_not_try_again_after_a_handshake` fails
(`tests/unit/runtime/test_bus_handshakes.py`).

Address: `connected_url` is None while the client reconnects, and ids of messages are bound to the
password that may stand there alone: they must stay what they are. Upstream: none found.
May go when `test_a_client_that_reconnects_says_no_address` fails
(`tests/unit/runtime/test_workarounds.py`).
"""

import ssl
from functools import partial
from typing import Any
from urllib.parse import ParseResult

from nats.aio import client as client_module
from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.js import JetStreamContext
from nats.js.api import Header

_PLAIN = b"NATS/1.0\r\n"
"""How a block of headers begins that a publisher wrote."""

_STATUS = b"NATS/1.0 "
"""How a block begins in which the server answers; it takes a status out of what it stores."""


def connection_of(jetstream: JetStreamContext) -> Client:
    """Return the connection that this context uses."""
    return jetstream._nc  # pyright: ignore[reportPrivateUsage]


def api_subject(jetstream: JetStreamContext, call: str) -> str:
    """Return the subject of a call of JetStream's API, as this context's account reaches it."""
    return f"{jetstream._prefix}.{call}"  # pyright: ignore[reportPrivateUsage]


def server_address(client: Client) -> ParseResult | None:
    """Return the address of the server that the client was connected to, with its credentials."""
    server = client._current_server  # pyright: ignore[reportPrivateUsage]
    return server.uri if server else None


def tolerate_any_headers(client: Client) -> None:
    """Have this client read every block of headers, and take statuses from the server alone."""
    client._process_headers = partial(_read_headers, client._process_headers)  # pyright: ignore


async def _read_headers(read: Any, block: bytes | None) -> dict[str, str] | None:
    """Return the headers of a block by `read`, which must not see a block that begins in another
    way.
    """
    if not block or block.startswith(_STATUS):
        return await read(block)
    headers: dict[str, str] | None = await read(
        block if block.startswith(_PLAIN) else _PLAIN + block
    )
    if headers:
        headers.pop(Header.STATUS, None)
    return headers


class EncryptingTransport(TcpTransport):
    """A connection that is over when its handshake fails, or is given up."""

    async def connect_tls(
        self,
        uri: str | ParseResult,
        ssl_context: ssl.SSLContext,
        buffer_size: int,
        connect_timeout: int,
    ) -> None:
        """Encrypt the connection, or end it with what the handshake raises."""
        try:
            await super().connect_tls(uri, ssl_context, buffer_size, connect_timeout)
        except BaseException:
            if self._bare_io_writer:
                self._bare_io_writer.transport.abort()
            self._io_reader = self._io_writer = None
            raise


client_module.TcpTransport = EncryptingTransport  # pyright: ignore[reportPrivateImportUsage]
