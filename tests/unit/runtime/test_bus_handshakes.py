"""A bus whose encryption does not come about: the client tries again, and can be closed."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest
from nats.aio import client as client_module
from nats.aio.client import Client
from nats.aio.transport import TcpTransport

from runtime.bus.nats import connection
from runtime.errors import ConfigurationError

INFO = (
    b'INFO {"server_id":"x","version":"2.15.1","tls_required":true,"headers":true,'
    b'"max_payload":1048576}\r\n'
)


class Bus:
    """A server that asks for encryption, and answers a handshake with this if with anything."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.port = 0
        self.connections = 0
        self.second_attempt = asyncio.Event()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the client leaves."""
        self.connections += 1
        if self.connections > 1:
            self.second_attempt.set()
        writer.write(INFO)
        with suppress(ConnectionError):
            if await reader.read(1):
                writer.write(self._answer)
            while await reader.read(4096):
                pass
        writer.close()


@asynccontextmanager
async def bus(answer: bytes) -> AsyncGenerator[Bus]:
    trial = Bus(answer)
    server = await asyncio.start_server(trial.accept, "127.0.0.1", 0)
    trial.port = server.sockets[0].getsockname()[1]
    yield trial
    server.close()


@asynccontextmanager
async def connecting(client: Client, port: int) -> AsyncGenerator[None]:
    """Have the client go on trying for the time of the block."""

    async def ignore(_: Exception) -> None: ...

    attempts = asyncio.create_task(
        client.connect(
            f"tls://127.0.0.1:{port}",
            tls=ssl.create_default_context(),
            error_cb=ignore,
            max_reconnect_attempts=-1,
            reconnect_time_wait=1,
        )
    )
    try:
        yield
    finally:
        # In Python 3.11 the client loses a cancellation that comes together with an answer.
        while not attempts.done():
            attempts.cancel()
            await asyncio.wait([attempts], timeout=0.1)


async def test_the_client_alone_does_not_try_again_after_a_handshake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "TcpTransport", TcpTransport)
    async with bus(b"no handshake") as server, connecting(Client(), server.port):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(server.second_attempt.wait(), 3)


async def test_a_client_tries_again_after_a_handshake_that_failed() -> None:
    client = Client()
    async with bus(b"no handshake") as server:
        async with connecting(client, server.port):
            await asyncio.wait_for(server.second_attempt.wait(), 10)
        await asyncio.wait_for(client.close(), 10)


async def test_who_gives_up_during_a_handshake_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_CONNECTION", 0.2)

    async def connect(port: int) -> None:
        async with connection.connected(f"tls://127.0.0.1:{port}", name="test"):
            pytest.fail("nobody was to be let in")

    async with bus(b"") as server:
        with pytest.raises(ConfigurationError, match="no NATS server answers"):
            await asyncio.wait_for(connect(server.port), 10)
    assert server.connections == 1
