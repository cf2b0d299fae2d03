"""No statement about named entities reads more of a Neo4j the larger their hubs are, and none but
that of all partitions reads every entity or relation. Judged by its own plans.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, cast

import neo4j
import pytest
import pytest_asyncio

from contracts.graph import Partition
from runtime.stores.graph.neo4j import cypher, cypher_checkpoints, cypher_excerpts, transactions
from runtime.stores.graph.port import Graph
from tests.support.graph_stores import GraphStore, entity, graph_store, relation
from tests.support.partitions import fresh_partition
from tests.support.shared_servers import SharedServers
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIZES = (60, 180)
"""Relations of a hub. Neo4j keeps those of a node with more than fifty in another way."""

SCANS = ("AllNodesScan", "NodeByLabelScan", "CartesianProduct", "RelationshipTypeScan")
"""Endings of operators that read everything, or all pairs."""

NOT_READING = {"PING", "INDEXES", "SPACES"}
"""Of these SPACES reads every entity: for operators, not for documents or questions."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["neo4j"])
async def store(
    request: pytest.FixtureRequest, shared_servers: SharedServers
) -> AsyncIterator[GraphStore]:
    async with graph_store(request.param, shared_servers) as store:
        yield store


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hubs(store: GraphStore) -> dict[int, Partition]:
    """Partitions by the size of their two hubs, which are tied to each other and to all others."""
    partitions = {size: fresh_partition() for size in SIZES}
    for size, partition in partitions.items():
        spokes = [f"Spoke {number:03d}" for number in range(size)]
        ties = [relation(hub, spoke) for hub in ("Hub 1", "Hub 2") for spoke in spokes]
        names = ("Hub 1", "Hub 2", *spokes)
        await store.another(timeout=PATIENCE).put(
            partition, [entity(name) for name in names], [relation("Hub 1", "Hub 2"), *ties]
        )
    return partitions


def statements() -> Iterator[tuple[str, str]]:
    """All statements that read or write entities, relations and checkpoints, with their names."""
    for module in (cypher, cypher_checkpoints, cypher_excerpts):
        for name, value in vars(module).items():
            texts = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
            for number, text in enumerate(texts):
                is_one = isinstance(text, str) and ("MATCH" in text or "MERGE" in text)
                if name.isupper() and name not in NOT_READING and is_one:
                    yield f"{name} {number}", text


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """The names of the operators of a plan."""
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def hits(plan: dict[str, Any]) -> int:
    """How often the operators of a profile asked the store for anything."""
    return plan.get("dbHits", 0) + sum(map(hits, plan.get("children", ())))


async def test_no_statement_reads_everything(store: GraphStore) -> None:
    scanning: dict[str, set[str]] = {}
    async with store.driver() as driver, driver.session(database="neo4j") as session:
        for name, text in statements():
            result = await session.run(f"EXPLAIN {text}")  # type: ignore[arg-type]
            plan: Any = (await result.consume()).plan
            assert plan
            scans = {operator for operator in operators(plan) if operator.endswith(SCANS)}
            if scans:
                scanning[name] = scans
    assert len(list(statements())) > 20
    assert not scanning


Reading = Callable[[Graph, Partition], Awaitable[Any]]

READINGS: dict[str, Reading] = {
    "put": lambda graph, partition: graph.put(
        partition,
        [entity("Hub 1", 2), entity("New")],
        [relation("Hub 1", "New"), relation("Hub 1", "Hub 2", 2)],
    ),
    "relations": lambda graph, partition: graph.relations(
        partition, [("Hub 1", "Hub 2"), ("Hub 2", "Spoke 001")]
    ),
    "excerpts": lambda graph, partition: graph.excerpts(
        partition, ["Hub 1"], [("Hub 1", "Hub 2"), ("Hub 1", "Spoke 002")], longest=9
    ),
    "nodes": lambda graph, partition: graph.nodes(partition, ["Hub 1"]),
    "entities": lambda graph, partition: graph.entities(partition, ["Hub 1"]),
}


@pytest.mark.parametrize("name", READINGS)
async def test_a_hub_costs_as_much_with_more_relations(
    store: GraphStore,
    hubs: dict[int, Partition],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hit_counts: list[int] = []
    original = transactions.__dict__["_fetched"]

    async def fetched(result: neo4j.AsyncResult) -> Any:
        records = await original(result)
        profile: Any = (await result.consume()).profile
        assert profile
        hit_counts.append(hits(profile))
        return records

    monkeypatch.setattr(transactions, "_fetched", fetched)
    kinds: tuple[Any, ...] = (neo4j.AsyncSession, neo4j.AsyncManagedTransaction)
    for kind in kinds:
        monkeypatch.setattr(kind, "run", _profiled(kind.run))
    totals: list[int] = []
    for size in SIZES:
        hit_counts.clear()
        await READINGS[name](store.another(timeout=PATIENCE), hubs[size])
        totals.append(sum(hit_counts))
    # Some pages of indexes more or less; a reading of all would take as many more as there are.
    assert abs(totals[0] - totals[1]) <= (SIZES[1] - SIZES[0]) // 10, hit_counts
    assert totals[0] > 0


def _profiled(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def profiled(session: Any, statement: str, *arguments: Any, **options: Any) -> Any:
        return await run(session, f"PROFILE {statement}", *arguments, **options)

    return profiled
