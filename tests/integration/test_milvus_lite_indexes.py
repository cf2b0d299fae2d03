"""Replacing and deleting rows in a real Milvus Lite costs the same however many rows are there."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from embedded.processes import Process, free_port
from embedded.servers.milvus_lite import DATABASE, listed_collections, milvus_lite, uri
from embedded.servers.milvus_lite_indexes import IdIndexWatch, collection_tables, index_ids
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
        self.watch = IdIndexWatch(self.file, partial(listed_collections, port))

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
async def lite(tmp_path: Path) -> AsyncIterator[Lite]:
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


async def test_a_server_that_starts_finds_the_ids_of_an_older_file_indexed(lite: Lite) -> None:
    await lite.server.stop()
    await lite.server.start()
    assert len(lite.indexes()) == 1
    assert index_ids(lite.file) == []
    assert len(await ids(lite.client, PARTITION)) == ROWS


async def test_nothing_is_asked_while_nothing_was_written(tmp_path: Path) -> None:
    file = tmp_path / DATABASE
    sqlite3.connect(file).close()
    file.touch()
    asked: list[str] = []

    async def listed() -> bytes:
        asked.append("collections")
        return b""

    watch = IdIndexWatch(file, listed)
    await watch.check()
    await watch.check()
    assert asked == ["collections"]
