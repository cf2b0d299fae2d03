"""Accept the connections of one port in one process and dispatch them to others in turn.

Processes that all accept from one socket do not share the work evenly: the first one awake takes
all that wait.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from runtime.errors import ConfigurationError

BACKLOG = 2048
"""Connections that wait to be accepted, as in a process that answers alone."""


def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Return a listening socket for each address of the host. Raises ConfigurationError."""
    sockets: list[socket.socket] = []
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys(
            (family, address) for family, _, _, _, address in addresses
        ):
            sockets.append(socket.create_server(address, family=family, backlog=BACKLOG))
    except OSError as error:
        for listener in sockets:
            listener.close()
        raise ConfigurationError(
            f"cannot listen on {host}, port {port}: {error.strerror}"
        ) from None
    for listener in sockets:
        listener.setblocking(False)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what it accepts has it too
    return sockets


@dataclass
class ConnectionDispatcher:
    """Gives each connection of its sockets to the next worker, over the worker's control socket.

    While there is no worker, connections wait to be accepted.
    """

    sockets: list[socket.socket]
    workers: deque[socket.socket] = field(default_factory=deque[socket.socket])

    def add(self, line: socket.socket) -> None:
        """Dispatch to that worker as well, from now on. Its control socket does not block."""
        self.workers.append(line)
        for listener in self.sockets:
            asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    def remove(self, line: socket.socket) -> None:
        """Dispatch no more to that worker. Does nothing for an unknown one."""
        with suppress(ValueError):
            self.workers.remove(line)
        if not self.workers:
            self._pause()

    def close(self) -> None:
        """Accept nothing any more: new connections are refused."""
        self._pause()
        for listener in self.sockets:
            listener.close()
        self.sockets.clear()

    def _pause(self) -> None:
        for listener in self.sockets:
            asyncio.get_running_loop().remove_reader(listener)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:  # it has hung up already
            return
        with connection:
            for _ in range(len(self.workers)):
                self.workers.rotate(-1)
                # A process that ends just now, or has not read hundreds of connections, is passed
                # over.
                with suppress(OSError):
                    socket.send_fds(self.workers[0], [b"."], [connection.fileno()])
                    return


def receive_connection(line: socket.socket, take: Callable[[socket.socket], object]) -> bool:
    """Read one connection from a non-blocking control socket, for `take`. False when the parent is
    gone.
    """
    try:
        data, numbers, _, _ = socket.recv_fds(line, 1, 1)
    except BlockingIOError:
        return True
    except OSError:
        return False
    for number in numbers:
        connection = socket.socket(fileno=number)
        connection.set_inheritable(False)
        take(connection)
    return bool(data)
