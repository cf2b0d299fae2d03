"""Document stores to try the contract of `Rows` on, and rows with odd values.

A real MongoDB is among them where LIGHTSTREAM_TEST_MONGODB_URI names one; CI does not run that.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from motor.motor_asyncio import AsyncIOMotorClient

from contracts.graph import Partition
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.mongo.store import MongoRows
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.postgres.store import PostgresRows
from runtime.stores.documents.sqlite.store import SqliteRows
from tests.support.mongo import shared_mongo
from tests.support.postgres_server import fresh_schema, shared_postgres
from tests.support.shared_servers import SharedServers
from tests.support.waiting import STORE_PATIENCE

REAL = os.environ.get("LIGHTSTREAM_TEST_MONGODB_URI", "")
STORES = ["memory", "sqlite", "mongo", "postgres", *(["mongodb"] if REAL else [])]

Opener = Callable[[], Rows]
"""Makes one more adapter over the same data. Memory has only one."""

ODD = {
    "chinese": "图书馆里的猫 「引用」",
    "quotes": 'it\'s "so" `called` \'\' "" ; DROP TABLE documents; --',
    "backslashes": "C:\\new\\table \\u0041 \\\\",
    "emoji": "👩‍👩‍👧 🇨🇭 \U0010ffff",
    "control": "\x00\x01\t\r\n\x1f\x7f\u2028\ufeff",
    "long": "long ß 長い " * 500,
    "nested": {"a.b": {"$set": {"$where": 1}}, "$gt": "", "": [], "deep": [[[{"x": None}]]]},
    "list": [1, -1, 0, 1.5, 1e300, 5e-324, True, False, None, "", {}, []],
    "large": 2**63 - 1,
    "small": -(2**63),
    "true": True,
    "none": None,
}


@asynccontextmanager
async def document_store(
    name: str, folder: Path, servers: SharedServers
) -> AsyncGenerator[Opener, None]:
    """One of STORES, empty: a file in the folder, or a database of its own on a server."""
    if name == "memory":
        only = MemoryRows()
        yield lambda: only
    elif name == "sqlite":
        yield lambda: SqliteRows(folder / "new" / "rows.sqlite")
    elif name == "postgres":
        async with fresh_schema(shared_postgres(servers)) as url:
            yield lambda: PostgresRows(url, timeout=STORE_PATIENCE)
    else:
        uri = REAL if name == "mongodb" else shared_mongo(servers)
        database = f"lightstream_test_{uuid4().hex}"
        yield lambda: MongoRows(uri, database, timeout=STORE_PATIENCE)
        client: Any = AsyncIOMotorClient(uri)
        await client.drop_database(database)
        client.close()


def new_table(name: str) -> Table:
    """A table in a space of the test's own."""
    return Table(name, Partition(f"w-{uuid4().hex}", 1))


def keys(result: list[tuple[str, Row]]) -> list[str]:
    """The keys of what `find` and `scan` return."""
    return [key for key, _ in result]


async def everything(rows: Rows, table: Table) -> dict[str, Row]:
    """All rows of a table in its space."""
    return dict(await rows.find(table, {}))


async def counted(rows: Rows, table: Table, *keys: str) -> dict[str, int]:
    """Count each key up once, and return the counts."""
    return {
        key: row["n"]
        for key, row in (await rows.append(table, dict.fromkeys(keys, "note"), {})).items()
    }
