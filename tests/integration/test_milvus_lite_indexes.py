"""Replacing and deleting rows in a real Milvus Lite costs the same however many rows are there."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from embedded.processes import Process, free_port
from embedded.servers import milvus_lite_indexes
from embedded.servers.milvus_lite import DATABASE, milvus_lite, uri
from embedded.servers.milvus_lite_indexes import (
    GROWTH,
    IdIndexWatch,
    collection_tables,
    index_ids,
)
from runtime.errors import Unavailable
from runtime.stores.vectors.milvus.store import MilvusVectors
from tests.support.partitions import fresh_partition
from tests.support.vector_stores import DIMENSION, MODEL, ids, row

ROWS = 500
PARTITION = fresh_partition()


class Lite:
    """A server of its own, its client, and the watch over its collections."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.server: Process = milvus_lite(folder, port=port)
        self.file = folder / DATABASE
        self.client = MilvusVectors(uri(port), model=MODEL, dimension=DIMENSION, timeout=20)
        self.watch = IdIndexWatch(self.file)

    async def put(self, names: list[str]) -> None:
        await self.client.put(PARTITION, "chunks", [row(name) for name in names])

    def plan(self) -> str:
        """Return how SQLite finds the rows of an id, for the statement that Milvus Lite deletes
        with.
        """
        with closing(sqlite3.connect(self.file)) as connection:
            (table,) = collection_tables(connection)
            statement = f"DELETE FROM '{table}' WHERE milvus_id IN ('a', 'b')"
            (plan,) = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        return plan[-1]

    def indexes(self) -> list[str]:
        with closing(sqlite3.connect(self.file)) as connection:
            (table,) = collection_tables(connection)
            return [name for _, name, *_ in connection.execute(f'PRAGMA index_list("{table}")')]


@pytest.fixture
async def lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Lite]:
    """A server with rows enough to index their ids."""
    monkeypatch.setattr(milvus_lite_indexes, "ROWS", ROWS // 2)
    monkeypatch.setattr(milvus_lite_indexes, "ROW_BYTES", 1)
    lite = Lite(tmp_path / "vectors")
    await lite.server.start()
    await lite.put([f"row-{number}" for number in range(ROWS)])
    yield lite
    await lite.client.close()
    await lite.server.kill()


async def test_without_an_index_all_rows_are_read_to_replace_one_and_with_it_those_of_its_id(
    lite: Lite,
) -> None:
    """The first half fails when Milvus Lite makes an index itself: then ours may go."""
    assert lite.indexes() == []
    assert lite.plan().startswith("SCAN")
    await lite.watch.check()
    assert len(lite.indexes()) == 1
    assert lite.plan().startswith("SEARCH")


async def test_an_index_is_made_while_rows_are_written_and_none_is_lost(lite: Lite) -> None:
    names = [f"later-{number}" for number in range(300)]

    async def write() -> None:
        for start in range(0, len(names), 10):
            while True:
                try:
                    await lite.put(names[start : start + 10])
                    break
                except Unavailable:
                    await asyncio.sleep(0.01)  # as the bus gives the event again

    await asyncio.gather(write(), lite.watch.check())
    assert len(lite.indexes()) == 1
    await lite.client.delete(PARTITION, "chunks", ["row-0", names[0]])
    assert len(await ids(lite.client, PARTITION)) == ROWS + len(names) - 2


async def test_a_small_collection_has_no_index(lite: Lite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus_lite_indexes, "ROWS", 2 * ROWS)
    assert index_ids(lite.file) == []
    assert lite.indexes() == []


async def test_a_file_is_opened_again_only_when_it_has_grown(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(milvus_lite_indexes, "index_ids", opened.append)
    await lite.watch.check()
    await lite.watch.check()
    assert opened == [lite.file]
    lite.watch.size = int(lite.watch.size / GROWTH) - 1
    await lite.watch.check()
    assert opened == [lite.file, lite.file]


async def test_a_file_that_was_locked_is_indexed_at_the_next_look(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_lite_indexes, "LOCK_TIMEOUT", 0.01)
    with closing(sqlite3.connect(lite.file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await lite.watch.check()
        connection.execute("ROLLBACK")
    await lite.watch.check()
    assert len(lite.indexes()) == 1
