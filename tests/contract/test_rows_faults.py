"""The contract of `Rows` when the store does not answer: frozen, killed, locked, damaged, or not
there at all.
"""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from contracts.graph import Partition
from embedded.processes import Process, free_port
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.documents.mongo.store import MongoRows
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.postgres.store import PostgresRows
from runtime.stores.documents.sqlite.store import SqliteRows
from tests.support.freezing import freeze, thaw
from tests.support.mongo import mongo_server, mongo_uri
from tests.support.postgres_server import (
    data_folder,
    fresh_schema,
    postgres_server,
    shared_postgres,
)
from tests.support.rows import new_table
from tests.support.shared_servers import SharedServers

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMIT = 2.0
"""Seconds that a command may take in these tests."""
TABLE = new_table("documents")
COUNTERS = new_table("mentions")
SPACE = Partition("w", 1)
ROOT = Path(__file__).parents[2]

# What a second process does: `python -c SCRIPT path number`. It prints each key once its row is
# acknowledged.
SCRIPT = """
import asyncio, sys
from pathlib import Path
from contracts.graph import Partition
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite.store import SqliteRows

async def work(path, name, count):
    rows = SqliteRows(path)
    await rows.prepare()
    shared, own = Table("mentions", Partition("w", 1)), Table("chunks", Partition("w", 1))
    for number in range(count):
        await rows.append(shared, {"all": name}, {})
        await rows.put_newer(shared, {"greatest": {"rev": number, "by": name}}, "rev")
        await rows.put(own, {f"{name}-{number}": {"document_id": name}})
        print(f"{name}-{number}", flush=True)
    await rows.close()

asyncio.run(work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
"""


def calls(rows: Rows) -> list[Callable[[], Awaitable[Any]]]:
    """One call of every kind."""
    return [
        rows.ping,
        lambda: rows.get(TABLE, ["a"]),
        lambda: rows.put(TABLE, {"a": {"status": "s"}}),
        lambda: rows.put_newer(TABLE, {"b": {"rev": 1}}, "rev"),
        lambda: rows.update(TABLE, ["a"], lambda _: {"a": {"rev": 2}}),
        lambda: rows.append(COUNTERS, {"a": "note"}, {}),
        lambda: rows.find(TABLE, {"status": "s"}),
        lambda: rows.count(TABLE, "status", {}),
        lambda: rows.delete(TABLE, ["z"]),
        lambda: rows.scan(TABLE),
        lambda: rows.partitions("documents"),
        lambda: rows.drop(new_table("documents")),
        rows.prepare,
    ]


async def all_unavailable(calls: list[Callable[[], Awaitable[Any]]], *, within: float) -> None:
    """Every call raises Unavailable, and in time."""

    async def one(call: Callable[[], Awaitable[Any]]) -> None:
        async with asyncio.timeout(within):
            with pytest.raises(Unavailable):
                await call()

    await asyncio.gather(*map(one, calls))


async def recovered(rows: Rows) -> None:
    """The same adapter works again, soon."""
    async with asyncio.timeout(15):
        while True:
            try:
                await rows.put(TABLE, {"again": {"status": "up"}})
                break
            except Unavailable:
                await asyncio.sleep(0.05)
    for call in calls(rows):
        await call()
    assert await rows.get(TABLE, ["again"]) == {"again": {"status": "up"}}


@dataclass(frozen=True)
class Served:
    """A server to be maltreated, and what makes an adapter over it."""

    process: Process
    opener: Callable[[], Rows]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["mongo", "postgres"])
async def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    """A server of its own."""
    folder = tmp_path_factory.mktemp(request.param)
    with data_folder() as data:
        served = _of_mongo(folder) if request.param == "mongo" else _of_postgres(folder, data)
        await served.process.start()
        yield served
        thaw(served.process.pid)
        await served.process.stop()


def _of_mongo(folder: Path) -> Served:
    port = free_port()
    return Served(
        mongo_server(folder, port), lambda: MongoRows(mongo_uri(port), "faults", timeout=LIMIT)
    )


def _of_postgres(folder: Path, data: Path) -> Served:
    process, url = postgres_server(folder, data)
    return Served(process, lambda: PostgresRows(url, timeout=LIMIT))


