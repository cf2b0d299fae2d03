"""Processes that are forked from the host of the run (`command_host`) where the product would start
a program.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from embedded import daemon, forking
from embedded.permissions import UMASK, open_private
from embedded.processes import Child, Process
from tests.support import command_host
from tests.support.command_host import PASSED, Program


class Hosted:
    """A forked process; like `asyncio.subprocess.Process`."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.ensure_future(self._code(connection))

    async def wait(self) -> int:
        """Return the exit code, when it has ended."""
        return await asyncio.shield(self._ended)

    def send_signal(self, number: int) -> None:
        """Send a signal, if it lives."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    async def _code(self, connection: socket.socket) -> int:
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            self.returncode = int(await reader.readline() or -signal.SIGKILL)
        finally:
            writer.close()
        return self.returncode


def launcher(host: Callable[[], Path]) -> Callable[[Process], Awaitable[Child]]:
    """Return what forks a `Process` that is `python -m MODULE` from the host, whose socket is asked
    for then.
    """

    async def launch(process: Process) -> Child:
        _, _, module, *arguments = process.argv
        env = {**os.environ, **process.env}
        program = Program(module, arguments, env, str(process.folder), True, UMASK)
        with open_private(process.log) as log:
            return Hosted(*_start(host(), program, log.fileno()))

    return launch


def fork_stacks(host: Path) -> None:
    """Let stacks that processes of this one start have supervisor and fork server forked from the
    host as well.
    """
    start_program = asyncio.create_subprocess_exec

    async def start(*argv: str, **given: Any) -> Any:
        if argv[1:3] != ("-m", forking.PROGRAM):
            return await start_program(*argv, **given)
        program = Program(
            argv[2],
            [PASSED, *argv[4:]],
            given["env"],
            str(given["cwd"]),
            True,
            UMASK,
            outlives=True,
        )
        return Hosted(*_start(host, program, given["stdout"].fileno(), *given["pass_fds"]))

    cast(Any, asyncio).create_subprocess_exec = start
    cast(Any, daemon).subprocess = SimpleNamespace(
        Popen=lambda argv, **given: _Supervisor(host, argv, **given), DEVNULL=subprocess.DEVNULL
    )


def _start(host: Path, program: Program, output: int, *passed: int) -> tuple[socket.socket, int]:
    """`command_host.start` without input, with one file for what it writes."""
    with Path(os.devnull).open("rb") as nothing:
        return command_host.start(host, program, (nothing.fileno(), output, output, *passed))


class _Supervisor:
    """What `daemon.start` uses of `subprocess.Popen`."""

    def __init__(self, host: Path, argv: list[str], *, stdout: Any, cwd: Path, **_: Any) -> None:
        assert argv[:2] == [sys.executable, "-m"]
        program = Program(argv[2], argv[3:], {**os.environ}, str(cwd), True, UMASK, outlives=True)
        self._connection, self.pid = _start(host, program, stdout.fileno())

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""
        self._connection.settimeout(0.0)
        try:
            return int(self._connection.recv(64) or -signal.SIGKILL)
        except BlockingIOError:
            return None

    def terminate(self) -> None:
        """SIGTERM."""
        os.kill(self.pid, signal.SIGTERM)

    def wait(self, timeout: float) -> int:
        """Return the exit code. Raises TimeoutError after so many seconds."""
        self._connection.settimeout(timeout)
        return int(self._connection.recv(64) or -signal.SIGKILL)
