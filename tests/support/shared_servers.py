"""Servers that all workers of a test run share: each kind is started once, by the worker that needs
it first.

The run (with workers its first process) starts a host process, whose children the servers are; it
ends them when the run ends or dies. What a server is asked for must be apart by itself: every test
takes an account, a database, a workspace or a generation of its own. A test that damages a server
starts one of its own instead.
"""

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from embedded.processes import Process
from tests.support import server_host
from tests.support.waiting import PATIENCE, pauses
from tests.support.worker_processes import alive

Address = dict[str, Any]
"""Where a server is and what a client must know of it; JSON."""

_HOST = pytest.StashKey["_Host"]()


@dataclass(frozen=True)
class SharedServers:
    """The servers of this run. `folder` is the run's own, seen by all its workers."""

    folder: Path

    def server(self, kind: str, make: Callable[[Path], tuple[Process, Address]]) -> Address:
        """Return the address of the one server of this kind; `make` describes it when nobody has
        started it yet.

        `make` gets a new folder. What it raises, a skip for example, is raised for everybody who
        asks.
        """
        with self.locked(kind):
            file = self.folder / f"{kind}.json"
            if not file.exists():
                process, address = make(self.folder / kind)
                self._start(process)
                file.write_text(json.dumps(address))
            return json.loads(file.read_text())

    def number(self, name: str) -> int:
        """Return 0, 1, 2 …: a number that no other caller in this run gets under that name."""
        with self.locked(name):
            file = self.folder / f"{name}.number"
            number = int(file.read_text()) if file.exists() else 0
            file.write_text(str(number + 1))
            return number

    @contextmanager
    def locked(self, name: str) -> Generator[None]:
        """Hold the lock of that name against all other workers."""
        with (self.folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _start(self, process: Process) -> None:
        process.folder.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, **process.env}
        pid = server_host.start(
            self.folder / "host", [*process.argv], process.folder, env, process.log
        )
        process.child = cast(
            Any, SimpleNamespace(pid=pid, returncode=None)
        )  # some probes ask for the pid
        # A loop of its own: the one of the test that happens to be first may be running or end
        # before the server.
        errors: list[BaseException] = []
        waiter = threading.Thread(target=_collect, args=(_answers(process, pid), errors))
        waiter.start()
        waiter.join()
        if errors:
            raise errors[0]


def _collect(waiting: Any, errors: list[BaseException]) -> None:
    try:
        asyncio.run(waiting)
    except BaseException as error:
        errors.append(error)


async def _answers(process: Process, pid: int) -> None:
    """Return when the server answers its probe. Raises AssertionError with the end of its log when
    it never does.
    """
    end = time.monotonic() + PATIENCE
    intervals = pauses()
    while True:
        try:
            async with asyncio.timeout(5.0):
                return await process.probe()
        except Exception as error:
            if not alive(pid) or time.monotonic() > end:
                raise AssertionError(
                    f"{process.name} does not answer ({error!r}):\n{process.tail()}"
                ) from error
        await asyncio.sleep(next(intervals))


class _Host:
    """The host process and the folder of the run, which nobody else can read."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lightstream-tests-"))
        program = [sys.executable, "-S", "-E", server_host.__file__, str(self.folder / "host")]
        # In a session of its own no signal to this run's group ends it before it has ended the
        # servers.
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, start_new_session=True)
        assert self.process.stdin is not None
        # It ends the servers when nobody holds that any more.
        os.register_at_fork(after_in_child=self.process.stdin.close)
        end = time.monotonic() + 30
        while not (self.folder / "host").exists():
            assert self.process.poll() is None and time.monotonic() < end, (
                "the host of shared servers does not start"
            )
            time.sleep(0.01)

    def close(self) -> None:
        """End the servers and remove what they stored."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)


def _host(config: pytest.Config) -> _Host:
    if _HOST not in config.stash:
        config.stash[_HOST] = _Host()
    return config.stash[_HOST]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the host before workers are forked: it is this process's."""
    if session.config.getoption("forks", 0):
        _host(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist, before it starts, where the servers of this run are."""
    node.workerinput["shared_servers"] = str(_host(node.config).folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers with the run; a worker has no host of its own."""
    if host := config.stash.get(_HOST, None):
        host.close()


@pytest.fixture(scope="session")
def shared_servers(request: pytest.FixtureRequest) -> SharedServers:
    """The servers of this run, started when first asked for."""
    if workerinput := getattr(request.config, "workerinput", None):
        return SharedServers(Path(workerinput["shared_servers"]))
    return SharedServers(_host(request.config).folder)
