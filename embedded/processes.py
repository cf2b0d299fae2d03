"""A child process: started, waited for until it really answers, stopped by its pid."""

import asyncio
import json
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from embedded.permissions import UMASK, open_private
from runtime.errors import ConfigurationError, Unavailable

Probe = Callable[[], Awaitable[None]]
"""Returns when the process answers; raises any error while it does not."""

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.3
"""Seconds between two probes of a process that starts, of which each is a tenth longer: on a busy
machine probes would take the CPU that the start needs.
"""

PORTS = range(20_000, 32_768)
"""The ports that `free_port` draws from."""


class Child(Protocol):
    """A started process, as `asyncio.subprocess.Process` is one."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        ...

    async def wait(self) -> int:
        """Return the exit code, when it has ended."""
        ...

    def send_signal(self, signal: int) -> None:
        """Send a signal, if it lives."""
        ...


async def start_program(process: "Process") -> Child:
    """Start the process as a program of its own, in a session of its own."""
    with open_private(process.log) as log:
        return await asyncio.create_subprocess_exec(
            *process.argv,
            cwd=process.folder,
            env={**os.environ, **process.env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            umask=UMASK,
        )


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody has now. Raises `OSError` when none is found.

    It is drawn from those that no system gives to outgoing connections: one of these could have the
    port before its server listens.
    """
    for port in secrets.SystemRandom().sample(PORTS, 100):
        with suppress(OSError), socket.socket() as listener:
            listener.bind(("127.0.0.1", port))
            return port
    raise OSError(f"a hundred TCP ports between {PORTS.start} and {PORTS.stop} are all taken")


def listening(port: int) -> bool:
    """Return True if a server accepts connections on that port of 127.0.0.1."""
    with socket.socket() as client:
        client.settimeout(0.3)
        return client.connect_ex(("127.0.0.1", port)) == 0


CANNOT_START = '"event": "cannot start"'
"""What stands in the line of a service's log that says why it must not run."""


@dataclass
class Process:
    """One child process and how to know that it is ready. Its output goes to
    `<folder>/<name>.log`.
    """

    name: str
    argv: Sequence[str]
    folder: Path
    probe: Probe
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float = 60.0
    grace: float = 10.0
    """Seconds between SIGTERM and SIGKILL."""
    diagnosis: Callable[[], str] = str
    """Returns why the process ended by itself and what to do, as a sentence; empty when nothing is
    known.
    """
    launch: Callable[["Process"], Awaitable[Child]] = start_program
    """Starts it, when its folder is there."""
    child: Child | None = None

    @property
    def log(self) -> Path:
        """Return the file of its standard output and errors."""
        return self.folder / f"{self.name}.log"

    @property
    def pid(self) -> int:
        """The pid of the running child. Raises `Unavailable` when it was never started."""
        if self.child is None:
            raise Unavailable(f"{self.name} is not running")
        return self.child.pid

    @property
    def alive(self) -> bool:
        """Return True if the child was started and has not ended."""
        return self.child is not None and self.child.returncode is None

    async def spawn(self) -> None:
        """Start the child without waiting for it to be ready."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.child = await self.launch(self)

    async def ready(self) -> None:
        """Wait until the probe answers. Raises ConfigurationError with the end of the log when the
        child ends first.
        """
        assert self.child is not None
        end = asyncio.get_running_loop().time() + self.timeout
        pause = FIRST_PAUSE
        while True:
            if self.child.returncode is not None:
                raise ConfigurationError(self._why_it_ended(self.child.returncode))
            try:
                async with asyncio.timeout(5.0):
                    return await self.probe()
            except Exception as error:
                if asyncio.get_running_loop().time() > end:
                    await self.stop()
                    raise ConfigurationError(
                        f"{self.name} did not answer within {self.timeout:.0f} s "
                        f"({error!r}):\n{self.tail()}"
                    ) from error
            await asyncio.sleep(pause)
            pause = min(1.1 * pause, LONGEST_PAUSE)

    def _why_it_ended(self, code: int) -> str:
        """Return the reason that it gave itself, in one line, or what is known of it otherwise."""
        if reason := _logged_reason(self.tail(1)):
            return f"{self.name} cannot start: {reason}"
        sentence = f"{self.name} ended with code {code}"
        known_cause = self.diagnosis()
        return f"{sentence}: {known_cause}" if known_cause else f"{sentence}:\n{self.tail()}"

    async def start(self) -> None:
        """`spawn`, then `ready`."""
        await self.spawn()
        await self.ready()

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL after the grace. Repeats do nothing."""
        if self.alive:
            self.signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(self.grace):
                    await self.wait()
            except TimeoutError:
                await self.kill()

    async def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self.signal(signal.SIGKILL)
        await self.wait()

    def signal(self, number: int) -> None:
        """Send a signal to the child, if it lives."""
        if self.child is not None and self.child.returncode is None:
            self.child.send_signal(number)

    async def wait(self) -> int:
        """The child's exit code, when it has ended."""
        assert self.child is not None
        return await self.child.wait()

    def tail(self, lines: int = 15) -> str:
        """The last lines of its log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-lines:])


def _logged_reason(line: str) -> str:
    """Return why a service refuses to start, from the last line of its log; empty if it says
    nothing of that.
    """
    if CANNOT_START not in line:
        return ""
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(line)["reason"])
    return ""
