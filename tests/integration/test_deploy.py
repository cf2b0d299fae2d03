"""What docker compose runs, as far as that goes without Docker: its bus, and the check of a
container's health.
"""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.errors import Error as NatsError

from embedded.processes import free_port
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.errors import ConfigurationError
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.services import service

HEALTHCHECK = Path(__file__).resolve().parents[2] / "deploy" / "healthcheck.py"


@pytest_asyncio.fixture
async def bus(tmp_path: Path) -> AsyncIterator[DeployedBus]:
    """The bus with its streams, which the operator has declared."""
    async with deployed_bus(tmp_path / "bus") as bus:
        async with connected(bus.operator, name="test") as client:
            assert await topology.apply(client.jetstream())
            assert await topology.check(client.jetstream()) == []
        yield bus


async def test_every_message_is_on_the_disk_before_it_is_acknowledged(bus: DeployedBus) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        config = (await client.get(f"http://127.0.0.1:{bus.monitor_port}/jsz")).json()["config"]
    assert config["sync_always"] is True


async def test_nobody_gets_in_without_a_password(bus: DeployedBus) -> None:
    for user in ("", "operator:guess@", "operator:@", "query:query@"):
        client = Client()
        with pytest.raises(NatsError, match="Authorization Violation"):
            await client.connect(
                f"nats://{user}127.0.0.1:{bus.port}", allow_reconnect=False, error_cb=_ignored
            )
        await client.close()


async def test_a_command_with_a_wrong_password_says_so_and_ends(bus: DeployedBus) -> None:
    wrong_url = bus.operator.replace(":k", ":wrong")
    with pytest.raises(ConfigurationError, match="refuses the user or the password") as error:
        async with connected(wrong_url, name="test"):
            pass
    assert "wrong" not in str(error.value)


async def test_a_container_is_healthy_when_its_service_is_ready(
    bus: DeployedBus, tmp_path: Path
) -> None:
    async with service("chunker", tmp_path, **bus.variables("chunker")) as process:
        healthy_check = _healthcheck(process.env["PORT"])
        assert (healthy_check.returncode, healthy_check.stderr) == (0, "")
        await bus.process.stop()
        broken_check = _healthcheck(process.env["PORT"])
        assert (broken_check.returncode, "durable does not answer" in broken_check.stderr) == (
            1,
            True,
        )
    silent = _healthcheck(str(free_port()))
    assert (silent.returncode, "refused" in silent.stderr) == (1, True)


def _healthcheck(port: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HEALTHCHECK)],
        env={"PORT": port, "http_proxy": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""
