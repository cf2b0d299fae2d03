"""The graph stores that the contract suite runs over, and rows to put into them."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from embedded.processes import Process, free_port
from embedded.servers import arcadedb
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.graph.neo4j.store import BoltGraph
from runtime.stores.graph.port import Graph, RelationSummary
from runtime.stores.graph.postgres.store import PostgresGraph
from runtime.stores.graph.sqlite.store import SqliteGraph
from runtime.stores.graph.write_batches import sorted_ties
from runtime.stores.schemes import is_postgres, is_sqlite, sqlite_path
from tests.support import neo4j_server
from tests.support.postgres_server import (
    data_folder,
    fresh_schema,
    postgres_server,
    shared_postgres,
)
from tests.support.shared_servers import Address, SharedServers
from tests.support.waiting import PATIENCE, STORE_PATIENCE, pauses


@dataclass
class GraphStore:
    """One running store; `client` stays open for the whole suite.

    `process` is None when it lives in ours, has no `uri` then, or when other tests use the server,
    too.
    """

    client: Graph
    clients: AsyncExitStack
    process: Process | None = None
    uri: str = ""
    user: str = ""
    password: str = field(default="", repr=False)

    def another(self, *, timeout: float = STORE_PATIENCE) -> Graph:
        """One more client, closed when the suite ends."""
        if not self.uri:
            return self.client
        client: Graph
        if is_postgres(self.uri):
            client = PostgresGraph(self.uri, timeout=timeout)
        elif is_sqlite(self.uri):
            client = SqliteGraph(sqlite_path(self.uri), timeout=timeout)
        else:
            client = BoltGraph(self.uri, self.user, self.password, timeout=timeout)
        self.clients.push_async_callback(client.close)
        return client

    def driver(self) -> AsyncDriver:
        """The bare driver, for what the port does not offer."""
        return AsyncGraphDatabase.driver(
            self.uri, auth=(self.user, self.password), notifications_min_severity="OFF"
        )

    @property
    def server(self) -> Process:
        """The process of a server of one's own."""
        assert self.process is not None
        return self.process


@asynccontextmanager
async def graph_store(name: str, servers: SharedServers) -> AsyncGenerator[GraphStore]:
    """A prepared store: `memory`, `sqlite`, `arcadedb`, `neo4j` or `postgres`. Others use its
    server, too. Skips where there is none.
    """
    async with AsyncExitStack() as clients:
        if name == "memory":
            yield GraphStore(MemoryGraph(), clients)
        elif name == "sqlite":
            folder = clients.enter_context(TemporaryDirectory(prefix="graph-"))
            yield await _in_file(clients, Path(folder) / "graph.sqlite")
        elif name == "postgres":
            url = await clients.enter_async_context(fresh_schema(shared_postgres(servers)))
            yield await _on_postgres(clients, None, url)
        else:
            yield await _connected(
                clients, None, servers.server(name, lambda folder: _server(name, folder))
            )


@asynccontextmanager
async def own_graph_store(name: str, folder: Path) -> AsyncGenerator[GraphStore]:
    """A prepared store on a server of its own, `arcadedb`, `neo4j` or `postgres`, for tests that
    stop it, or `sqlite` in a file of its own.
    """
    async with AsyncExitStack() as clients:
        if name == "sqlite":
            yield await _in_file(clients, folder / "graph.sqlite")
            return
        if name == "postgres":
            process, url = postgres_server(folder, clients.enter_context(data_folder()))
            clients.push_async_callback(process.stop)
            await process.start()
            yield await _on_postgres(clients, process, url)
            return
        process, address = _server(name, folder)
        clients.push_async_callback(process.stop)
        await process.start()
        yield await _connected(clients, process, address)


def _server(name: str, folder: Path) -> tuple[Process, Address]:
    port = free_port()
    if name == "arcadedb":
        password = uuid.uuid4().hex
        process = arcadedb.arcadedb(
            folder, http_port=free_port(), bolt_port=port, password=password
        )
        return process, {
            "uri": arcadedb.bolt_uri(port),
            "user": arcadedb.USER,
            "password": password,
        }
    address = {
        "uri": neo4j_server.bolt_uri(port),
        "user": neo4j_server.USER,
        "password": neo4j_server.PASSWORD,
    }
    return neo4j_server.neo4j_server(folder, port), address


async def _in_file(clients: AsyncExitStack, path: Path) -> GraphStore:
    client = SqliteGraph(path)
    clients.push_async_callback(client.close)
    await client.prepare()
    return GraphStore(client, clients, uri=f"sqlite://{path}")


async def _on_postgres(clients: AsyncExitStack, process: Process | None, url: str) -> GraphStore:
    client = PostgresGraph(url, timeout=STORE_PATIENCE)
    clients.push_async_callback(client.close)
    await client.prepare()
    return GraphStore(client, clients, process, url)


async def _connected(
    clients: AsyncExitStack, process: Process | None, address: Address
) -> GraphStore:
    client = BoltGraph(address["uri"], address["user"], address["password"], timeout=STORE_PATIENCE)
    clients.push_async_callback(client.close)
    await client.prepare()
    return GraphStore(client, clients, process, **address)


def entity(name: str, revision: int = 1, **fields: Any) -> Entity:
    """An entity whose every field says which revision it is of."""
    values: dict[str, Any] = {
        "type": f"type {revision}",
        "description": f"{name[:50]} in revision {revision}",
        "source_ids": (f"chunk-{revision}", "chunk-0"),
        "file_paths": (f"{revision}.pdf",),
        "support": revision,
        "created_at": 1_700_000_000 + revision,
    }
    return Entity(name, revision, **{**values, **fields})


def relation(one: str, other: str, revision: int = 1, **fields: Any) -> Relation:
    """A relation, its ends sorted, whose every field says which revision it is of."""
    values: dict[str, Any] = {
        "weight": revision + 0.5,
        "keywords": ("a", f"keyword {revision}"),
        "description": f"joined in revision {revision}",
        "source_ids": (f"chunk-{revision}",),
        "file_paths": (f"{revision}.pdf", "b.pdf"),
        "support": revision,
        "created_at": 1_700_000_000 + revision,
    }
    return Relation(*pair(one, other), revision, **{**values, **fields})


async def every_entity(graph: Graph, partition: Partition, limit: int = 1000) -> list[Entity]:
    """All entities, page by page."""
    result: list[Entity] = []
    while page := await graph.scan_entities(partition, result[-1].name if result else "", limit):
        result += page
    return result


async def every_relation(graph: Graph, partition: Partition, limit: int = 1000) -> list[Relation]:
    """All relations, page by page."""
    result: list[Relation] = []
    while page := await graph.scan_relations(
        partition, result[-1].key if result else ("", ""), limit
    ):
        result += page
    return result


async def until(condition: Callable[[], bool], *, within: float = PATIENCE) -> None:
    """Wait for the condition."""
    async with asyncio.timeout(within):
        intervals = pauses()
        while not condition():
            await asyncio.sleep(next(intervals))


async def seconds(call: Awaitable[None]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    await call
    return time.perf_counter() - start


def tie(relation: Relation) -> RelationSummary:
    """The relation in short."""
    return RelationSummary(relation.source, relation.target, relation.weight)


async def ties(
    graph: Graph, partition: Partition, names: Collection[str], limit: int
) -> list[RelationSummary]:
    """Those of all the names, each once."""
    result = await graph.relation_summaries(partition, names, limit=limit)
    return sorted_ties(tie for summaries in result.values() for tie in summaries)
