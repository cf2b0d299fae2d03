"""What the suites of several ports share: the bus and the three stores, in memory and on
servers; and which of these they meet by day.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.graph import Partition
from runtime.stores.documents.port import Rows, Table
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from tests.support.buses import Bus, memory_bus, nats_bus
from tests.support.graph_stores import GraphStore, graph_store
from tests.support.mongo_plans import Plans
from tests.support.nats_accounts import nats_account
from tests.support.nats_server import connected
from tests.support.partitions import fresh_partition
from tests.support.qdrant_server import QDRANTS
from tests.support.rows import STORES, Opener, document_store, new_table
from tests.support.shared_servers import SharedServers
from tests.support.vector_stores import STORES as VECTOR_STORES
from tests.support.vector_stores import VectorStore, vector_store

SERVERS = {"mongo", "postgres", "neo4j", "milvus", *QDRANTS}
"""Stores of production. By day a suite meets those in memory and of the embedded stack."""

PLANS = Plans()
"""Judges the commands of every client of MongoDB that is made from now on."""

BY_DAY = {
    "test_rows.py": {"mongo", "postgres"},
    "test_mongo_plans.py": {"mongo"},
    "test_graph.py": {"neo4j", "postgres"},
    "test_neo4j_plans.py": {"neo4j"},
    "test_postgres_plans.py": {"postgres"},
    "test_vectors.py": {"postgres", *QDRANTS},
}
"""The first suite of each port meets its servers by day, too, but for Milvus: once started it takes
a tenth of a core to the end of the run. `tests/e2e/test_production_stores.py` has one for itself.
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the other servers to the night."""
    folder = Path(__file__).parent
    for item in items:
        if item.path.parent == folder and _servers(item) - BY_DAY.get(item.path.name, set()):
            item.add_marker(pytest.mark.nightly)


def _servers(item: pytest.Item) -> set[str]:
    """Those of `SERVERS` that parameters of the test name, alone or behind their port."""
    call = getattr(item, "callspec", None)
    values = call.params.values() if call else ()
    ends = [value[-1] if isinstance(value, tuple) and value else value for value in values]
    return SERVERS & {end for end in ends if isinstance(end, str)}


@pytest.fixture(autouse=True)
def _looked_up() -> Iterator[None]:
    """Fail a test that had MongoDB read more than it asked for."""
    PLANS.faults.clear()
    yield
    assert not PLANS.faults, PLANS.faults


@pytest.fixture(scope="module", params=["memory", "nats"])
def kind_of_bus(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest_asyncio.fixture(loop_scope="module")
async def bus(kind_of_bus: str, shared_servers: SharedServers) -> AsyncIterator[Bus]:
    """An empty bus: in memory, or an account of the shared server with every stream as declared."""
    if kind_of_bus == "memory":
        yield memory_bus()
        return
    async with nats_account(shared_servers) as account, connected(account) as client:
        yield await nats_bus(client.jetstream(timeout=5))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def opener(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_servers: SharedServers,
) -> AsyncIterator[Opener]:
    """The document store under test."""
    async with document_store(
        request.param, tmp_path_factory.mktemp("rows"), shared_servers
    ) as opener:
        yield opener


@pytest_asyncio.fixture(loop_scope="module")
async def rows(opener: Opener) -> AsyncIterator[Rows]:
    """An adapter of the document store under test, prepared."""
    rows = opener()
    await rows.prepare()
    yield rows
    await rows.close()


@pytest.fixture
def documents() -> Table:
    """A table with many indexed fields."""
    return new_table("documents")


@pytest.fixture
def bare_table() -> Table:
    """A table without indexed fields."""
    return new_table("embeddings")


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=["memory", "sqlite", "arcadedb", "neo4j", "postgres"],
)
async def graph_server(
    request: pytest.FixtureRequest, shared_servers: SharedServers
) -> AsyncIterator[GraphStore]:
    """The graph store under test, kept for a module."""
    async with graph_store(request.param, shared_servers) as store:
        yield store


@pytest.fixture
def graph(graph_server: GraphStore) -> Graph:
    """A client of the graph store under test."""
    return graph_server.client


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=VECTOR_STORES)
async def vector_server(
    request: pytest.FixtureRequest, shared_servers: SharedServers
) -> AsyncIterator[VectorStore]:
    """The vector store under test, with generation 1 prepared, kept for a module."""
    async with vector_store(request.param, shared_servers) as store:
        await store.client.prepare(1)
        yield store


@pytest.fixture
def vectors(vector_server: VectorStore) -> Vectors:
    """A client of the vector store under test."""
    return vector_server.client


@pytest.fixture
def partition() -> Partition:
    """A partition that no other test uses."""
    return fresh_partition()
