"""What is read when somebody asks for `/metrics`, at most so often that asking costs little."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from runtime.errors import ServiceError

logger = structlog.get_logger(__name__)

Read = Callable[[], Awaitable[None]]
"""Reads something and sets gauges."""

LEAST_SECONDS = 5.0
"""Between two readings of one source, whoever asks."""

SHARE = 50
"""A source is read so seldom that reading it takes at most one of so many parts of the time."""

TIMEOUT = 5.0
"""Seconds that a source has."""


@dataclass
class _Source:
    read: Read
    due: float = 0.0


@dataclass
class Readings:
    """The sources of one process. One that fails keeps the values it had; `lightstream_ready` tells
    that it may.
    """

    sources: dict[str, _Source] = field(default_factory=dict[str, _Source])
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def add(self, name: str, read: Read) -> None:
        """Read this, too; of one name the newest counts."""
        self.sources[name] = _Source(read)

    async def refresh(self) -> None:
        """Read what is due. Those who ask meanwhile wait for it."""
        async with self.lock:
            for name, source in list(self.sources.items()):
                if time.monotonic() >= source.due:
                    await _read(name, source)


async def _read(name: str, source: _Source) -> None:
    began = time.monotonic()
    try:
        async with asyncio.timeout(TIMEOUT):
            await source.read()
    except (ServiceError, TimeoutError) as error:
        logger.warning("a reading failed", of=name, error=f"{type(error).__name__}: {error}")
    took = time.monotonic() - began
    source.due = began + max(LEAST_SECONDS, SHARE * took)
