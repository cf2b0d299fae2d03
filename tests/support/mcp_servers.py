"""A query service that really listens, over stores in memory, and processes of `lightstream mcp`
before it.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from contracts.events import DocumentAdded
from contracts.topology import declared_consumer
from runtime.bus.codec import decode
from runtime.bus.port import Delivery
from services.gateway.auth.config import AuthConfig
from tests.support import commands
from tests.support.commands import ROOT
from tests.support.querying import QueryHarness, library_of_two


@asynccontextmanager
async def listening(
    config: AuthConfig | None = None, harness: QueryHarness | None = None, **changes: Any
) -> AsyncGenerator[str]:
    """The address of a query service with two documents, or those of a harness, that takes others
    in and makes them searchable. `changes`: see `QueryHarness.app`.
    """
    harness = harness or await library_of_two()
    server = uvicorn.Server(
        uvicorn.Config(
            harness.app(config, **changes),
            port=0,
            log_level="error",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
    )
    running = asyncio.create_task(server.serve())
    working = asyncio.create_task(_work(harness))
    try:
        async with asyncio.timeout(30):
            while not server.started:
                await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        working.cancel()
        await running
        with suppress(asyncio.CancelledError):
            await working


async def _work(harness: QueryHarness) -> None:
    """What the other services do with the documents that are added."""
    consumer = harness.consumer(declared_consumer("query-status"))
    while True:
        for message in consumer.fetch(100):
            envelope = decode(message.data, message.subject, message.headers)
            await harness.project(Delivery(envelope, message.sequence, 1, message.published_at))
            await message.ack()
            event = envelope.data
            if isinstance(event, DocumentAdded):
                place = message.sequence
                fields = {
                    "workspace": envelope.workspace,
                    "track_id": event.track_id,
                    "file_path": event.file_path,
                }
                await harness.index(
                    event.document_id,
                    event.text or "",
                    version=place,
                    added_at=envelope.time,
                    **fields,
                )
        await asyncio.sleep(0.02)


def stdio(url: str, *arguments: str, **env: str) -> Client:
    """The SDK's client, which starts `lightstream mcp` itself."""
    command, *rest = [*commands.beginning(), "mcp", "--url", url, *arguments]
    given = StdioServerParameters(command=command, args=rest, env={"PYTHONPATH": str(ROOT), **env})
    return Client(given, read_timeout_seconds=60)


@asynccontextmanager
async def serving(url: str, *arguments: str, **env: str) -> AsyncGenerator[str]:
    """The address of `lightstream mcp --http`, in front of the query service at that one."""
    process = await asyncio.create_subprocess_exec(
        *commands.beginning(),
        "mcp",
        "--http",
        "--port",
        "0",
        "--json",
        "--url",
        url,
        *arguments,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", **env},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        said: dict[str, Any] = json.loads(
            await asyncio.wait_for(process.stdout.readuntil(b"}"), 60)
        )
        yield said["url"]
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await asyncio.wait_for(process.wait(), 30)


@asynccontextmanager
async def over_http(address: str, **headers: str) -> AsyncGenerator[Client]:
    """The SDK's client of a server that listens, sending these headers."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as connections,
        Client(
            streamable_http_client(address, http_client=connections), read_timeout_seconds=60
        ) as client,
    ):
        yield client


@asynccontextmanager
async def connected(transport: str, url: str, **headers: str) -> AsyncGenerator[Client]:
    """A client over stdio or HTTP; `headers` with a key are the key of the environment over
    stdio.
    """
    if transport == "stdio":
        async with stdio(url, LIGHTSTREAM_API_KEY=headers.get("X-API-Key", "")) as client:
            yield client
        return
    async with serving(url) as address, over_http(address, **headers) as client:
        yield client
