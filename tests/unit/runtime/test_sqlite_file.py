"""The SQLite file of the documents: what a vector takes in it, what is left of its WAL when nobody
writes, and how many commits writes take.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Mapping
from pathlib import Path

import pytest

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.errors import Unavailable
from runtime.stores.documents.port import Row, Table
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.sqlite import commits, file

TABLE = Table("embeddings", Partition("default", 0))


async def test_a_vector_fills_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    vector = 384 * 4

    async def put(count: int) -> int:
        """Write so many vectors, and return the bytes of the file then."""
        rows = SqliteRows(path)
        await rows.prepare()
        await rows.put(
            TABLE, {sha256(str(number)): {"f32": os.urandom(vector)} for number in range(count)}
        )
        await rows.close()  # the last connection that closes leaves no WAL
        return path.stat().st_size

    # 64 digits of a key stand in the row and in the index of the table.
    assert -await put(1) + await put(1000) < 1000 * (vector + 2 * 64 + 120)


async def test_a_large_wal_is_emptied_when_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "IDLE", 0.01)
    path = tmp_path / "rows.sqlite"
    rows = SqliteRows(path)
    other_rows = SqliteRows(path)
    await rows.prepare()
    await rows.put(
        TABLE, {sha256(str(number)): {"f32": os.urandom(10_000)} for number in range(600)}
    )
    wal = path.with_name("rows.sqlite-wal")
    async with asyncio.timeout(20):
        while wal.stat().st_size:
            await asyncio.sleep(0.01)
    await other_rows.put(TABLE, {"a": {"f32": b"1"}})
    assert await rows.get(TABLE, ["a"]) == {"a": {"f32": b"1"}}
    assert len(await other_rows.get(TABLE, [sha256(str(number)) for number in range(600)])) == 600
    await rows.close()
    await other_rows.close()


async def test_a_large_wal_is_left_alone_while_another_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.sqlite"
    rows = SqliteRows(path)
    await rows.prepare()
    sizes = list[int]()
    age = file._seconds_since_write  # pyright: ignore[reportPrivateUsage]

    def fresh(wal: Path) -> float:
        """Look ten times as if another process had written just now."""
        sizes.append(wal.stat().st_size)
        return 0.0 if len(sizes) < 10 else age(wal)

    await rows.put(
        TABLE, {sha256(str(number)): {"f32": os.urandom(10_000)} for number in range(600)}
    )
    monkeypatch.setattr(file, "_seconds_since_write", fresh)
    monkeypatch.setattr(file, "IDLE", 0.01)
    await rows.put(TABLE, {"last": {"f32": b"1"}})
    async with asyncio.timeout(20):
        while path.with_name("rows.sqlite-wal").stat().st_size:
            await asyncio.sleep(0.01)
    assert len(sizes) >= 10 and min(sizes[:9]) > file.LARGE
    await rows.close()


async def test_a_change_of_one_field_writes_no_other_index(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    documents = Table("documents", Partition("default", 1))
    rows = SqliteRows(path)
    await rows.prepare()
    fields = ("track_id", "created_at", "updated_at", "file_path", "id")
    before = {
        sha256(str(number)): {"version": number, "status": "pending"}
        | {field: sha256(f"{field}{number}") for field in fields}
        for number in range(500)
    }
    await rows.put(documents, before)
    wal = path.with_name("rows.sqlite-wal")
    size = wal.stat().st_size
    after = {key: {**row, "status": "processed"} for key, row in list(before.items())[::25]}
    for key, row in after.items():
        await rows.put(documents, {key: row})
    # The row and the index of the status, whose pages are split now and then: 8 pages, and 22 with
    # all indexes.
    assert wal.stat().st_size - size < len(after) * 10 * (file.PAGE_BYTES + 24)
    assert dict(await rows.find(documents, {"status": "processed"})) == after
    assert len(await rows.find(documents, {"status": "pending"})) == 480
    await rows.close()


def commits_in(wal: Path) -> int:
    """The commits that a WAL holds since it was last begun anew: frames with the size of the
    file.
    """
    data = wal.read_bytes()
    salt = data[16:24]
    count = 0
    for start in range(32, len(data) - file.PAGE_BYTES, 24 + file.PAGE_BYTES):
        is_valid = data[start + 8 : start + 16] == salt
        count += is_valid and int.from_bytes(data[start + 4 : start + 8], "big") > 0
    return count


@pytest.fixture
async def rows(tmp_path: Path) -> AsyncGenerator[SqliteRows]:
    rows = SqliteRows(tmp_path / "rows.sqlite")
    await rows.prepare()
    yield rows
    await rows.close()


async def test_writes_of_several_tasks_that_wait_are_committed_together(
    rows: SqliteRows, tmp_path: Path
) -> None:
    wal = tmp_path / "rows.sqlite-wal"
    before = commits_in(wal)
    await asyncio.gather(*(rows.put(TABLE, {f"k{n}": {"f32": b"1"}}) for n in range(40)))
    assert commits_in(wal) - before == 40 // commits.MOST_TOGETHER
    for n in range(3):
        await rows.put(TABLE, {f"alone{n}": {"f32": b"1"}})
    assert commits_in(wal) - before == 40 // commits.MOST_TOGETHER + 3
    assert len(await rows.scan(TABLE, limit=100)) == 43


async def test_a_write_that_fails_takes_none_of_its_neighbours_with_it(rows: SqliteRows) -> None:
    def fail(stored_rows: Mapping[str, Row]) -> Mapping[str, Row]:
        raise ValueError(f"of {len(stored_rows)} rows")

    def add(number: int) -> Awaitable[object]:
        return rows.put(TABLE, {f"k{number}": {"f32": b"1"}})

    results = await asyncio.gather(
        add(1), rows.update(TABLE, ["a"], fail), add(2), return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None), ValueError, type(None)]
    assert [key for key, _ in await rows.scan(TABLE, limit=9)] == ["k1", "k2"]


async def test_a_transaction_that_sqlite_takes_back_fails_for_all_of_its_writes(
    rows: SqliteRows,
) -> None:
    """As on a full disk, after which nothing of it may be written either."""

    def roll_back(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    sqlite_file = rows._file  # pyright: ignore[reportPrivateUsage]
    results = await asyncio.gather(
        rows.put(TABLE, {"before": {"f32": b"1"}}),
        sqlite_file.transact(roll_back),
        rows.put(TABLE, {"behind": {"f32": b"1"}}),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [Unavailable] * 3
    assert await rows.scan(TABLE, limit=9) == []
    await rows.put(TABLE, {"again": {"f32": b"1"}})


async def test_a_task_that_gives_up_before_its_turn_writes_nothing(rows: SqliteRows) -> None:
    writing = rows._file._writing  # pyright: ignore[reportPrivateUsage]
    async with writing:
        first = asyncio.create_task(rows.put(TABLE, {"first": {"f32": b"1"}}))
        cancelled = asyncio.create_task(rows.put(TABLE, {"cancelled": {"f32": b"1"}}))
        for _ in range(20):
            await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
    await first
    assert cancelled.cancelled()
    assert [key for key, _ in await rows.scan(TABLE, limit=9)] == ["first"]
