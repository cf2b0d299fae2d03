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
    async with deployed_bus(folder / "nats", certificates=certificates(folder / "tls")) as found:
        async with connected(found.operator, name="test") as client:
            await topology.apply(client.jetstream())
        yield found


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of an authority that the bus does not know."""
    return certificates(tmp_path_factory.mktemp("strange") / "tls")


async def refusal(url: str) -> str:
    """Why nobody is let in with this address."""
    with pytest.raises(ConfigurationError) as raised:
        async with connected(url, name="test"):
            pass
    return str(raised.value)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def refused(
    bus: DeployedBus, strange: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Why each of these addresses is refused. They are tried side by side: a client goes on for a
    while.
    """
    own, plain = bus.operator, bus.operator.partition("?")[0]
    trusting, absent = f"{plain}?ca={bus.certificates}/ca.pem", tmp_path_factory.mktemp("absent")
    wanted = {
        "no certificate": trusting,
        "a strange certificate": f"{trusting}&cert={strange}/client.pem&key={strange}/client.key",
        "no TLS": plain.replace("tls://", "nats://"),
        "a wrong password": replace(bus, passwords={"operator": "wrong"}).operator,
        "a strange server": replace(bus, certificates=strange).operator,
        "a server that the system does not know": f"{plain}?{own.partition('&')[2]}",
        "another name": own.replace("127.0.0.1", "localhost"),
        "no file": replace(bus, certificates=absent).operator,
    }
    found = dict(zip(wanted, await asyncio.gather(*map(refusal, wanted.values())), strict=True))
    assert not [message for message in found.values() if bus.passwords["operator"] in message]
    return found


async def test_a_service_works_over_tls(bus: DeployedBus, tmp_path: Path) -> None:
    variables = {"NATS_URL": bus.url("chunker"), "NATS_API_PREFIX": bus_accounts.IMPORTED_API}
    async with service("chunker", tmp_path, **variables) as process:
        assert process.alive


@pytest.mark.parametrize("shown", ["no certificate", "a strange certificate"])
async def test_who_has_no_certificate_of_ours_is_refused(
    refused: dict[str, str], shown: str
) -> None:
    assert "TLS with the servers of NATS_URL fails" in refused[shown]


async def test_nobody_comes_in_without_tls_or_by_a_certificate_alone(
    refused: dict[str, str],
) -> None:
    assert "no NATS server answers" in refused["no TLS"]
    assert "refuses the user or the password" in refused["a wrong password"]


@pytest.mark.parametrize(
    "server", ["a strange server", "a server that the system does not know", "another name"]
)
async def test_a_server_that_cannot_prove_its_name_is_not_trusted(
    refused: dict[str, str], server: str
) -> None:
    assert "CERTIFICATE_VERIFY_FAILED" in refused[server]


async def test_a_file_that_is_not_there_is_named(refused: dict[str, str]) -> None:
    assert "ca.pem" in refused["no file"]
    assert "cannot be used" in refused["no file"]


async def test_a_server_that_asks_for_no_tls_is_told_no_password(bus: DeployedBus) -> None:
    heard = bytearray()

    async def in_the_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"INFO "
            b'{"server_id":"x","version":"2.15.1","auth_required":true,"max_payload":1048576}\r\n'
        )
        while data := await reader.read(4096):
            heard.extend(data)
        writer.close()

    async with await asyncio.start_server(in_the_clear, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert "NATS_URL" in await refusal(replace(bus, port=port).operator)
        server.close()
    assert heard, "nobody spoke to it"
    assert bus.passwords["operator"].encode() not in heard
    assert b"CONNECT" not in heard
