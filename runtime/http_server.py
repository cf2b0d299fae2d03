"""How every HTTP server of ours listens: bounded, without a server's name, and believing no proxy that nobody named."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from socket import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from runtime.http_guard import HttpLimits, guarded
from runtime.settings import Settings


def server_config(app: ASGIApp, settings: Settings, **options: Any) -> uvicorn.Config:
    """uvicorn's configuration for that application; `options` are uvicorn's and go before ours."""
    ours: dict[str, Any] = {
        "log_config": None,
        "lifespan": "off",
        "ws": "none",
        "http": guarded(http_limits(settings)),
        # uvicorn would believe everybody who connects from this machine, and read the variable by itself.
        "proxy_headers": bool(settings.forwarded_allow_ips),
        "forwarded_allow_ips": settings.forwarded_allow_ips,
        "server_header": False,
    }
    return uvicorn.Config(app, **{**ours, **options})


def http_limits(settings: Settings) -> HttpLimits:
    """What the settings allow one request."""
    return HttpLimits(
        url_bytes=settings.http_max_url_bytes,
        header_bytes=settings.http_max_header_bytes,
        header_count=settings.http_max_headers,
        header_timeout=settings.http_header_timeout,
        body_timeout=settings.http_body_timeout,
        body_rate=settings.http_min_body_rate,
        write_timeout=settings.http_write_timeout,
    )


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
    def capture_signals(self) -> Generator[None]:
        """See uvicorn."""
        yield
