"""One nats-server for all tests of a run, with an account for each: what is in one account nobody
sees from another.

Streams, consumers, buckets and subjects of an account are its own, so every test declares the
product's streams under their fixed names. A test that stops or damages the server, or looks at its
folder, runs one of its own (`tests/support/nats_server.py`).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import nats

from embedded.processes import Process, free_port
from embedded.servers.nats import HOST, MAX_PAYLOAD, executable, quoted
from runtime.errors import ConfigurationError, Unavailable
from tests.support.nats_server import connected
from tests.support.servers import missing
from tests.support.shared_servers import Address, SharedServers

ACCOUNTS = 2000
"""Accounts of the server. None is used twice: after a stream is deleted, the server removes the
folders of an account that has no other, and whoever creates a stream at that moment is refused
(500, 10049).
"""
PASSWORD = "tests"


@dataclass(frozen=True)
class NatsAccount:
    """An account of the shared server. `url` is where clients connect, with the password."""

    url: str


@asynccontextmanager
async def nats_account(servers: SharedServers) -> AsyncGenerator[NatsAccount]:
    """An account that nobody has used; its streams are deleted in the end."""
    port = (await asyncio.to_thread(servers.server, "nats", _server))["port"]
    number = servers.number("nats-account")
    assert number < ACCOUNTS, "no account is left: raise ACCOUNTS"
    account = NatsAccount(_url(port, number))
    try:
        yield account
    finally:
        async with connected(account) as client:
            jetstream = client.jetstream(timeout=30)
            for stream in await jetstream.streams_info():
                await jetstream.delete_stream(stream.config.name or "")


def _url(port: int, number: int) -> str:
    return f"nats://a{number}:{PASSWORD}@{HOST}:{port}"


def _server(folder: Path) -> tuple[Process, Address]:
    port = free_port()
    try:
        program = str(executable())
    except ConfigurationError as error:
        missing(str(error))
    users = [f"[{{user: a{number}, password: {PASSWORD}}}]" for number in range(ACCOUNTS)]
    accounts = [
        f"  a{number} {{ jetstream: enabled, users: {user} }}" for number, user in enumerate(users)
    ]
    lines = [
        f"listen: {quoted(f'{HOST}:{port}')}",
        f"max_payload: {MAX_PAYLOAD}",
        f"jetstream {{ store_dir: {quoted(folder / 'jetstream')} }}",
        "accounts {",
        *accounts,
        "}",
    ]
    folder.mkdir(parents=True)
    (folder / "nats-server.conf").write_text("\n".join(lines))

    async def probe() -> None:
        try:
            client = await nats.connect(
                _url(port, 0), connect_timeout=2, allow_reconnect=False, error_cb=_ignored
            )
        except (OSError, TimeoutError, nats.errors.Error) as error:
            raise Unavailable("the server does not answer yet") from error
        await client.close()

    return Process(
        "nats-server", [program, "-c", str(folder / "nats-server.conf")], folder, probe
    ), {"port": port}


async def _ignored(error: Exception) -> None:
    """The call raises the same error."""
