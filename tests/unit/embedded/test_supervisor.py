"""Children that die, do not start, or do not want to end. They are small HTTP servers in place of
the real parts.
"""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from embedded import orphans
from embedded.data_folder import DataFolder, end_orphans
from embedded.orphans import ProcessIdentity
from embedded.processes import Process, free_port, listening
from embedded.supervisor import ChildRecords, supervise
from runtime.errors import ConfigurationError, Unavailable

ONCE = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    server.accept()
"""
DEAF = """
import signal, socket, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    time.sleep(60)
"""


def child(folder: Path, name: str, port: int, *argv: str, grace: float = 5.0) -> Process:
    """A server on that port, ready when it accepts connections."""

    async def probe() -> None:
        if not listening(port):
            raise Unavailable("not yet")

    server = argv or ("-m", "http.server", str(port), "--bind", "127.0.0.1")
    return Process(name, [sys.executable, *server], folder, probe, timeout=20.0, grace=grace)


def book(lines: list[str] | None = None) -> ChildRecords:
    """A book that keeps what is reported."""
    return ChildRecords(on_change=lambda: None, report=(lines if lines is not None else []).append)


async def until(condition: Callable[[], bool], what: str, seconds: float = 15.0) -> None:
    """Ask again until it is true."""
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < end, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.02)


async def test_a_killed_child_is_started_again_on_its_port_and_counted(tmp_path: Path) -> None:
    lines = []
    notes = []
    port = free_port()
    other_port = free_port()
    kept_book = ChildRecords(on_change=lambda: notes.append(1), report=lines.append)
    async with supervise(
        [child(tmp_path, "a", port), child(tmp_path, "b", other_port)], kept_book
    ) as wait_until_answered:
        await wait_until_answered()
        first = kept_book.children["a"].identity
        untouched_identity = kept_book.children["b"].identity
        os.kill(first.pid, 9)
        await until(
            lambda: kept_book.children["a"].restarts == 1 and kept_book.children["a"].ready,
            "a second start",
        )
        assert listening(port)
        assert kept_book.children["a"].identity != first
        assert kept_book.children["b"].identity == untouched_identity
        last_identities = [record.identity for record in kept_book.children.values()]
    assert not any(identity.alive for identity in (first, *last_identities))
    assert kept_book.children == {}
    assert any("a ended with code -9; start number 2" in line for line in lines)
    assert len(notes) >= 8


async def test_a_child_that_ends_before_it_answers_is_an_error_with_its_last_words(
    tmp_path: Path,
) -> None:
    kept_book = book()
    fine = free_port()
    broken_child = child(
        tmp_path, "broken", free_port(), "-c", "import sys; sys.exit('the key is wrong')"
    )
    with pytest.raises(ConfigurationError, match=r"broken ended with code 1:\nthe key is wrong"):
        async with supervise(
            [child(tmp_path, "fine", fine), broken_child], kept_book
        ) as wait_until_answered:
            await wait_until_answered()
    assert not listening(fine)
    assert kept_book.children == {}


async def test_each_further_start_waits_twice_as_long(tmp_path: Path) -> None:
    lines: list[str] = []
    kept_book = book(lines)
    port = free_port()
    async with supervise(
        [child(tmp_path, "once", port, "-c", ONCE, str(port))], kept_book
    ) as wait_until_answered:
        await wait_until_answered()  # its probe is the one connection it serves
        await until(lambda: kept_book.children["once"].restarts >= 3, "three ends")
    delays = [float(result[1]) for line in lines if (result := re.search(r"in ([0-9.]+) s$", line))]
    assert delays[:3] == pytest.approx([0.2, 0.4, 0.8], rel=0.25, abs=0.05)  # shown to a tenth


async def test_a_child_that_ignores_the_signal_does_not_keep_the_others_from_ending(
    tmp_path: Path,
) -> None:
    kept_book = book()
    ports = [free_port(), free_port()]
    deaf = child(tmp_path, "deaf", ports[0], "-c", DEAF, str(ports[0]), grace=0.3)
    async with supervise(
        [deaf, child(tmp_path, "fine", ports[1])], kept_book
    ) as wait_until_answered:
        await wait_until_answered()
        identities = [record.identity for record in kept_book.children.values()]
    assert not any(identity.alive for identity in identities)


async def test_an_interrupted_start_leaves_nothing_running(tmp_path: Path) -> None:
    kept_book = book()
    silent = child(tmp_path, "silent", free_port(), "-c", "import time; time.sleep(60)")

    async def start() -> None:
        async with supervise([silent], kept_book) as wait_until_answered:
            await wait_until_answered()

    task = asyncio.create_task(start())
    await until(lambda: "silent" in kept_book.children, "a pid")
    identity = kept_book.children["silent"].identity
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert not identity.alive


SUPERVISOR = """
import asyncio, sys
from pathlib import Path
from embedded import stack
from embedded.data_folder import DataFolder
from embedded.supervisor import ChildRecords, supervise
from contextlib import asynccontextmanager
sys.path.insert(0, sys.argv[3])
from test_supervisor import child

@asynccontextmanager
async def parts(folder, state, report, api_host):
    records = ChildRecords(on_change=lambda: folder.write(state), report=report, children=state.children)
    async with supervise([child(folder.path / "part", "stand-in", int(sys.argv[2]))], records) as answered:
        await answered()
        yield

stack._run_processes = parts

async def main():
    async with stack.run_stack(DataFolder(Path(sys.argv[1])), lambda line: None) as state:
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""  # noqa: E501


async def test_what_a_killed_supervisor_leaves_is_ended_by_the_next_command(tmp_path: Path) -> None:
    port = free_port()
    folder = DataFolder.at(tmp_path)
    argv = [sys.executable, "-c", SUPERVISOR, str(tmp_path), str(port), str(Path(__file__).parent)]
    supervisor = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    assert supervisor.stdout is not None
    assert await supervisor.stdout.readline() == b"ready\n"
    assert folder.ready_state().supervisor == ProcessIdentity.of(supervisor.pid)
    supervisor.kill()
    await supervisor.wait()
    state = folder.read()
    orphan = state.children["stand-in"].identity
    assert orphan.alive
    assert not folder.is_running()
    with folder.lock():
        assert end_orphans(folder, state) == 1
    assert orphans.wait_for_exit([orphan], 5.0)
    assert not listening(port)
