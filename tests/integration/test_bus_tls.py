"""TLS on the bus, with the files that `deploy` has for it: who is let in, who is not, and what
nobody overhears.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from operations import bus_accounts
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.errors import ConfigurationError
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.services import service
from tests.support.tls import certificates

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bus(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DeployedBus]:
    folder = tmp_path_factory.mktemp("bus")
    async with deployed_bus(folder / "nats", certificates=certificates(folder / "tls")) as tls_bus:
        async with connected(tls_bus.operator, name="test") as client:
            await topology.apply(client.jetstream())
        yield tls_bus


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of an authority that the bus does not know."""
    return certificates(tmp_path_factory.mktemp("strange") / "tls")


async def refusal(url: str) -> str:
    """Why nobody is let in with this address."""
    with pytest.raises(ConfigurationError) as error:
        async with connected(url, name="test"):
            pass
    return str(error.value)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def refusals(
    bus: DeployedBus, strange: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Why each of these addresses is refused. They are tried side by side: a client goes on for a
    while.
    """
    own_url = bus.operator
    plain_url = bus.operator.partition("?")[0]
    trusting = f"{plain_url}?ca={bus.certificates}/ca.pem"
    absent = tmp_path_factory.mktemp("absent")
    urls = {
        "no certificate": trusting,
        "a strange certificate": f"{trusting}&cert={strange}/client.pem&key={strange}/client.key",
        "no TLS": plain_url.replace("tls://", "nats://"),
        "a wrong password": replace(bus, passwords={"operator": "wrong"}).operator,
        "a strange server": replace(bus, certificates=strange).operator,
        "a server that the system does not know": f"{plain_url}?{own_url.partition('&')[2]}",
        "another name": own_url.replace("127.0.0.1", "localhost"),
        "no file": replace(bus, certificates=absent).operator,
    }
    answers = dict(zip(urls, await asyncio.gather(*map(refusal, urls.values())), strict=True))
    assert not [message for message in answers.values() if bus.passwords["operator"] in message]
    return answers


async def test_a_service_works_over_tls(bus: DeployedBus, tmp_path: Path) -> None:
    variables = {"NATS_URL": bus.url("chunker"), "NATS_API_PREFIX": bus_accounts.IMPORTED_API}
    async with service("chunker", tmp_path, **variables) as process:
        assert process.alive


@pytest.mark.parametrize("reason", ["no certificate", "a strange certificate"])
async def test_who_has_no_certificate_of_ours_is_refused(
    refusals: dict[str, str], reason: str
) -> None:
    assert "TLS with the servers of NATS_URL fails" in refusals[reason]


async def test_nobody_comes_in_without_tls_or_by_a_certificate_alone(
    refusals: dict[str, str],
) -> None:
    assert "no NATS server answers" in refusals["no TLS"]
    assert "refuses the user or the password" in refusals["a wrong password"]


@pytest.mark.parametrize(
    "server", ["a strange server", "a server that the system does not know", "another name"]
)
async def test_a_server_that_cannot_prove_its_name_is_not_trusted(
    refusals: dict[str, str], server: str
) -> None:
    assert "CERTIFICATE_VERIFY_FAILED" in refusals[server]


async def test_a_file_that_is_not_there_is_named(refusals: dict[str, str]) -> None:
    assert "ca.pem" in refusals["no file"]
    assert "cannot be used" in refusals["no file"]


async def test_a_server_that_asks_for_no_tls_is_told_no_password(bus: DeployedBus) -> None:
    received_bytes = bytearray()

    async def in_the_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"INFO "
            b'{"server_id":"x","version":"2.15.1","auth_required":true,"max_payload":1048576}\r\n'
        )
        while data := await reader.read(4096):
            received_bytes.extend(data)
        writer.close()

    async with await asyncio.start_server(in_the_clear, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert "NATS_URL" in await refusal(replace(bus, port=port).operator)
        server.close()
    assert received_bytes, "nobody spoke to it"
    assert bus.passwords["operator"].encode() not in received_bytes
    assert b"CONNECT" not in received_bytes
