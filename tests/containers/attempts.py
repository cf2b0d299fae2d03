"""What an attack tries: each attempt reads, writes or reaches something, or is kept from it.

Mounted beside `attacks.py`, into a container of the deployment: nothing of the tests is there.
"""

import asyncio
import importlib
import json
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Attempt = Callable[[], Awaitable[bool]]
CREDENTIALS = Path("/credentials")
"""Mounted by whoever runs this: an address of the bus or a key of the API."""

FORGED = "forged"
"""The document that all forged events name."""


async def _ignored(error: Exception) -> None:
    pass


def connects(host: str, port: int) -> Attempt:
    """Whether a TCP connection opens."""

    def connect() -> bool:
        socket.create_connection((host, port), 5).close()
        return True

    return lambda: asyncio.to_thread(connect)


def asks(path: str, body: Any = None, host: str = "query", **headers: str) -> Attempt:
    """Whether the API answers with anything but a refusal."""
    data = None if body is None else json.dumps(body).encode()

    def ask() -> bool:
        request = urllib.request.Request(
            f"http://{host}:9621{path}", data, {"Content-Type": "application/json", **headers}
        )
        try:
            return urllib.request.urlopen(request, timeout=20).status < 400
        except urllib.error.HTTPError as error:
            # A mistake of ours, or of the server's, would look like a refusal.
            if error.code not in (401, 403):
                sys.stderr.write(f"{path}: {error.code} {error.read()[:300]!r}\n")
            return error.code not in (401, 403)

    return lambda: asyncio.to_thread(ask)


def enters_bus(url: str, port: int = 4222) -> Attempt:
    """Whether the bus lets somebody in."""

    async def tried() -> bool:
        import nats  # noqa: PLC0415

        client = await nats.connect(
            f"nats://{url}nats:{port}", allow_reconnect=False, error_cb=_ignored
        )
        await client.close()
        return True

    return tried


async def graph() -> bool:
    """Whether the graph store takes its first password."""
    from neo4j import AsyncGraphDatabase  # noqa: PLC0415

    async with AsyncGraphDatabase.driver("bolt://neo4j:7687", auth=("neo4j", "neo4j")) as driver:
        await driver.verify_connectivity()
    return True


async def vectors() -> bool:
    """Whether the vector store lists its collections without a password."""
    from pymilvus import MilvusClient  # noqa: PLC0415

    def list_all() -> bool:
        client: Any = MilvusClient(uri="http://milvus:19530", timeout=10)
        client.list_collections()
        return True

    return await asyncio.to_thread(list_all)


async def documents() -> bool:
    """Whether the document store lists its tables without a password."""
    from motor.motor_asyncio import AsyncIOMotorClient  # noqa: PLC0415

    client: Any = AsyncIOMotorClient("mongodb://mongo:27017", serverSelectionTimeoutMS=5000)
    await client["lightstream"].list_collection_names()
    return True


def says(subject: str, body: bytes = b"{}") -> Attempt:
    """Whether somebody answers a message, and not with an error."""

    url = CREDENTIALS.read_text().strip()

    async def tried() -> bool:
        import nats  # noqa: PLC0415

        client = await nats.connect(url, error_cb=_ignored)
        try:
            answer = json.loads((await client.request(subject, body, timeout=10)).data or b"{}")
            return "error" not in answer
        finally:
            await client.close()

    return tried


def hears(subject: str) -> Attempt:
    """Whether a message of others arrives at a subscription; whoever runs this adds a document
    meanwhile.
    """

    url = CREDENTIALS.read_text().strip()

    async def tried() -> bool:
        import nats  # noqa: PLC0415

        client = await nats.connect(url, error_cb=_ignored)
        try:
            await (await client.subscribe(subject)).next_msg(timeout=20)
            return True
        finally:
            await client.close()

    return tried


def added(workspace: str, document: str, name: str = "DocumentAdded") -> Attempt:
    """Whether the log takes a document of a workspace, or another event with its contents."""
    event = {
        "specversion": "1.0",
        "id": f"{name}-of-{document}",
        "source": "/attacks",
        "type": f"lightstream.{name}.v1",
        "subject": document,
        "time": "2026-11-23T00:00:00Z",
        "datacontenttype": "application/json",
        "workspace": workspace,
        "data": {
            "document_id": document,
            "file_path": f"{document}.txt",
            "text": "Ada Marlow has a boat.",
        },
    }
    return says(f"kb.v1.{workspace}.{document}.{name}", json.dumps(event).encode())


def opens(url: str) -> Attempt:
    """Whether the bus lets a program of ours in with this address, and answers it."""

    async def tried() -> bool:
        # The package as the image has it.
        connection = importlib.import_module("lightstream_rag.runtime.bus.nats.connection")

        async with connection.connected(url, name="attack") as client:
            await client.flush(5)
        return True

    return tried
