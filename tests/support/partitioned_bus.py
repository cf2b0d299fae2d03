"""A nats-server of one test's own with a log of several partitions."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from embedded.processes import free_port
from embedded.servers.nats import BusOptions, nats_server
from runtime.bus import topology
from tests.support.nats_server import RunningNats, connected

COUNT = 3
WORKSPACES = ("other", "a", "w")
"""One for each partition, in their order."""


@asynccontextmanager
async def empty_partitioned_bus(tmp_path: Path) -> AsyncGenerator[RunningNats]:
    """A server that maps subjects to `COUNT` partitions, without streams."""
    folder = tmp_path / "nats"
    port = free_port()
    process = nats_server(folder, port=port, sync="default", options=BusOptions(partitions=COUNT))
    try:
        await process.start()
        yield RunningNats(process, port, None, folder)
    finally:
        await process.stop()


@asynccontextmanager
async def partitioned_bus(tmp_path: Path) -> AsyncGenerator[RunningNats]:
    """A server with the product's topology of `COUNT` partitions."""
    async with empty_partitioned_bus(tmp_path) as server:
        async with connected(server) as client:
            await topology.apply(client.jetstream(timeout=5), partitions=COUNT)
        yield server
