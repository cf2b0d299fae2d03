"""The SQLite file of the documents: what a vector takes in it, and what is left of its WAL when nobody writes."""

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
    path, vector = tmp_path / "rows.sqlite", 384 * 4

    async def put(count: int) -> int:
        """Write so many vectors, and return the bytes of the file then."""
        rows = SqliteRows(path)
        await rows.prepare()
        await rows.put(TABLE, {sha256(str(number)): {"f32": os.urandom(vector)} for number in range(count)})
        await rows.close()  # the last connection that closes leaves no WAL
        return path.stat().st_size

    # 64 digits of a key stand in the row and in the index of the table.
    assert -await put(1) + await put(1000) < 1000 * (vector + 2 * 64 + 120)


async def test_a_large_wal_is_emptied_when_nobody_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "IDLE", 0.01)
    path = tmp_path / "rows.sqlite"
    rows, other = SqliteRows(path), SqliteRows(path)
    await rows.prepare()
    await rows.put(TABLE, {sha256(str(number)): {"f32": os.urandom(10_000)} for number in range(600)})
    wal = path.with_name("rows.sqlite-wal")
    async with asyncio.timeout(20):
        while wal.stat().st_size:
            await asyncio.sleep(0.01)
    await other.put(TABLE, {"a": {"f32": b"1"}})
    assert await rows.get(TABLE, ["a"]) == {"a": {"f32": b"1"}}
    assert len(await other.get(TABLE, [sha256(str(number)) for number in range(600)])) == 600
    await rows.close()
    await other.close()
