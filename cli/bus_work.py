"""Runs what a command does on the bus of the chosen stack or deployment."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from cli.common import Data, quiet_logs

if TYPE_CHECKING:
    from nats.js import JetStreamContext

# `--help` answers at once: the bus is loaded by the command that needs it.

T = TypeVar("T")


def on_bus(data: Data, use: Callable[["JetStreamContext"], Awaitable[T]]) -> T:
    """Return what `use` returns, given the JetStream of the bus. Raises what it raises, and
    `Unavailable`.
    """
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    quiet_logs()

    async def run() -> T:
        async with connect_bus(select_target(data).settings.nats_url) as bus:
            return await use(bus)

    return asyncio.run(run())
