"""The embedded graph server as a process: one per folder, only on this machine, ended with whoever
started it.
"""

import asyncio
import signal
import sys
import textwrap
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.graph import Partition
from embedded.processes import Process, free_port, listening
from embedded.servers.arcadedb import USER, arcadedb, bolt_uri
from embedded.servers.java_machine import class_cache
from runtime.errors import ConfigurationError
from runtime.stores.graph.neo4j.store import BoltGraph
from tests.support.graph_stores import entity, relation, until

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "only-for-this-test"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def serving(folder: Path) -> AsyncGenerator[tuple[Process, BoltGraph]]:
    """A server over this folder, and the graph in it."""
    bolt_port = free_port()
    process = arcadedb(folder, http_port=free_port(), bolt_port=bolt_port, password=PASSWORD)
    graph = BoltGraph(bolt_uri(bolt_port), USER, PASSWORD)
    try:
        await process.start()
        yield process, graph
    finally:
        await graph.close()
        await process.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[Process, BoltGraph]]:
    """The server of all tests that leave it running."""
    async with serving(tmp_path_factory.mktemp("arcadedb")) as served:
        yield served


async def test_a_second_process_over_the_same_folder_is_refused(
    server: tuple[Process, BoltGraph],
) -> None:
    process, graph = server
    second = arcadedb(
        process.folder, http_port=free_port(), bolt_port=free_port(), password=PASSWORD
    )
    second.name = "second"  # a log of its own
    with pytest.raises(ConfigurationError, match="another process serves"):
        await second.start()
    await graph.ping()


async def test_it_ends_cleanly_with_connections_open_and_keeps_its_data_under_a_new_password(
    tmp_path: Path,
) -> None:
    partition = Partition("kept", 1)
    async with serving(tmp_path) as (process, graph):
        await graph.prepare()
        await graph.put(partition, [entity("a")], [])
        process.signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            assert await process.wait() == 0
    bolt_port = free_port()
    again = arcadedb(
        tmp_path, http_port=free_port(), bolt_port=bolt_port, password="another-password"
    )
    reopened_graph = BoltGraph(bolt_uri(bolt_port), USER, "another-password")
    try:
        await again.start()
        assert await reopened_graph.entities(partition, ["a"]) == {"a": entity("a")}
    finally:
        await reopened_graph.close()
        await again.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and asks the Linux kernel")
async def test_it_listens_on_loopback_only(server: tuple[Process, BoltGraph]) -> None:
    addresses = _listening_addresses(server[0].pid)
    assert len(addresses) >= 2, "HTTP and Bolt"
    assert all(address.endswith("0100007F") for address in addresses), (
        "127.0.0.1, plain or mapped into IPv6"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_no_thread_of_it_wakes_a_hundred_times_a_second(
    server: tuple[Process, BoltGraph],
) -> None:
    process, graph = server
    await graph.prepare()
    await until(lambda: _has_no_thread(process.pid, "ArcadeDB-Coarse"))
    await graph.put(Partition("clock", 1), [entity("a")], [])
    assert await graph.entities(Partition("clock", 1), ["a"]) == {"a": entity("a")}


async def test_a_whole_batch_is_one_transaction(
    server: tuple[Process, BoltGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relations change the rows of both their ends: parts of a batch would write its pages anew."""
    graph, partition = server[1], Partition("batch", 1)
    await graph.prepare()
    entities = [entity(f"name {number:04d}") for number in range(900)]
    relations = [relation(first.name, second.name) for first, second in pairwise(entities)]
    transactions = 0
    run = graph._transactions.run

    async def counted(work: Any) -> Any:
        nonlocal transactions
        transactions += 1
        return await run(work)

    monkeypatch.setattr(graph._transactions, "run", counted)
    await graph.put(partition, entities, relations)
    assert transactions == 1
    assert await graph.degrees(partition, ["name 0500"]) == {"name 0500": 2}


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_its_classes_come_from_the_cache_where_there_is_one(
    server: tuple[Process, BoltGraph],
) -> None:
    memory_map = await asyncio.to_thread(Path(f"/proc/{server[0].pid}/maps").read_text, "utf-8")
    assert (str(class_cache()) in memory_map) == class_cache().exists()


def _listening_addresses(pid: int) -> list[str]:
    """The addresses, as the kernel writes them, of the sockets on which a process accepts
    connections.
    """
    own_sockets: set[str] = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            own_sockets.add(str(link.readlink()))
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()
    ]
    return [
        row[1].split(":")[0]
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in own_sockets
    ]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel for a signal")
async def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    bolt_port = free_port()
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent(f"""
        import asyncio, sys
        from pathlib import Path
        from embedded.servers.arcadedb import arcadedb

        async def main():
            process = arcadedb(
                Path({str(tmp_path)!r}), http_port={free_port()}, bolt_port={bolt_port}, password={PASSWORD!r}
            )
            await process.start()
            await asyncio.sleep(300)

        asyncio.run(main())
        """)  # noqa: E501
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, str(parent), env={"PYTHONPATH": str(ROOT)}
    )
    await until(lambda: listening(bolt_port))
    child.kill()
    await child.wait()
    await until(lambda: not listening(bolt_port))


async def test_a_short_password_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="at least 8"):
        arcadedb(tmp_path, http_port=1, bolt_port=2, password="short")


def _has_no_thread(pid: int, name: str) -> bool:
    names = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/comm")]
    return not any(each.startswith(name) for each in names)
