"""Several processes behind one port: a parent, which listens, and workers, to which it dispatches
connections.

A worker is the same program again. Between it and its parent is one control socket (a pair): a byte
from the worker says that it is ready, connections go the other way, and its end tells the worker
that its parent is gone.
"""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from runtime.processes.dispatcher import ConnectionDispatcher, listening_sockets
from runtime.processes.worker import CONTROL_SOCKET_VARIABLE
from runtime.retries import Backoff

logger = structlog.get_logger(__name__)

RESTART = Backoff(first=0.2, longest=30.0, spread=0.0)
"""Seconds before a process that ended is started again."""

STABLE_LIFE = 60.0
"""Seconds a process must have lived for its next end to count as the first."""


def run_workers(
    host: str,
    port: int,
    count: int,
    extra_environment: Mapping[str, str],
    drain_seconds: float = 0.0,
) -> int:
    """Keep `count` workers alive, each with the `extra_environment`, until SIGTERM or SIGINT.
    Returns the exit code.

    The first worker starts alone; the others follow once it is ready. A worker that was ready is
    started again when it ends. The parent ends with the code of a worker that ends before that: it
    would end the same way each time. When it is to end it deals connections for `drain_seconds`
    more, for which its workers answer. Raises ConfigurationError when it cannot listen.
    """
    dealer = ConnectionDispatcher(listening_sockets(host, port))
    environ = {**os.environ, **extra_environment}
    return asyncio.run(_run_pool(_WorkerPool(dealer, environ, drain_seconds), count))


def count_ends(before: int, seconds_lived: float) -> int:
    """Return how often a process has ended in a row, with an end after `seconds_lived` seconds
    added to those before.
    """
    return 1 if seconds_lived >= STABLE_LIFE else before + 1


def exit_code(code: int) -> int:
    """The parent's exit code for a worker that failed with that one: never 0, and 128 and the
    number for a signal's.
    """
    return 128 - code if code < 0 else code or 1


@dataclass
class _WorkerPool:
    dealer: ConnectionDispatcher
    environ: Mapping[str, str] = field(repr=False)
    drain_seconds: float = 0.0
    workers: set[Process] = field(default_factory=set[Process])
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    code: int = 0

    def stop(self, code: int) -> None:
        """End all workers in good order, and the parent with that code. A repeat ends them at
        once.
        """
        if self.stopping.is_set() or not self.drain_seconds or code:
            self.dealer.close()
        else:
            asyncio.get_running_loop().call_later(self.drain_seconds, self.dealer.close)
        if not self.stopping.is_set():
            self.code = code
        self.stopping.set()
        self.answering.set()
        for worker in self.workers:
            _terminate(worker)


async def _run_pool(crew: _WorkerPool, count: int) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, crew.stop, 0)
    await asyncio.gather(*(_keep_running(crew, first=not number) for number in range(count)))
    return crew.code


async def _keep_running(crew: _WorkerPool, *, first: bool) -> None:
    """Start one worker after the other, until all are to stop."""
    loop = asyncio.get_running_loop()
    service_begin = asyncio.Event()
    ends = 0
    if not first:
        await crew.answering.wait()
    while not crew.stopping.is_set():
        since = loop.time()
        code = await _run_once(crew, first and not service_begin.is_set(), service_begin)
        if crew.stopping.is_set():
            return
        if not service_begin.is_set():
            logger.error("a worker ended before it was ready", code=code)
            crew.stop(exit_code(code))
            return
        ends = count_ends(ends, loop.time() - since)
        delay = RESTART.delay(ends)
        logger.warning("a worker ended", code=code, again_in=round(delay, 1))
        with suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await crew.stopping.wait()


async def _run_once(crew: _WorkerPool, first: bool, service_begin: asyncio.Event) -> int:
    """Start a worker, set `service_begin` when it is ready, and return its exit code when it has
    ended.
    """
    loop = asyncio.get_running_loop()
    line, theirs = socket.socketpair()
    with line:
        line.setblocking(False)
        with theirs:
            worker = await asyncio.create_subprocess_exec(
                sys.executable,
                *sys.orig_argv[1:],
                pass_fds=[theirs.fileno()],
                env={**crew.environ, CONTROL_SOCKET_VARIABLE: f"{int(first)} {theirs.fileno()}"},
            )
        crew.workers.add(worker)
        if crew.stopping.is_set():
            _terminate(worker)

        def heard() -> None:
            loop.remove_reader(line)
            with suppress(OSError):  # it ended, and left connections unread
                if line.recv(1):
                    service_begin.set()
                    crew.answering.set()
                    if not first:
                        crew.dealer.add(line)

        loop.add_reader(line, heard)
        if first:
            crew.dealer.add(line)
        code = await worker.wait()
        crew.dealer.remove(line)
        loop.remove_reader(line)
        crew.workers.discard(worker)
        return code


def _terminate(worker: Process) -> None:
    with suppress(ProcessLookupError):
        worker.terminate()
