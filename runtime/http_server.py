"""The uvicorn configuration of our HTTP servers: limits, no Server header, and only the proxies
that are configured.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from socket import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from runtime.settings import Settings
from runtime.workarounds.uvicorn import HttpLimits, limited_protocol


def server_config(app: ASGIApp, settings: Settings, **options: Any) -> uvicorn.Config:
    """Return uvicorn's configuration for an application; `options` are uvicorn's and override
    ours.
    """
    ours: dict[str, Any] = {
        "log_config": None,
        "lifespan": "off",
        "ws": "none",
        "http": limited_protocol(http_limits(settings)),
        # By default uvicorn trusts every client on this machine, and reads the variable by itself.
        "proxy_headers": bool(settings.forwarded_allow_ips),
        "forwarded_allow_ips": settings.forwarded_allow_ips,
        "server_header": False,
    }
    return uvicorn.Config(app, **{**ours, **options})


def http_limits(settings: Settings) -> HttpLimits:
    """Return the limits that the settings give."""
    return HttpLimits(
        url_bytes=settings.http_max_url_bytes,
        header_bytes=settings.http_max_header_bytes,
        header_count=settings.http_max_headers,
        header_timeout=settings.http_header_timeout,
        body_timeout=settings.http_body_timeout,
        body_rate=settings.http_min_body_rate,
        write_timeout=settings.http_write_timeout,
    )


DATE_SECONDS = 1.0
"""Seconds for which an answer has the same Date header."""


class Server(uvicorn.Server):
    """uvicorn without its signal handlers, which would end the process before the event handlers
    have finished.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.opening: set[asyncio.Task[None]] = set()
        self._end_signal = asyncio.Event()

    def end(self) -> None:
        """End the server after the answers that are under way."""
        self.should_exit = True
        self._end_signal.set()

    async def main_loop(self) -> None:
        """Renew the Date header until `end` is called, without uvicorn's ten looks a second."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(DATE_SECONDS):
                    await self._end_signal.wait()

    def drain(self) -> None:
        """Close every connection after its next answer, from now on: a client that is told so sends
        no more there.
        """
        closing = b"connection", b"close"
        self.config.encoded_headers.append(
            closing
        )  # what the server makes its own list from, every second
        self.server_state.default_headers.append(closing)

    def accept(self, connection: socket) -> None:
        """Serve a connection that another process accepted."""
        task = asyncio.create_task(self._open(connection))
        self.opening.add(task)
        task.add_done_callback(self.opening.discard)

    async def _open(self, connection: socket) -> None:
        if not self.config.loaded:
            self.config.load()
        protocol = partial(
            self.config.http_protocol_class,
            config=self.config,
            server_state=self.server_state,
            app_state={},
        )
        with suppress(OSError):  # the client has disconnected already
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """See uvicorn."""
        yield
