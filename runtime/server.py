"""The HTTP server of a service."""

import asyncio
from contextlib import contextmanager, suppress
from functools import partial
from socket import socket

import uvicorn


class Server(uvicorn.Server):
    """uvicorn without its own signal handlers, which would end the process before its handlers have finished."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.opening: set[asyncio.Task[None]] = set()

    def take(self, connection: socket) -> None:
        """Answer on a connection that was accepted elsewhere."""
        task = asyncio.create_task(self._open(connection))
        self.opening.add(task)
        task.add_done_callback(self.opening.discard)

    async def _open(self, connection: socket) -> None:
        if not self.config.loaded:
            self.config.load()
        protocol = partial(
            self.config.http_protocol_class, config=self.config, server_state=self.server_state, app_state={}
        )
        with suppress(OSError):  # it has hung up already
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    @contextmanager
    def capture_signals(self):  # pyright: ignore
        yield
