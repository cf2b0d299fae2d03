"""Several processes that answer behind one listening socket: a keeper, which binds it, and workers, which inherit it.

A worker is the same program again. Between it and its keeper lies one line, a pair of sockets: a byte from the worker
says that it is ready, and the line's end tells the worker that its keeper is gone, however that ended.
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

from runtime.errors import ConfigurationError
from runtime.place import PLACE

logger = structlog.get_logger(__name__)

BACKLOG = 2048
"""Connections that wait to be accepted, as in a process that answers alone."""

FIRST_DELAY, LONGEST_DELAY = 0.2, 30.0
"""Seconds before a worker that ended is started again; doubled each time."""

CALM = 60.0
"""Seconds a worker must have lived for its next end to count as the first."""


def keep(host: str, port: int, count: int, lent: Mapping[str, str]) -> int:
    """Keep `count` workers alive, each with the variables `lent`, until SIGTERM or SIGINT. Returns the exit code.

    The first worker starts alone; the others follow once it is ready. A worker that was ready is started again when it
    ends. The keeper ends with the code of a worker that ends before that: it would end the same way each time.
    Raises ConfigurationError when it cannot listen.
    """
    return asyncio.run(_kept(_Crew(bound(host, port), {**os.environ, **lent}), count))


def bound(host: str, port: int) -> list[socket.socket]:
    """A listening socket for each address of the host. Raises ConfigurationError."""
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
            sockets.append(socket.create_server(address, family=family, backlog=BACKLOG))
    except OSError as error:
        for one in sockets:
            one.close()
        raise ConfigurationError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    return sockets


def delay_before_restart(before: float, lived: float) -> float:
    """Seconds to wait: `before` is the last such time (0: none), `lived` the life of the worker that ended."""
    return min(2 * before, LONGEST_DELAY) if before and lived < CALM else FIRST_DELAY


def exit_code(code: int) -> int:
    """The keeper's code for a worker that failed with that one: never 0, and 128 and the number for a signal's."""
    return 128 - code if code < 0 else code or 1


@dataclass
class _Crew:
    sockets: list[socket.socket]
    environ: Mapping[str, str] = field(repr=False)
    workers: set[Process] = field(default_factory=set[Process])
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    code: int = 0

    def stop(self, code: int) -> None:
        """End all workers in good order, and the keeper with that code. Repeats do nothing."""
        if self.stopping.is_set():
            return
        self.code = code
        self.stopping.set()
        self.answering.set()
        for shared in self.sockets:
            shared.close()  # nobody would take new connections any more: they are refused, not left waiting
        for worker in self.workers:
            _terminate(worker)


async def _kept(crew: _Crew, count: int) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, crew.stop, 0)
    await asyncio.gather(*(_seat(crew, first=not number) for number in range(count)))
    return crew.code


async def _seat(crew: _Crew, *, first: bool) -> None:
    """One worker after the other, until the crew stops."""
    loop, served, delay = asyncio.get_running_loop(), asyncio.Event(), 0.0
    if not first:
        await crew.answering.wait()
    while not crew.stopping.is_set():
        since = loop.time()
        code = await _worked(crew, first and not served.is_set(), served)
        if crew.stopping.is_set():
            return
        if not served.is_set():
            logger.error("a worker ended before it was ready", code=code)
            crew.stop(exit_code(code))
            return
        delay = delay_before_restart(delay, loop.time() - since)
        logger.warning("a worker ended", code=code, again_in=delay)
        with suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await crew.stopping.wait()


async def _worked(crew: _Crew, first: bool, served: asyncio.Event) -> int:
    """Start a worker, set `served` when it is ready, and return its exit code when it has ended."""
    loop = asyncio.get_running_loop()
    line, theirs = socket.socketpair()
    with line:
        with theirs:
            numbers = [theirs.fileno(), *(shared.fileno() for shared in crew.sockets)]
            worker = await asyncio.create_subprocess_exec(
                sys.executable, *sys.orig_argv[1:], pass_fds=numbers,
                env={**crew.environ, PLACE: " ".join(map(str, (int(first), *numbers)))},
            )  # fmt: skip
        crew.workers.add(worker)
        if crew.stopping.is_set():
            _terminate(worker)

        def heard() -> None:
            loop.remove_reader(line)
            if line.recv(1):
                served.set()
                crew.answering.set()

        loop.add_reader(line, heard)
        code = await worker.wait()
        loop.remove_reader(line)
        crew.workers.discard(worker)
        return code


def _terminate(worker: Process) -> None:
    with suppress(ProcessLookupError):
        worker.terminate()