@pytest_asyncio.fixture(loop_scope="module")
async def served(server: Served) -> AsyncIterator[Rows]:
    """An adapter that has been in use."""
    rows = server.opener()
    await rows.prepare()
    await rows.put(TABLE, {"a": {"status": "s"}})
    yield rows
    await rows.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that does not exist yet."""
    return tmp_path / "rows.sqlite"


@pytest_asyncio.fixture(loop_scope="module")
async def sqlite(path: Path) -> AsyncIterator[SqliteRows]:
    """An adapter that has been in use and waits for locks half a second only."""
    rows = SqliteRows(path, timeout=0.5)
    await rows.prepare()
    await rows.put(TABLE, {"a": {"status": "s"}})
    yield rows
    await rows.close()


async def test_a_frozen_server_is_unavailable_in_time_and_recovers(
    server: Served, served: Rows
) -> None:
    freeze(server.process.pid)
    try:
        await all_unavailable(calls(served) * 5, within=LIMIT * 2 + 2)
    finally:
        thaw(server.process.pid)
    await recovered(served)


async def test_a_killed_server_is_unavailable_and_the_same_client_finds_it_again(
    server: Served, served: Rows
) -> None:
    await server.process.kill()
    await all_unavailable(calls(served) * 5, within=LIMIT * 2 + 2)
    await server.process.start()
    await recovered(served)


@pytest.mark.parametrize("scheme", ["mongodb", "postgresql"])
async def test_a_server_that_was_never_up_is_unavailable_and_no_message_has_the_password(
    scheme: str,
) -> None:
    uri = f"{scheme}://reader:hunter2@127.0.0.1:{free_port()}/faults"
    rows = (
        MongoRows(uri, "faults", timeout=0.5)
        if scheme == "mongodb"
        else PostgresRows(uri, timeout=0.5)
    )
    try:
        await all_unavailable(calls(rows), within=LIMIT)
        with pytest.raises(Unavailable) as caught:
            await rows.ping()
        assert "hunter2" not in str(caught.value)
    finally:
        await rows.close()


@pytest.mark.parametrize(
    ("uri", "database"),
    [
        ("mongodb://reader:hunt/er2@127.0.0.1", "d"),
        ("mongodb://reader:hunter2@127.0.0.1:port", "d"),
        ("mongodb://reader:hunter2@127.0.0.1", "a database"),
        ("mongodb://reader:hunter2@127.0.0.1/?authSource=", "d"),
    ],
)
async def test_a_uri_that_cannot_be_used_says_so_without_its_password(
    uri: str, database: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        MongoRows(uri, database)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:hunter2@127.0.0.1",
        "postgresql://reader:hunter2@127.0.0.1:port/d",
        "postgresql://reader:hunter2@127.0.0.1/d?schema=Mine;--",
        "mysql://reader:hunter2@127.0.0.1/d",
    ],
)
async def test_a_url_of_no_database_says_so_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        PostgresRows(url)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


async def test_a_refused_user_is_a_fault_of_the_configuration(
    shared_servers: SharedServers,
) -> None:
    url = urlsplit(shared_postgres(shared_servers))
    for netloc in (f"lightstream:hunter2@127.0.0.1:{url.port}", f"mallory:x@127.0.0.1:{url.port}"):
        rows = PostgresRows(url._replace(netloc=netloc).geturl(), timeout=10)
        with pytest.raises(ConfigurationError, match="refuses this user") as caught:
            await rows.ping()
        assert "hunter2" not in str(caught.value)
        await rows.close()


async def test_tables_that_nobody_made_are_unavailable_until_somebody_does(
    shared_servers: SharedServers,
) -> None:
    async with fresh_schema(shared_postgres(shared_servers)) as url:
        reader = PostgresRows(url, timeout=10)
        with pytest.raises(Unavailable, match="no tables of ours"):
            await reader.get(TABLE, ["a"])
        writer = PostgresRows(url, timeout=10)
        await writer.prepare()
        assert await reader.get(TABLE, ["a"]) == {}
        await asyncio.gather(reader.close(), writer.close())


async def test_a_file_locked_by_another_is_unavailable_to_writers_only_and_recovers(
    path: Path, sqlite: SqliteRows
) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        writes = [lambda n=n: sqlite.put(TABLE, {f"k{n}": {}}) for n in range(20)]
        await all_unavailable(
            [
                *writes,
                lambda: sqlite.append(COUNTERS, {"a": "note"}, {}),
                lambda: sqlite.update(TABLE, ["b"], lambda _: {"b": {}}),
            ],
            within=2.0,
        )
        async with asyncio.timeout(0.4):
            assert await sqlite.find(TABLE, {}) == [("a", {"status": "s"})]
            await sqlite.ping()
    finally:
        connection.close()
    await recovered(sqlite)
    assert set(dict(await sqlite.find(TABLE, {}))) == {"a", "b", "again"}


async def test_a_writer_waits_for_a_lock_that_goes_away_in_time(
    path: Path, sqlite: SqliteRows
) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    write = asyncio.create_task(sqlite.put(TABLE, {"b": {"status": "late"}}))
    finished_tasks, _ = await asyncio.wait([write], timeout=0.1)
    assert not finished_tasks
    connection.execute("COMMIT")
    connection.close()
    await write
    assert await sqlite.get(TABLE, ["b"]) == {"b": {"status": "late"}}


async def test_readers_are_not_held_up_by_a_writer_and_see_whole_transactions(
    path: Path, sqlite: SqliteRows
) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM documents")
    assert await sqlite.count(TABLE, "status", {}) == {"s": 1}
    connection.execute("COMMIT")
    assert await sqlite.count(TABLE, "status", {}) == {}
    connection.close()


async def test_a_cancelled_write_leaves_no_lock_behind(path: Path, sqlite: SqliteRows) -> None:
    many_rows: dict[str, Row] = {f"{n}": {"status": "x" * 500} for n in range(20_000)}
    for turns in range(1, 12):
        write = asyncio.create_task(sqlite.put(TABLE, many_rows))
        for _ in range(turns):
            await asyncio.sleep(0)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        await sqlite.put(TABLE, {"own": {"status": f"{turns}"}})
        connection = sqlite3.connect(path, isolation_level=None, timeout=1)
        connection.execute("BEGIN IMMEDIATE")
        connection.close()
        assert await sqlite.get(TABLE, ["own"]) == {"own": {"status": f"{turns}"}}


async def test_a_file_that_is_no_database_stops_the_process_and_names_the_file(path: Path) -> None:
    await asyncio.to_thread(path.write_bytes, b"something else " * 1000)
    rows = SqliteRows(path)
    with pytest.raises(ConfigurationError, match=r"rows\.sqlite"):
        await rows.prepare()
    await rows.close()
    below = SqliteRows(path / "below" / "it.sqlite")
    with pytest.raises(ConfigurationError, match=r"it\.sqlite"):
        await below.ping()
    await below.close()


async def test_a_store_that_nobody_prepared_is_unavailable_until_somebody_does(path: Path) -> None:
    rows = SqliteRows(path)
    with pytest.raises(Unavailable):
        await rows.get(TABLE, ["a"])
    await rows.prepare()
    assert await rows.get(TABLE, ["a"]) == {}
    await rows.close()


async def child(path: Path, name: str, count: int) -> asyncio.subprocess.Process:
    """SCRIPT in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SCRIPT,
        str(path),
        name,
        str(count),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )


async def test_several_processes_make_and_write_one_file_at_once_and_lose_nothing(
    path: Path,
) -> None:
    children = [await child(path, name, 60) for name in "abcd"]
    for process in children:
        await process.communicate()
        assert process.returncode == 0
    rows = SqliteRows(path)
    mentions = await rows.get(Table("mentions", SPACE), ["all", "greatest"])
    assert mentions["all"]["n"] == 240
    assert mentions["greatest"]["rev"] == 59
    assert await rows.count(Table("chunks", SPACE), "document_id", {}) == dict.fromkeys("abcd", 60)
    await rows.close()


async def test_what_a_killed_process_was_told_is_stored_is_there(path: Path) -> None:
    process = await child(path, "a", 1_000_000)
    assert process.stdout is not None
    names = [(await process.stdout.readline()).decode().strip() for _ in range(30)]
    process.kill()
    names += (
        (await process.stdout.read()).decode().split("\n")[:-1]
    )  # what follows the last one is half a line
    await process.wait()
    rows = SqliteRows(path)
    assert set(await rows.get(Table("chunks", SPACE), names)) == set(names)
    count = (await rows.get(Table("mentions", SPACE), ["all"]))["all"]["n"]
    assert len(names) <= count <= len(names) + 1
    await rows.close()
