"""The SQLite file of the documents: what a vector takes in it, and what is left of its WAL when
nobody writes.
"""

import asyncio
import os
from pathlib import Path

import pytest

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite import file
from runtime.stores.documents.sqlite.store import SqliteRows

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
