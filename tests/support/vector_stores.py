"""The vector stores that the contract suite runs over, and rows to put into them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import pytest

from contracts.graph import Partition, VectorRow
from contracts.ids import sha256
from embedded.processes import Process, free_port
from embedded.servers.milvus_lite import milvus_lite, uri
from runtime.errors import ConfigurationError
from runtime.stores.vectors.memory import MemoryVectors, Tables
from runtime.stores.vectors.milvus.store import MilvusVectors
from runtime.stores.vectors.port import Vectors
from runtime.stores.vectors.postgres.store import PostgresVectors
from runtime.stores.vectors.qdrant.store import QdrantVectors
from runtime.stores.vectors.sqlite.store import SqliteVectors
from tests.support.milvus_server import milvus_server
from tests.support.postgres_server import (
    data_folder,
    fresh_schema,
    postgres_server,
    shared_postgres,
)
from tests.support.qdrant_server import PROGRAM, QDRANTS, URI, qdrant_server
from tests.support.servers import missing
from tests.support.shared_servers import Address, SharedServers
from tests.support.waiting import STORE_PATIENCE

SERVERS = ["milvus-lite", "milvus", "postgres", *QDRANTS]
"""Those that are a process, as far as they can be had here."""

KEPT_STORES = ["sqlite", *SERVERS]
"""Those that outlive our process."""

STORES = ["memory", *KEPT_STORES]

MODEL = "example/embedder-small"
DIMENSION = 8


class Connect(Protocol):
    """Makes an adapter for the store."""

    def __call__(self, model: str, dimension: int, timeout: float) -> Vectors: ...


@dataclass
class VectorStore:
    """One running store; `client` stays open for the whole suite.

    `process` is None when it lives in ours, or when other tests use the server, too.
    """

    connect: Connect
    clients: AsyncExitStack
    process: Process | None = None
    uri: str = ""
    client: Vectors = field(init=False)

    def __post_init__(self) -> None:
        self.client = self.another()

    def another(
        self, model: str = MODEL, dimension: int = DIMENSION, *, timeout: float = STORE_PATIENCE
    ) -> Vectors:
        """One more client, closed when the suite ends."""
        client = self.connect(model, dimension, timeout)
        self.clients.push_async_callback(client.close)
        return client

    @property
    def server(self) -> Process:
        """The process of a server of one's own. Skips on one that is not ours to stop."""
        if self.process is None and self.uri == URI:
            pytest.skip("the server that LIGHTSTREAM_TEST_QDRANT_URI names is not stopped")
        assert self.process is not None
        return self.process


@asynccontextmanager
async def vector_store(name: str, servers: SharedServers) -> AsyncIterator[VectorStore]:
    """One of STORES. Others use its server, too. Skips where there is none."""
    async with AsyncExitStack() as clients:
        if name == "memory":
            yield _in_memory(clients)
        elif name == "sqlite":
            folder = clients.enter_context(TemporaryDirectory(prefix="vectors-"))
            yield _in_file(clients, Path(folder))
        elif name == "postgres":
            url = await clients.enter_async_context(fresh_schema(shared_postgres(servers)))
            yield _on_postgres(clients, None, url)
        elif name == "qdrant" and not PROGRAM:
            yield _on_server(clients, None, {"uri": URI})
        else:
            yield _on_server(
                clients, None, servers.server(name, lambda folder: _server(name, folder))
            )


@asynccontextmanager
async def own_vector_store(name: str, folder: Path) -> AsyncIterator[VectorStore]:
    """A fresh store on a server of its own, or in memory, for tests that stop it."""
    async with AsyncExitStack() as clients:
        if name == "memory":
            yield _in_memory(clients)
            return
        if name == "sqlite":
            yield _in_file(clients, folder)
            return
        if name == "postgres":
            process, url = postgres_server(folder, clients.enter_context(data_folder()))
            clients.push_async_callback(process.stop)
            await process.start()
            yield _on_postgres(clients, process, url)
            return
        if name == "qdrant" and not PROGRAM:
            yield _on_server(clients, None, {"uri": URI})
            return
        process, address = _server(name, folder)
        clients.push_async_callback(process.kill)
        await process.start()
        yield _on_server(clients, process, address)


def _in_memory(clients: AsyncExitStack) -> VectorStore:
    tables: Tables = {}
    return VectorStore(
        lambda model, dimension, timeout: MemoryVectors(model, dimension, tables), clients
    )


def _in_file(clients: AsyncExitStack, folder: Path) -> VectorStore:
    def connect(model: str, dimension: int, timeout: float) -> Vectors:
        path = folder / "vectors.sqlite"
        return SqliteVectors(path, model=model, dimension=dimension, timeout=timeout)

    return VectorStore(connect, clients)


def _on_postgres(clients: AsyncExitStack, process: Process | None, url: str) -> VectorStore:
    def connect(model: str, dimension: int, timeout: float) -> Vectors:
        return PostgresVectors(url, model=model, dimension=dimension, timeout=timeout)

    return VectorStore(connect, clients, process, url)


def _on_server(clients: AsyncExitStack, process: Process | None, address: Address) -> VectorStore:
    adapter = QdrantVectors if address["uri"].startswith("qdrant") else MilvusVectors

    def connect(model: str, dimension: int, timeout: float) -> Vectors:
        return adapter(address["uri"], model=model, dimension=dimension, timeout=timeout)

    return VectorStore(connect, clients, process, address["uri"])


def _server(name: str, folder: Path) -> tuple[Process, Address]:
    if name == "milvus" or name in QDRANTS:
        process, address = (
            milvus_server(folder) if name == "milvus" else qdrant_server(name, folder)
        )
        return process, {"uri": address}
    port = free_port()
    try:
        return milvus_lite(folder, port=port), {"uri": uri(port)}
    except ConfigurationError as error:
        missing(str(error))


def row(id: str, *direction: float, text: str = "some text", **fields: Any) -> VectorRow:
    """A row whose vector begins with these numbers, and then has zeros."""
    numbers = direction or (1.0,)
    return VectorRow(
        id, text, sha256(text), vector=numbers + (0.0,) * (DIMENSION - len(numbers)), **fields
    )


async def ids(vectors: Vectors, partition: Partition) -> list[str]:
    """The ids of all chunks, as a scan gives them."""
    return [result.id for result in await vectors.scan(partition, "chunks")]
