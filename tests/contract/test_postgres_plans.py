"""What is asked of PostgreSQL by keys, values or names is looked up in an index, by its own plans
for tables of a thousand rows: smaller ones it reads whole, whatever indexes there are.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import pairwise
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from contracts.graph import Partition
from runtime.stores.documents.port import INDEXES, Table
from runtime.stores.documents.postgres.store import PostgresRows
from runtime.stores.graph.postgres.store import PostgresGraph
from tests.support.graph_stores import entity, relation
from tests.support.postgres_server import fresh_schema, shared_postgres
from tests.support.shared_servers import SharedServers

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = Partition("w", 1)
DOCUMENTS = Table("documents", HERE)
COUNT = 1000
PREFIX = 2
"""Conditions by which an index is entered at the partition: its workspace and its generation."""


@pytest.fixture(scope="module", params=["postgres"])
def url(shared_servers: SharedServers) -> str:
    """The server of this run."""
    return shared_postgres(shared_servers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stores(url: str) -> AsyncIterator[tuple[PostgresRows, PostgresGraph]]:
    """A thousand rows of each table, as many entities in a chain, and a hub of a hundred."""
    keys = [f"{number:04d}" for number in range(COUNT)]
    async with fresh_schema(url) as schema:
        rows, graph = PostgresRows(schema, timeout=60), PostgresGraph(schema, timeout=60)
        await rows.prepare()
        await graph.prepare()
        for name, fields in INDEXES.items():
            values = {
                key: {field: key if type_ is str else int(key) for field, type_ in fields.items()}
                | {"text": key * 100}
                for key in keys
            }
            await rows.put(Table(name, HERE), values)
        names = [f"Spoke {key}" for key in keys]
        relations = [relation(*ends) for ends in pairwise(names)]
        relations += [relation("Hub", name) for name in names[:100]]
        await graph.put(HERE, [entity(name) for name in ("Hub", *names)], relations)
        connection: Any = await asyncpg.connect(url)
        await connection.execute("ANALYZE")
        await connection.close()
        yield rows, graph
        await rows.close()
        await graph.close()


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The plans of all statements that are sent from now on, by the server itself."""
    noted: list[dict[str, Any]] = []
    kind: Any = asyncpg.Connection
    fetch, execute = kind.fetch, kind.execute

    def explained(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def explain(connection: Any, query: str, *values: Any) -> Any:
            if query.startswith(("SELECT", "INSERT", "DELETE", "WITH")) and "pg_" not in query:
                records = await fetch(connection, f"EXPLAIN (FORMAT JSON) {query}", *values)
                noted.append(json.loads(records[0][0])[0]["Plan"])
            return await run(connection, query, *values)

        return explain

    monkeypatch.setattr(kind, "fetch", explained(fetch))
    monkeypatch.setattr(kind, "execute", explained(execute))
    return noted


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a plan that read a table or an index of ours."""
    if plan["Node Type"].endswith("Scan") and ("Index Name" in plan or "Relation Name" in plan):
        yield plan
    for child in plan.get("Plans", ()):
        yield from scans(child)


def faults(plan: dict[str, Any], *, in_order: bool = False) -> list[str]:
    """The scans of a plan that enter no index behind the partition, or with `in_order` at it."""
    conditions = PREFIX if in_order else PREFIX + 1
    return [
        f"{node['Node Type']} of {node.get('Index Name', node.get('Relation Name'))}"
        for node in scans(plan)
        if node["Node Type"] != "Bitmap Heap Scan"
        and node.get("Index Cond", "").count(" AND ") + 1 < conditions
    ]


LOOKED_UP: dict[str, Callable[[PostgresRows, PostgresGraph], Awaitable[Any]]] = {
    "get": lambda rows, _: rows.get(DOCUMENTS, ["0007"]),
    "existing": lambda rows, _: rows.existing(DOCUMENTS, ["0007"]),
    "scan": lambda rows, _: rows.scan(DOCUMENTS, "0007", 9),
    "delete": lambda rows, _: rows.delete(DOCUMENTS, ["none"]),
    "delete_older": lambda rows, _: rows.delete_older(DOCUMENTS, ["b"], "version", 2),
    "values": lambda rows, _: rows.values(DOCUMENTS, "status", {}, ["a"]),
    "update": lambda rows, _: rows.update(DOCUMENTS, ["a"], lambda stored: stored),
    "append": lambda rows, _: rows.append(Table("mentions", HERE), {"a": "note"}, {"a:b": {}}),
    "put_newer": lambda rows, _: rows.put_newer(DOCUMENTS, {"a": {"version": 2}}, "version"),
    "text": lambda rows, _: rows.find(DOCUMENTS, {"track_id": ["0007"]}),
    "number": lambda rows, _: rows.find(Table("costs", HERE), {"block": 1}),
    "contributions": lambda rows, _: rows.find(
        Table("chunk_contributions", HERE), {"document_id": ["a", "b"]}
    ),
    "supersessions": lambda rows, _: rows.find(Table("supersessions", HERE), {"superseded": ["a"]}),
    "nodes": lambda _, graph: graph.nodes(HERE, ["Hub"]),
    "entities": lambda _, graph: graph.entities(HERE, ["Hub"]),
    "relations": lambda _, graph: graph.relations(HERE, [("Hub", "Spoke 0007")]),
    "excerpts": lambda _, graph: graph.excerpts(HERE, ["Hub"], [("Hub", "Spoke 0007")], longest=9),
    "degrees": lambda _, graph: graph.degrees(HERE, ["Hub"]),
    "summaries": lambda _, graph: graph.relation_summaries(HERE, ["Hub"], limit=9),
    "neighbourhood": lambda _, graph: graph.neighbourhood(HERE, ["Hub"], limit=9),
    "graph put": lambda _, graph: graph.put(HERE, [entity("New")], [relation("Hub", "New")]),
}


@pytest.mark.parametrize("name", LOOKED_UP)
async def test_what_is_named_is_looked_up(
    stores: tuple[PostgresRows, PostgresGraph], plans: list[dict[str, Any]], name: str
) -> None:
    await LOOKED_UP[name](*stores)
    assert plans
    assert [fault for plan in plans for fault in faults(plan)] == []


@pytest.mark.parametrize(
    ("table", "order"), [("documents", "updated_at"), ("documents", "version"), ("costs", "block")]
)
async def test_the_first_rows_are_read_in_their_order(
    stores: tuple[PostgresRows, PostgresGraph], plans: list[dict[str, Any]], table: str, order: str
) -> None:
    await stores[0].find(Table(table, HERE), {}, order=order, limit=1)
    (plan,) = plans
    assert plan["Node Type"] == "Limit"
    assert faults(plan, in_order=True) == []
    assert [node.get("Index Name") for node in scans(plan)] == [f"{table}_{order}"]


async def test_a_read_of_all_rows_is_found(
    stores: tuple[PostgresRows, PostgresGraph], plans: list[dict[str, Any]]
) -> None:
    await stores[0].count(DOCUMENTS, "status", {})
    (plan,) = plans
    assert faults(plan)
