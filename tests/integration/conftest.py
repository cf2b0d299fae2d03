"""What integration tests share: forked services, and a bus, an account of the shared server or one
of their own.
"""

from collections.abc import AsyncIterator, Generator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio
from nats.js import JetStreamContext

from embedded.processes import start_program
from runtime.bus import topology
from tests.support import commands, hosted, services
from tests.support.nats_accounts import nats_account
from tests.support.nats_server import BusServer, RunningNats, connected, running_nats
from tests.support.partitioned_bus import partitioned_bus
from tests.support.shared_servers import SharedServers


@pytest.fixture(scope="session", autouse=True)
def forked_services(shared_servers: SharedServers) -> Generator[None]:
    """Start services and commands without the time that their imports take."""
    services.launch = hosted.launcher(partial(commands.host, shared_servers))
    commands.beginning = partial(commands.forking, shared_servers, "cli")
    yield
    services.launch, commands.beginning = start_program, commands.installed


@pytest_asyncio.fixture
async def server(
    request: pytest.FixtureRequest, tmp_path: Path, shared_servers: SharedServers
) -> AsyncIterator[BusServer]:
    """A nats-server without streams; `RunningNats` where the test is marked `own_nats`, for it may
    stop that one.
    """
    is_own = request.node.get_closest_marker("own_nats") is not None
    async with running_nats(tmp_path) if is_own else nats_account(shared_servers) as server:
        yield server


@pytest_asyncio.fixture
async def jetstream(server: BusServer) -> AsyncIterator[JetStreamContext]:
    """The server's JetStream with the product's topology."""
    async with connected(server) as client:
        context = client.jetstream(timeout=5)
        await topology.apply(context)
        yield context


@pytest_asyncio.fixture
async def partitioned_server(tmp_path: Path) -> AsyncIterator[RunningNats]:
    """A nats-server with the product's topology of several partitions."""
    async with partitioned_bus(tmp_path) as server:
        yield server


@pytest_asyncio.fixture
async def partitioned_log(partitioned_server: RunningNats) -> AsyncIterator[JetStreamContext]:
    """Its JetStream."""
    async with connected(partitioned_server) as client:
        yield client.jetstream(timeout=5)
