"""A question about few documents reads few rows of the file, however many there are."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.graph import Partition
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite import store
from runtime.stores.documents.sqlite.store import SqliteRows

TABLE = Table("documents", Partition("w", 1))
COUNT = 50


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "documents.db"


@pytest_asyncio.fixture
async def rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteRows]:
    """Fifty documents, of which two failed; more than five are many."""
    monkeypatch.setattr(store, "FEW", 5)
    rows = SqliteRows(path)
    await rows.prepare()
    await rows.put(
        TABLE,
        {
            f"{number:02d}": {
                "id": f"{number:02d}",
                "file_path": f"{number}.md",
                "track_id": f"t{number // 3}",
                "updated_at": f"2026-01-{number:02d}",
                "status": "failed" if number < 2 else "processed",
                "version": number,
            }
            for number in range(COUNT)
        },
    )
    yield rows
    await rows.close()


async def plan(rows: SqliteRows, path: Path, **query: Any) -> tuple[int, set[str]]:
    """Return how many rows a query found, and which indexes it took for them."""
    statements: list[str] = []
    for connection in await rows._file._connections():  # pyright: ignore[reportPrivateUsage]
        await connection.run(lambda each: each.set_trace_callback(statements.append))
    count = len(await rows.find(TABLE, **query))
    (statement,) = (line for line in statements if line.startswith("SELECT key, body"))
    with closing(sqlite3.connect(path)) as connection:
        lines = [line for *_, line in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    return count, {line.split("USING INDEX ")[1] for line in lines if "USING INDEX" in line}


HERE = "(workspace=? AND generation=?"
BOTH = ["failed", "processed"]


@pytest.mark.parametrize(
    ("query", "count", "index"),
    [
        ({"where": {"track_id": "t3", "status": BOTH}, "order": "id"}, 3, "track_id"),
        ({"where": {"status": BOTH, "file_path": ["7.md"]}, "order": "id"}, 1, "file_path"),
        ({"where": {"status": BOTH, "id": ["07"]}, "order": "updated_at", "limit": 9}, 1, "id"),
        ({"where": {"status": BOTH, "id": ["07"]}, "order": "id", "limit": 9}, 1, "id"),
        ({"where": {"status": ["failed"]}, "order": "version", "limit": 9}, 2, "status"),
    ],
)
async def test_few_rows_are_looked_up(
    rows: SqliteRows, path: Path, query: dict[str, Any], count: int, index: str
) -> None:
    assert await plan(rows, path, **query) == (
        count,
        {f"documents_{index} {HERE} AND field_{index}=?)"},
    )


async def test_the_first_of_many_rows_are_read_in_their_order(rows: SqliteRows, path: Path) -> None:
    query: dict[str, Any] = {"where": {"status": BOTH}, "order": "updated_at", "limit": 4}
    assert await plan(rows, path, **query) == (4, {f"documents_updated_at {HERE})"})
