"""Receivers of webhooks that send a byte now and then and never end: what they hold, and whom they
keep waiting.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_network

import pytest

from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.memory import MemorySharedValues
from runtime.concurrency.background import in_background
from services.gateway.webhooks.delivery import AT_ONCE, Notification, Webhooks, deliver
from services.gateway.webhooks.endpoints import Endpoint, Endpoints
from services.gateway.webhooks.http_poster import HttpPoster
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import WebhookSender
from services.gateway.webhooks.signing import new_secret
from tests.support.events import added, sealed
from tests.support.querying import QueryHarness
from tests.support.waiting import PATIENCE

HERE = [ip_network("127.0.0.0/8")]


@dataclass
class Dripping:
    """A receiver that takes every connection and sends a byte now and then, never a whole
    answer.
    """

    connections: int = 0
    open: dict[asyncio.StreamWriter, asyncio.Task[None]] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin an answer. It is a task of its own, which is ended with the receiver."""
        self.connections += 1
        self.open[writer] = asyncio.create_task(self._drip(reader, writer))

    async def _drip(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write(b"HTTP/1.1 200 OK\r\n")
            while not reader.at_eof():
                writer.write(b"X")
                await writer.drain()
                await asyncio.sleep(0.05)

    async def close(self) -> None:
        for writer, task in self.open.items():
            task.cancel()
            writer.transport.abort()
            await asyncio.gather(task, writer.wait_closed(), return_exceptions=True)
        await asyncio.sleep(0)  # the sockets are closed in the next turn of the loop


@asynccontextmanager
async def dripping() -> AsyncGenerator[tuple[Dripping, str]]:
    """A dripping receiver and its URL."""
    receiver = Dripping()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    async with server:
        try:
            yield receiver, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        finally:
            await receiver.close()


async def test_a_receiver_that_drips_holds_an_attempt_no_longer_than_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.gateway.webhooks.delivery.ATTEMPT_SECONDS", 5.0)
    poster = HttpPoster()
    message = Notification("m", "test", "", {})
    webhooks = Webhooks(Endpoints(MemorySharedValues()), poster, HERE)
    async with dripping() as (receiver, url):
        began = time.monotonic()
        outcome = await deliver(webhooks, Endpoint("", "w", url, ("test",), new_secret()), message)
        assert outcome.error == "no answer within 5 s"
        assert 4.9 < time.monotonic() - began < 14
        assert receiver.connections == 1
    await poster.close()


async def test_receivers_of_a_tenant_that_drip_keep_no_other_tenant_waiting() -> None:
    harness = QueryHarness()
    got = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        got.set()

    endpoints = Endpoints(MemorySharedValues())
    poster = HttpPoster()
    notifier = Notifier(harness.log, harness.pointers, harness.documents)
    sender = WebhookSender(
        Webhooks(endpoints, poster, HERE), MemoryEventFeed(harness.log), notifier
    )
    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with dripping() as (receiver, url), server:
        for number in range(60):
            slow = Endpoint("", f"w{number % 4}", url, ("DocumentAdded",), new_secret())
            await endpoints.add(slow, 0)
        for workspace in ("w0", "w1", "w2", "w3", "other"):
            await harness.log.publish(sealed(added("d"), id="e", workspace=workspace))
        async with in_background(sender.run()):
            async with asyncio.timeout(PATIENCE):
                while receiver.connections < 4 * AT_ONCE:
                    await asyncio.sleep(0.05)
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
            await endpoints.add(Endpoint("", "other", url, ("DocumentAdded",), new_secret()), 0)
            async with asyncio.timeout(10):
                await got.wait()
        assert receiver.connections == 4 * AT_ONCE
    await poster.close()
