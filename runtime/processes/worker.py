"""One of several processes behind one port: its control socket to the parent process that started
it.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog

from runtime.processes.dispatcher import receive_connection

logger = structlog.get_logger(__name__)

CONTROL_SOCKET_VARIABLE = "LIGHTSTREAM_WORKER_PLACE"
"""The variable that makes a process a worker: whether it is the first (1 or 0), and the descriptor
of its line.
"""

READY = b"+"
ORPHAN_GRACE = 30.0
"""Seconds a worker has to end in when its parent is gone: nobody is left who could end it."""


@dataclass(frozen=True)
class ControlSocket:
    """The control socket to the parent. The `first` worker answers from its start, to say what it
    waits for.
    """

    connection: socket.socket
    first: bool

    def ready(self) -> None:
        """Tell the parent that this worker is ready."""
        with suppress(OSError):  # a parent that is gone is noticed by `attend`
            self.connection.send(READY)

    def receive_connections(
        self, take: Callable[[socket.socket], object], stop: Callable[[], None]
    ) -> None:
        """Call `take` with each connection, and `stop` once the parent is gone; end the process if
        that takes long.
        """
        loop = asyncio.get_running_loop()

        def heard() -> None:
            if not receive_connection(self.connection, take):
                loop.remove_reader(self.connection)
                logger.error("the parent of this worker is gone")
                stop()
                loop.call_later(ORPHAN_GRACE, os._exit, 1)

        loop.add_reader(self.connection, heard)


def is_worker() -> bool:
    """Whether a parent process started this one."""
    return CONTROL_SOCKET_VARIABLE in os.environ


def own_control_socket() -> ControlSocket | None:
    """Return this process's slot among the workers; call it once. None when no parent process
    started it.
    """
    if not is_worker():
        return None
    first, number = map(int, os.environ[CONTROL_SOCKET_VARIABLE].split())
    line = socket.socket(fileno=number)
    line.setblocking(False)
    line.set_inheritable(False)  # what this process starts must not keep the line open
    return ControlSocket(line, bool(first))
