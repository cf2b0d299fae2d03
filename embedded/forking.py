"""Starts processes through a fork server, which has imported what they need: one import for all, in
shared memory.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from embedded.fork_server import ENVIRONMENT, Request
from embedded.orphans import ProcessIdentity
from embedded.permissions import UMASK, open_private
from embedded.processes import Child, Process, start_program

PROGRAM = "embedded.fork_server"
LOG = "fork-server.log"

STOP_GRACE = 10.0
"""Seconds a fork server has to end in after its last request."""


class ForkedChild:
    """A process that the fork server forked; like `asyncio.subprocess.Process`."""

    def __init__(self, pid: int) -> None:
        self.pid, self.returncode = pid, None
        self.identity = ProcessIdentity.of(pid)
        self._ended = asyncio.Event()

    returncode: int | None

    async def wait(self) -> int:
        """Return the exit code, when it has ended."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, signal: int) -> None:
        """Send a signal, if it lives."""
        with suppress(ProcessLookupError):
            if self.returncode is None and self.identity.alive:
                os.kill(self.pid, signal)

    def end(self, code: int) -> None:
        """Record the exit code."""
        self.returncode = code
        self._ended.set()


class ForkServer:
    """One fork server, started again when it has ended.

    What it forked is killed when it ends before them, as nobody could tell when they end: a service
    survives that. One that ends before it forked anything (it has threads, or cannot run) is not
    started again: from then on each process is started as a program of its own.
    """

    def __init__(self, folder: Path, modules: Sequence[str], environ: Mapping[str, str]) -> None:
        self._folder, self._modules, self._environ = (
            folder,
            modules,
            {**os.environ, **ENVIRONMENT, **environ},
        )
        self._children: dict[int, ForkedChild] = {}
        self._turn = asyncio.Lock()
        self._forked = 0

    async def start(self) -> None:
        """Start the server, without waiting for its imports."""
        ours, theirs = socket.socketpair()
        with theirs, open_private(self._folder / LOG) as log:
            self._server = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                PROGRAM,
                str(theirs.fileno()),
                *self._modules,
                pass_fds=[theirs.fileno()],
                cwd=self._folder,
                env=self._environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=UMASK,
            )
        self._forked, self._answer = 0, _no_answer()
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._reading = asyncio.create_task(self._read(reader))

    async def launch(self, process: Process) -> Child:
        """Fork the process, whose arguments end with the name of a module that has a `main`."""
        process.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        request = Request(
            process.argv[-1], dict(process.env), str(process.folder), str(process.log)
        )
        async with self._turn:
            if self._reading.done() and self._forked:
                self._writer.close()
                await self._server.wait()
                await self.start()
            child = None if self._reading.done() else await self._fork(request)
        return child or await start_program(process)

    async def stop(self) -> None:
        """End the server, and whatever it forked and nobody has stopped."""
        if (
            self._forked or not self._answer.done()
        ):  # what was asked for last is forked and reported before it ends
            self._writer.write_eof()
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_GRACE):
                    await asyncio.shield(self._reading)
        if self._server.returncode is None:
            with suppress(ProcessLookupError):
                self._server.kill()
        await self._server.wait()
        await self._reading
        self._writer.close()

    async def _fork(self, request: Request) -> ForkedChild | None:
        """Return what was forked; None when the server has ended instead."""
        self._answer = asyncio.get_running_loop().create_future()
        with suppress(ConnectionError):
            self._writer.write(request.encoded())
            await self._writer.drain()
        return await asyncio.shield(self._answer)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                message: dict[str, int] = json.loads(line)
                if pid := message.get("forked"):
                    self._children[pid] = child = ForkedChild(pid)
                    self._forked += 1
                    self._answer.set_result(child)
                else:
                    self._children.pop(message["ended"]).end(message["code"])
        for child in self._children.values():
            child.send_signal(signal.SIGKILL)
            child.end(-signal.SIGKILL)
        self._children.clear()
        if not self._answer.done():
            self._answer.set_result(None)


def _no_answer() -> asyncio.Future[ForkedChild | None]:
    """Return the answer to no request."""
    answer: asyncio.Future[ForkedChild | None] = asyncio.get_running_loop().create_future()
    answer.set_result(None)
    return answer


@asynccontextmanager
async def fork_server(
    folder: Path, modules: Sequence[str], environ: Mapping[str, str]
) -> AsyncGenerator[ForkServer]:
    """Run a fork server that imports these modules, with these variables, for as long as the block
    lasts.
    """
    server = ForkServer(folder, modules, environ)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
