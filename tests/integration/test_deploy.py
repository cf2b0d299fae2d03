"""What docker compose runs, as far as that goes without Docker: its bus, and the check of a container's health."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import nats
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from contracts import subjects
from runtime.bus import topology
from runtime.bus.nats import NatsLog, connected
from runtime.bus.nats_beside import NatsBlobs, NatsPointers
from runtime.bus.publisher import add_document
from runtime.errors import ConfigurationError
from standalone.processes import free_port
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.facts import added, sealed
from tests.support.nats_server import until
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


@pytest_asyncio.fixture
async def of_services(bus: DeployedBus) -> AsyncIterator[JetStreamContext]:
    """The bus as a service sees it; a refusal is a silence, so it is waited for shortly."""
    async with connected(bus.services, name="test") as client:
        yield client.jetstream(timeout=1)


async def test_every_message_is_on_the_disk_before_it_is_acknowledged(bus: DeployedBus) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        config = (await client.get(f"http://127.0.0.1:{bus.monitor_port}/jsz")).json()["config"]
    assert config["sync_always"] is True


async def test_nobody_gets_in_without_a_password(bus: DeployedBus) -> None:
    for user in ("", "operator:guess@", "operator:@", "services:services@"):
        client = Client()
        with pytest.raises(NatsError, match="Authorization Violation"):
            await client.connect(f"nats://{user}127.0.0.1:{bus.port}", allow_reconnect=False, error_cb=_ignored)
        await client.close()


async def test_a_command_with_a_wrong_password_says_so_and_ends(bus: DeployedBus) -> None:
    wrong = bus.operator.replace(":k", ":wrong")
    with pytest.raises(ConfigurationError, match="refuses the user or the password") as raised:
        async with connected(wrong, name="test"):
            pass
    assert "wrong" not in str(raised.value)


async def test_a_service_publishes_facts_and_blobs_and_reads_pointers(of_services: JetStreamContext) -> None:
    log = NatsLog(of_services)
    await log.publish(sealed(added("d")))
    assert await log.newest("w", "d", "DocumentAdded") is not None
    assert await log.following(0, subjects.of_type("DocumentAdded")) is not None
    one = [await add_document(log, NatsBlobs(of_services), workspace="w", text=t, source="t", key="k") for t in "ab"]
    assert [(found.sequence, found.is_new) for found in one] == [(2, True), (2, False)]
    blob = await NatsBlobs(of_services).put("text")
    assert await NatsBlobs(of_services).get(blob) == "text"
    assert (await (await NatsPointers.bind(of_services)).live()).graph == 1
    assert await topology.check(of_services) == []


@pytest.mark.parametrize(
    "subject",
    [
        "$JS.API.STREAM.DELETE.KB_EVENTS",
        "$JS.API.STREAM.PURGE.KB_EVENTS",
        "$JS.API.STREAM.UPDATE.KB_EVENTS",
        "$JS.API.STREAM.MSG.DELETE.KB_BLOBS",
        "$JS.API.STREAM.SNAPSHOT.KB_EVENTS",
        "$JS.API.CONSUMER.DELETE.KB_EVENTS.merger",
        "$JS.API.CONSUMER.DURABLE.CREATE.KB_EVENTS.spy",
        "$JS.API.CONSUMER.CREATE.KB_EVENTS.spy",
        "$KV.KB_GENERATIONS.pointers",
        "another.subject",
    ],
)
async def test_a_service_may_not_change_the_bus_nor_switch_generations(bus: DeployedBus, subject: str) -> None:
    refused: list[str] = []

    async def on_error(error: Exception) -> None:
        refused.append(str(error))

    client = await nats.connect(bus.services, error_cb=on_error)
    await client.publish(subject, b"{}")

    async def answered() -> bool:
        return bool(refused)

    await until(answered, "a refusal")
    await client.close()
    assert [f'permissions violation for publish to "{subject.lower()}"' in line.lower() for line in refused] == [True]


async def test_a_container_is_healthy_when_its_service_is_ready(bus: DeployedBus, tmp_path: Path) -> None:
    async with service("chunker", tmp_path, NATS_URL=bus.services) as process:
        ready = _healthcheck(process.env["PORT"])
        assert (ready.returncode, ready.stderr) == (0, "")
        await bus.process.stop()
        broken = _healthcheck(process.env["PORT"])
        assert (broken.returncode, "durable does not answer" in broken.stderr) == (1, True)
    silent = _healthcheck(str(free_port()))
    assert (silent.returncode, "refused" in silent.stderr) == (1, True)


def _healthcheck(port: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HEALTHCHECK)], env={"PORT": port, "http_proxy": "http://127.0.0.1:9"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""
