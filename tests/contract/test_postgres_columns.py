"""A database whose tables were made before a number was indexed: it gets its column, with the
values of the rows.
"""

from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from contracts.graph import Partition
from runtime.stores.documents.port import Table
from runtime.stores.documents.postgres.store import PostgresRows
from runtime.stores.postgres.database import Connection
from tests.support.postgres_server import fresh_schema, shared_postgres
from tests.support.shared_servers import SharedServers

pytestmark = pytest.mark.nightly  # of a server of production

COSTS = Table("costs", Partition("w", 1))


async def test_a_number_that_was_not_indexed_is_found_and_sorted_by_after_an_upgrade(
    shared_servers: SharedServers,
) -> None:
    async with fresh_schema(shared_postgres(shared_servers)) as url:
        rows = PostgresRows(url, timeout=60)
        await rows.prepare()
        await rows.put(COSTS, {"k1": {"document": "d"}, "k2": {"document": "d", "block": 3}})
        schema = parse_qs(urlsplit(url).query)["schema"][0]
        connection: Connection = await asyncpg.connect(url.partition("?")[0])
        await connection.execute(f"ALTER TABLE {schema}.costs DROP COLUMN field_block")
        await connection.execute(f"ALTER TABLE {schema}.documents DROP COLUMN field_labels")
        await connection.close()
        assert sorted(await rows.missing()) == [
            "costs_block is not there",
            "documents_labels is not there",
        ]
        for _ in range(2):
            await rows.prepare()
            assert await rows.missing() == []
            assert [key for key, _ in await rows.find(COSTS, {"block": 3})] == ["k2"]
            in_order = await rows.find(COSTS, {}, order="block", limit=2)
            assert [key for key, _ in in_order] == ["k1", "k2"]
        await rows.put(COSTS, {"k3": {"document": "d", "block": 4}})
        assert [key for key, _ in await rows.find(COSTS, {"block": 4})] == ["k3"]
        documents = Table("documents", COSTS.partition)
        await rows.put(documents, {"k1": {"labels": "a b"}, "k2": {}})
        assert await rows.values(documents, "labels", {}) == {"k1": "a b", "k2": None}
        await rows.close()
