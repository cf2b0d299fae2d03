"""A nats-server of one test's own: free port, store in the test's folder, gone when the test
ends.
"""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import nats
from nats.aio.client import Client

from embedded.processes import Process, free_port
from embedded.servers.nats import Sync, nats_server, url
from runtime.errors import ConfigurationError
from tests.support.servers import missing
from tests.support.waiting import PATIENCE, pauses


class BusServer(Protocol):
    """A server, or an account of one, that clients connect to."""

    @property
    def url(self) -> str: ...


@dataclass
class RunningNats:
    """A running nats-server. `process` starts, stops and kills it; `url` and the store stay the
    same over restarts.
    """

    process: Process
    port: int
    monitor_port: int | None
    folder: Path

    @property
    def url(self) -> str:
        """Where clients connect."""
        return url(self.port)

    @property
    def monitor_url(self) -> str:
        """The HTTP monitoring pages."""
        assert self.monitor_port is not None, "start it with monitor=True"
        return f"http://127.0.0.1:{self.monitor_port}"

    async def kill(self) -> None:
        """SIGKILL: nothing is flushed, nobody is told."""
        await self.process.kill()

    async def restart(self) -> None:
        """Start again on the same port with the same store; the server must have ended."""
        assert not self.process.alive
        await self.process.start()


@asynccontextmanager
async def running_nats(
    tmp_path: Path, *, sync: Sync = "default", monitor: bool = False, port: int | None = None
) -> AsyncGenerator[RunningNats]:
    """A fresh nats-server whose store is `tmp_path/nats`. `sync="default"` is for speed; the
    product says "always".
    """
    folder = tmp_path / "nats"
    chosen = port or free_port()
    monitor_port = free_port() if monitor else None
    try:
        process = nats_server(folder, port=chosen, monitor_port=monitor_port, sync=sync)
    except ConfigurationError as error:
        missing(str(error))
    try:
        await process.start()
        yield RunningNats(process, chosen, monitor_port, folder)
    finally:
        await process.stop()
        shutil.rmtree(folder / "jetstream", ignore_errors=True)


@asynccontextmanager
async def connected(server: BusServer) -> AsyncGenerator[Client]:
    """A bare nats-py client that reconnects for ever and says nothing about it."""
    client = await nats.connect(
        server.url,
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.05,
        connect_timeout=1,
        error_cb=_ignored,
    )
    try:
        yield client
    finally:
        await client.close()


async def reconnected(client: Client) -> None:
    """Wait until a client has noticed that its server is back."""

    async def back() -> bool:
        return client.is_connected

    await until(back, "the client connected again")


async def until(
    true: Callable[[], Awaitable[bool]], what: str, *, seconds: float = PATIENCE
) -> None:
    """Ask again until it is true. Fails the test, naming `what` was awaited, when it is not by
    then.
    """
    end = asyncio.get_running_loop().time() + seconds
    intervals = pauses(0.1)
    while not await true():
        assert asyncio.get_running_loop().time() < end, f"not within {seconds:.0f} s: {what}"
        await asyncio.sleep(next(intervals))


async def _ignored(error: Exception) -> None:
    """Tests that kill the server expect errors here."""
