"""A question about few documents reads few rows of the file, however many there are."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.graph import Partition
from runtime.stores.documents.port import INDEXES, NoneOf, Table
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


async def traced(rows: SqliteRows) -> list[str]:
    """Return a list that gets every statement from now on."""
    statements: list[str] = []
    for connection in await rows._file._connections():  # pyright: ignore[reportPrivateUsage]
        await connection.run(lambda sqlite: sqlite.set_trace_callback(statements.append))
    return statements


async def plan(rows: SqliteRows, path: Path, **query: Any) -> tuple[int, set[str]]:
    """Return how many rows a query found, and which indexes it took for them."""
    statements = await traced(rows)
    count = len(await rows.find(TABLE, **query))
    (statement,) = (line for line in statements if line.startswith("SELECT key, body"))
    lines = explained(path, statement)
    return count, {line.split("USING INDEX ")[1] for line in lines if "USING INDEX" in line}


def explained(path: Path, statement: str) -> list[str]:
    """Return the lines of the plan of a statement."""
    with closing(sqlite3.connect(path)) as connection:
        return [line for *_, line in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]


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


async def test_rows_before_a_page_are_passed_over_without_a_look_at_them(
    rows: SqliteRows, path: Path
) -> None:
    query = {"where": {"status": NoneOf(("failed",))}, "order": "updated_at", "skip": 30}
    count, indexes = await plan(rows, path, **query, limit=4)
    assert (count, indexes) == (4, {f"documents_updated_at {HERE})"})


@pytest.mark.parametrize("name", sorted(name for name, fields in INDEXES.items() if fields))
async def test_what_is_written_again_is_looked_up_by_key(
    rows: SqliteRows, path: Path, name: str
) -> None:
    table = Table(name, TABLE.partition)
    statements = await traced(rows)
    await rows.put(table, {"01": {"text": "as it is now"}})
    (statement,) = (line for line in statements if line.startswith("SELECT key"))
    assert any(line.endswith(f"{HERE} AND key=?)") for line in explained(path, statement))


async def test_values_are_read_from_an_index_or_by_keys(rows: SqliteRows, path: Path) -> None:
    statements = await traced(rows)
    await rows.values(TABLE, "status", {})
    await rows.values(TABLE, "updated_at", {}, ["01"])
    plan_of_all, plan_of_keys = (
        explained(path, line) for line in statements if line.startswith("SELECT key")
    )
    assert plan_of_all == [f"SEARCH documents USING COVERING INDEX documents_status {HERE})"]
    assert plan_of_keys[-1].endswith(f"INDEX sqlite_autoindex_documents_1 {HERE} AND key=?)")
