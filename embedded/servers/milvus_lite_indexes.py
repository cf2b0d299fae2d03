"""An index over the ids of Milvus Lite's rows, where there are many.

Milvus Lite keeps a collection as a table of SQLite and makes no index over the ids: to replace or
to delete one row it reads the whole table. At 125,000 rows that was 57 MB and 80 ms of CPU a call;
with the index it takes 4 ms. The index costs bytes: 6 kB are written for a row without it, 14 kB
with it. So small collections have none.
"""

import asyncio
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

ROWS = 20_000
"""Rows of a collection from which on its ids are indexed: reading them all takes 12 ms a call."""

ROW_BYTES = 2048
"""A row of 384 numbers takes more, and fewer numbers are read faster."""

GROWTH = 1.1
"""How many times as large the file is at the next look: it is opened while a server writes to it,
which should be rare.
"""

INTERVAL = 10.0
"""Seconds between two looks at the size of the file."""

LOCK_TIMEOUT = 10.0
"""Seconds an index waits for a write of the server."""


def collection_tables(connection: sqlite3.Connection) -> list[str]:
    """Return the tables that hold rows, one for each collection."""
    columns = "SELECT group_concat(name) FROM pragma_table_info(sqlite_master.name)"
    tables = (
        f"SELECT name FROM sqlite_master WHERE type = 'table' AND ({columns}) = 'id,milvus_id,data'"  # noqa: S608
    )
    return [name for (name,) in connection.execute(tables)]


def index_ids(file: Path) -> list[str]:
    """Index the ids of each large collection that has no index yet, and return their tables.

    A write of the server in this time fails, a third of a second for 20,000 rows, and is repeated
    by whoever asked for it. Raises `sqlite3.Error`.
    """
    with closing(sqlite3.connect(file, timeout=LOCK_TIMEOUT, isolation_level=None)) as connection:
        tables = [
            table
            for table in collection_tables(connection)
            if _rows(connection, table) >= ROWS
            and not connection.execute(f'PRAGMA index_list("{table}")').fetchall()
        ]
        for table in tables:
            connection.execute(
                f'CREATE INDEX IF NOT EXISTS "ids of {table}" ON "{table}" (milvus_id)'
            )
    return tables


def _rows(connection: sqlite3.Connection, table: str) -> int:
    """Return about how many rows there are, without reading them: they are numbered as they come,
    and those that were replaced count, too.
    """
    numbers = f'SELECT coalesce(max(id) - min(id), 0) FROM "{table}"'  # noqa: S608
    (row_count,) = connection.execute(numbers).fetchone()
    return row_count


@dataclass
class IdIndexWatch:
    """Indexes the ids of collections that grow large while a server has them."""

    file: Path
    size: int = 0
    """Bytes of the file at the last look into it."""

    async def run(self) -> None:
        """Look at the file for ever."""
        while True:
            # A file that is locked or damaged: others tell, and the next look may work.
            with suppress(OSError, sqlite3.Error):
                await self.check()
            await asyncio.sleep(INTERVAL)

    async def check(self) -> None:
        """Index what has grown large since the last look."""
        size = self.file.stat().st_size
        if size >= max(ROWS * ROW_BYTES, self.size * GROWTH):
            await asyncio.to_thread(index_ids, self.file)
            self.size = size
