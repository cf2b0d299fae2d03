"""Two replicas of the indexer on the same keys: the newest text stands in the end, whoever writes
last or is killed.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from contracts.graph import Entity, Generations, Partition, Relation, VectorKind, VectorRow
from offline.embeddings.lexical import LexicalEmbedder
from runtime.errors import Retryable
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.graph_index import GraphKeys, index_graph
from tests.support.graph_stores import graph_store
from tests.support.partitions import fresh_partition
from tests.support.shared_servers import SharedServers
from tests.support.vector_stores import DIMENSION, MODEL, vector_store

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = GraphKeys({"a", "b"}, {("a", "b")})
PLACES = {
    "memory": ("memory", "memory"),
    "files": ("sqlite", "sqlite"),
    "servers": ("arcadedb", "milvus-lite"),
}
"""A graph store and a vector store by where they are."""


class Killed(Exception):
    """The replica ends here."""


@dataclass
class HeldVectors:
    """A replica's vector store, whose first write waits until it is released; then the replica may
    be killed.
    """

    vectors: Vectors
    killed: bool = False
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.vectors, name)

    async def put(self, partition: Partition, kind: VectorKind, rows: Sequence[VectorRow]) -> None:
        await self._held()
        await self.vectors.put(partition, kind, rows)
        if self.killed:
            raise Killed

    async def delete(self, partition: Partition, kind: VectorKind, ids: Collection[str]) -> None:
        if ids:
            await self._held()
            await self.vectors.delete(partition, kind, ids)

    async def _held(self) -> None:
        self.reached.set()
        await self.released.wait()


@dataclass
class Stores:
    """The stores of both replicas, and what they do with them."""

    graph: Graph
    vectors: Vectors
    partition: Partition = field(default_factory=fresh_partition)

    async def put(self, revision: int, *, is_gone: bool = False) -> None:
        """Write the keys in this revision, each with a text of it, or as tombstones."""
        text = "" if is_gone else f"text {revision}"
        entities = [
            Entity(name, revision, description=text, is_gone=is_gone) for name in sorted(KEYS.names)
        ]
        relations = [
            Relation(*pair, revision, description=text, is_gone=is_gone) for pair in KEYS.pairs
        ]
        await self.graph.put(self.partition, entities, relations)

    async def index(self, vectors: Any) -> None:
        """One replica handles an event about the keys."""
        embedder = CachedEmbeddings(MemoryRows(), LexicalEmbedder(DIMENSION))
        await index_graph(
            self.partition.workspace, KEYS, Generations(), self.graph, vectors, embedder
        )

    async def texts(self) -> set[str]:
        """The descriptions that can be found."""
        kinds: tuple[VectorKind, ...] = ("entities", "relations")
        rows = [row for kind in kinds for row in await self.vectors.scan(self.partition, kind)]
        return {row.text.rpartition("\n")[2] for row in rows}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=list(PLACES))
async def adapters(
    request: pytest.FixtureRequest, shared_servers: SharedServers
) -> AsyncIterator[tuple[Graph, Vectors]]:
    """A graph store and a vector store."""
    graph, vectors = PLACES[request.param]
    async with (
        graph_store(graph, shared_servers) as of_graph,
        vector_store(vectors, shared_servers) as of_vectors,
    ):
        assert of_vectors.client.model == MODEL
        await of_vectors.client.prepare(1)
        yield of_graph.client, of_vectors.client


@pytest.fixture
def stores(adapters: tuple[Graph, Vectors]) -> Stores:
    return Stores(*adapters)


async def overtaken(
    stores: Stores, slow: HeldVectors, revision: int, *, is_gone: bool = False
) -> asyncio.Task[None]:
    """A replica that has read the graph, and goes on only after the graph has moved and another one
    has indexed it.
    """
    task = asyncio.create_task(stores.index(slow))
    await slow.reached.wait()
    await stores.put(revision, is_gone=is_gone)
    await stores.index(stores.vectors)
    slow.released.set()
    return task


@pytest.mark.parametrize("first", [1, 2])
async def test_who_writes_an_older_text_last_finds_out_and_corrects_it(
    stores: Stores, first: int
) -> None:
    await stores.put(first)
    await (await overtaken(stores, HeldVectors(stores.vectors), first + 1))
    assert await stores.texts() == {f"text {first + 1}"}


async def test_who_writes_what_is_gone_meanwhile_removes_it(stores: Stores) -> None:
    await stores.put(1)
    await (await overtaken(stores, HeldVectors(stores.vectors), 2, is_gone=True))
    assert await stores.texts() == set()


async def test_who_removes_what_has_come_back_meanwhile_writes_it(stores: Stores) -> None:
    await stores.put(1)
    await stores.index(stores.vectors)
    await stores.put(2, is_gone=True)
    await (await overtaken(stores, HeldVectors(stores.vectors), 3))
    assert await stores.texts() == {"text 3"}


@pytest.mark.parametrize("first", [1, 2])
async def test_who_is_killed_after_writing_an_older_text_is_made_up_for(
    stores: Stores, first: int
) -> None:
    await stores.put(first)
    with pytest.raises(Killed):
        await (await overtaken(stores, HeldVectors(stores.vectors, killed=True), first + 1))
    assert f"text {first}" in await stores.texts()
    await stores.index(stores.vectors)  # its event comes again
    assert await stores.texts() == {f"text {first + 1}"}


async def test_replicas_that_index_while_the_graph_moves_end_with_its_newest_text(
    stores: Stores,
) -> None:
    async def handle() -> None:
        while True:
            try:
                return await stores.index(stores.vectors)
            except Retryable:  # comes again, as by the event processor
                continue

    replicas: list[asyncio.Task[None]] = []
    for revision in range(1, 13):
        await stores.put(revision)
        replicas += [asyncio.create_task(handle()) for _ in range(2)]
        await asyncio.sleep(0)
    await asyncio.gather(*replicas)
    assert await stores.texts() == {"text 12"}
