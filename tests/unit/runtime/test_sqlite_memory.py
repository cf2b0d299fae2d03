"""What a SQLite file takes of the memory of a process: what is mapped and cached of it, and for how
long.
"""

import _sqlite3
import asyncio
import ctypes
import os
import sqlite3
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

import pytest

from contracts.graph import Hit, Partition, VectorRow
from runtime.errors import ConfigurationError
from runtime.stores.sqlite import file, mapping
from runtime.stores.sqlite.file import SqliteFile
from runtime.stores.vectors.sqlite import nearest
from runtime.stores.vectors.sqlite.store import SqliteVectors
from tests.support.waiting import PATIENCE, pauses

ROWS = 20_000
DIMENSION = 8
HERE = Partition("w", 1)

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def mapped_kib(path: Path) -> int:
    """The kibibytes of a file that this process has in memory because it is mapped."""
    result, is_of_file = 0, False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        field, *values = line.split()
        if not field.endswith(":"):
            is_of_file = line.endswith(str(path))
        elif is_of_file and field == "Rss:":
            result += int(values[0])
    return result


async def unmapped(path: Path) -> None:
    """Return once nothing of a file is in the memory of this process."""
    async with asyncio.timeout(PATIENCE):
        intervals = pauses()
        while mapped_kib(path):
            await asyncio.sleep(next(intervals))


def read_all(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT sum(length(value)) FROM numbers").fetchone()[0]


def cached_kib() -> int:
    """The kibibytes that SQLite has taken in this process."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_memory_used.restype = ctypes.c_int64
    return library.sqlite3_memory_used() // 1024


def cache_kib(connection: sqlite3.Connection) -> int:
    """The kibibytes of pages that the connection may cache."""
    (size,) = connection.execute("PRAGMA cache_size").fetchone()
    return -size


@pytest.fixture
async def numbers(tmp_path: Path) -> AsyncGenerator[SqliteFile]:
    """A file with a table of 8 MB, all of it out of the WAL."""
    opened = SqliteFile(tmp_path / "numbers.sqlite", timeout=10)

    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE numbers (key INTEGER PRIMARY KEY, value BLOB)")
        rows = ((number, os.urandom(400)) for number in range(ROWS))
        connection.executemany("INSERT INTO numbers VALUES (?, ?)", rows)

    await opened.transact(fill)
    await opened.read("PRAGMA wal_checkpoint(PASSIVE)")
    yield opened
    await opened.close()


@needs_proc
async def test_a_file_is_mapped_by_a_query_that_asks_for_it_and_stays_so_for_the_next(
    numbers: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping, "IDLE", PATIENCE)
    path = tmp_path / "numbers.sqlite"

    def read(connection: sqlite3.Connection) -> int:
        assert read_all(connection) == 400 * ROWS
        return mapped_kib(path)

    assert await numbers.query(read) == 0
    for _ in range(2):
        assert await numbers.query(read, is_mapped=True) > 400 * ROWS // 1024
        assert mapped_kib(path) > 400 * ROWS // 1024
    await numbers.close()
    assert mapped_kib(path) == 0


@needs_proc
async def test_a_file_is_mapped_no_longer_once_nobody_has_asked_for_it_for_a_while(
    numbers: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping, "IDLE", 0.01)
    for _ in range(2):
        assert await numbers.query(read_all, is_mapped=True) == 400 * ROWS
        await unmapped(tmp_path / "numbers.sqlite")


@needs_proc
async def test_a_mapped_query_that_fails_leaves_nothing_mapped(
    numbers: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping, "IDLE", 0.01)

    def fail(connection: sqlite3.Connection) -> None:
        read_all(connection)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await numbers.query(fail, is_mapped=True)
    await unmapped(tmp_path / "numbers.sqlite")


@pytest.mark.parametrize("is_mapped", [True, False])
async def test_a_file_that_was_cut_while_it_stays_mapped_is_an_error_that_names_it(
    numbers: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_mapped: bool
) -> None:
    monkeypatch.setattr(mapping, "IDLE", PATIENCE)
    path = tmp_path / "numbers.sqlite"
    assert await numbers.query(read_all, is_mapped=True) == 400 * ROWS
    os.truncate(path, path.stat().st_size // 4)
    with pytest.raises(ConfigurationError, match=r"numbers\.sqlite is damaged"):
        await numbers.query(read_all, is_mapped=is_mapped)


async def test_each_connection_has_a_cache_of_bounded_size(numbers: SqliteFile) -> None:
    assert await numbers.query(cache_kib) == file.READ_CACHE_KIB
    assert await numbers.transact(cache_kib) == file.WRITE_CACHE_KIB


async def test_pages_that_writes_have_read_are_forgotten_when_nobody_writes(
    numbers: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "IDLE", 0.01)
    forgotten = asyncio.Event()
    forget = file._forget_pages  # pyright: ignore[reportPrivateUsage]

    def note(connection: sqlite3.Connection) -> None:
        forget(connection)
        loop.call_soon_threadsafe(forgotten.set)

    await numbers.close()
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(file, "_forget_pages", note)
    other = SqliteFile(tmp_path / "numbers.sqlite", timeout=10)

    def read(connection: sqlite3.Connection) -> int:
        assert read_all(connection) == 400 * ROWS
        return cached_kib()

    before = cached_kib()
    assert await other.transact(read) - before > file.WRITE_CACHE_KIB // 2
    async with asyncio.timeout(20):
        await forgotten.wait()
    assert cached_kib() - before < file.WRITE_CACHE_KIB // 4
    await other.close()


@needs_proc
async def test_vectors_are_mapped_while_they_are_searched_and_no_longer_once_nobody_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping, "IDLE", 0.01)
    path = tmp_path / "vectors.sqlite"
    vectors = SqliteVectors(path, model="m", dimension=DIMENSION)
    await vectors.prepare(1)
    rows = [
        VectorRow(f"ent-{number}", "text", "hash", version=1, vector=tuple(os.urandom(DIMENSION)))
        for number in range(2000)
    ]
    await vectors.put(HERE, "entities", rows)
    sizes: list[int] = []
    rank = nearest.stored.ranked

    def note(hits: Iterable[Hit]) -> list[Hit]:
        sizes.append(mapped_kib(path))
        return rank(hits)

    monkeypatch.setattr(nearest.stored, "ranked", note)
    await vectors.close()  # by which all is copied out of the WAL
    assert len(await vectors.search(HERE, "entities", (1.0,) * DIMENSION, top_k=5)) == 5
    assert sizes[0] > 0
    await unmapped(path)
    assert len(await vectors.versions(HERE, "entities", ["ent-1"])) == 1
    assert mapped_kib(path) == 0
    await vectors.close()
