"""The contract of `CheckpointStore`, the same for every store a projection has parts in."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.graph import VECTOR_KINDS, Partition, VectorRow
from runtime.stores.documents.checkpoints import RowCheckpoints, newest_versions, read_mark
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Table
from runtime.stores.port import Checkpoint
from tests.support.graph_stores import graph_store
from tests.support.rows import document_store
from tests.support.shared_servers import SharedServers
from tests.support.vector_stores import STORES as VECTOR_STORES
from tests.support.vector_stores import row, vector_store

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOG = "2026-01-02T03:04:05.123456+00:00"
STORES = [
    *(("rows", name) for name in ("memory", "sqlite", "mongo", "postgres")),
    *(("graph", name) for name in ("memory", "sqlite", "arcadedb", "neo4j", "postgres")),
    *(("vectors", name) for name in VECTOR_STORES),
]
Store = Any
"""`RowCheckpoints`, `Graph` or `Vectors`."""
_generations = itertools.count(random.randrange(10**6, 10**9))
"""Apart from those of other workers on the same servers."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES, ids="-".join)
async def stores(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_servers: SharedServers,
) -> AsyncIterator[list[Store]]:
    """Two clients of one store."""
    kind, name = request.param
    async with AsyncExitStack() as stack:
        yield await _opened(stack, kind, name, tmp_path_factory.mktemp(name), shared_servers)


async def _opened(
    stack: AsyncExitStack, kind: str, name: str, folder: Path, servers: SharedServers
) -> list[Store]:
    if kind == "rows":
        opener = await stack.enter_async_context(document_store(name, folder, servers))
        adapters = [opener(), opener()]
        await adapters[0].prepare()
        for rows in adapters:
            stack.push_async_callback(rows.close)
        return [RowCheckpoints(rows, "graph") for rows in adapters]
    if kind == "graph":
        graph = await stack.enter_async_context(graph_store(name, servers))
        return [graph.client, graph.another()]
    vectors = await stack.enter_async_context(vector_store(name, servers))
    return [vectors.client, vectors.another()]


@pytest.fixture
def generation() -> int:
    """One that no other test has used."""
    return next(_generations)


async def test_a_generation_without_a_checkpoint_has_none(
    stores: list[Store], generation: int
) -> None:
    assert await stores[0].checkpoint(generation) is None


async def test_every_client_reads_what_was_put_and_generations_are_apart(
    stores: list[Store], generation: int
) -> None:
    await stores[0].put_checkpoint(generation, Checkpoint(7, LOG))
    assert await stores[1].checkpoint(generation) == Checkpoint(7, LOG)
    assert await stores[1].checkpoint(next(_generations)) is None


async def test_the_greatest_stands_whatever_came_last(stores: list[Store], generation: int) -> None:
    for sequence in (5, 2**40, 9, 2**40):
        await stores[0].put_checkpoint(generation, Checkpoint(sequence, LOG))
    assert await stores[1].checkpoint(generation) == Checkpoint(2**40, LOG)


async def test_a_beginning_is_kept_and_replaced_by_whatever_is_greater(
    stores: list[Store], generation: int
) -> None:
    await asyncio.gather(
        *(stores[number % 2].put_checkpoint(generation, Checkpoint(0, LOG)) for number in range(4))
    )
    assert await stores[1].checkpoint(generation) == Checkpoint(0, LOG)
    for sequence in (7, 0):
        await stores[0].put_checkpoint(generation, Checkpoint(sequence, LOG))
        assert await stores[1].checkpoint(generation) == Checkpoint(7, LOG)


async def test_the_greatest_of_many_writers_stands(stores: list[Store], generation: int) -> None:
    await stores[0].put_checkpoint(generation, Checkpoint(1, LOG))
    await asyncio.gather(
        *(
            stores[number % 2].put_checkpoint(generation, Checkpoint(number, LOG))
            for number in (3, 9, 4, 8, 2, 7)
        )
    )
    assert await stores[0].checkpoint(generation) == Checkpoint(9, LOG)


async def test_a_checkpoint_is_in_nothing_that_people_see(
    stores: list[Store], generation: int
) -> None:
    store = stores[0]
    partition = Partition("checkpoint", generation)
    await store.put_checkpoint(generation, Checkpoint(7, LOG))
    if isinstance(store, RowCheckpoints):
        assert await store.rows.scan(Table("documents", partition)) == []
    elif hasattr(store, "search"):
        for kind in VECTOR_KINDS:
            vector_row: VectorRow = row("a")
            await store.put(partition, kind, [vector_row])
            assert [
                hit.id for hit in await store.search(partition, kind, vector_row.vector, top_k=9)
            ] == ["a"]
            assert await store.count(partition, kind) == 1
            assert [result.id for result in await store.scan(partition, kind)] == ["a"]
    else:
        assert await store.scan_entities(partition) == []
        assert await store.hubs(partition, limit=9) == []
        assert generation not in {there.generation for there in await store.partitions()}


async def test_a_dropped_generation_has_none(stores: list[Store], generation: int) -> None:
    store = stores[0]
    other_generation = next(_generations)
    for number in (generation, other_generation):
        await store.put_checkpoint(number, Checkpoint(7, LOG))
    for _ in range(2):
        await (
            store.drop(generation)
            if hasattr(store, "search")
            else store.drop_checkpoint(generation)
        )
    assert await store.checkpoint(generation) is None
    assert await store.checkpoint(other_generation) == Checkpoint(7, LOG)


async def test_rows_forget_all_generations_but_those_kept() -> None:
    rows = MemoryRows()
    graph = RowCheckpoints(rows, "graph")
    status = RowCheckpoints(rows, "status")
    for number in (1, 2, 3):
        await graph.put_checkpoint(number, Checkpoint(number, LOG))
    await status.put_checkpoint(1, Checkpoint(1, LOG))
    await graph.drop_others({3, None})
    assert [await graph.checkpoint(number) for number in (1, 2, 3)] == [
        None,
        None,
        Checkpoint(3, LOG),
    ]
    assert await status.checkpoint(1) == Checkpoint(1, LOG)
    assert await read_mark(rows) is None


async def test_the_newest_version_is_that_of_the_generation_asked_for() -> None:
    rows = MemoryRows()
    for workspace, number, version in (("a", 1, 5), ("b", 1, 9), ("a", 2, 70)):
        await rows.put(
            Table("documents", Partition(workspace, number)),
            {"x": {"version": version}, "y": {"version": 1}},
        )
    assert [await newest_versions(rows, number) for number in (1, 2, 3)] == [[9], [70], []]
