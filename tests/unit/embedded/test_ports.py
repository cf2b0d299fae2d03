"""Which ports a stack takes."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from embedded import ports
from embedded.processes import free_port
from runtime.errors import ConfigurationError, InvalidInput

TRIES = 5
"""Whatever else runs may take a free port between two claims."""


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def replaced_parts(**changes: int) -> set[str]:
    """Return the parts that get another port than one that was free a moment before, with these
    changes.
    """
    with ports.claim_ports({}) as free:
        pass
    wanted_ports = {**free, **changes}
    with ports.claim_ports(wanted_ports) as result:
        assert all(map(ports.is_free, result.values()))
        return {part for part in wanted_ports if wanted_ports[part] != result[part]}


def test_wanted_ports_are_kept_while_they_are_free() -> None:
    assert any(not replaced_parts() for _ in range(TRIES))


def test_what_a_stack_does_not_use_gets_no_port() -> None:
    with ports.claim_ports(ports.DEFAULT_PORTS, unused_parts=["graph", "graph-http"]) as result:
        assert set(ports.DEFAULT_PORTS) - set(result) == {"graph", "graph-http"}


def test_a_taken_port_is_replaced_by_a_free_one(taken_port: int) -> None:
    assert any(replaced_parts(bus=taken_port) == {"bus"} for _ in range(TRIES))


def test_no_two_stacks_choose_the_same_port_before_either_listens() -> None:
    with (
        ports.claim_ports(ports.DEFAULT_PORTS) as first,
        ports.claim_ports(ports.DEFAULT_PORTS) as second,
        ports.claim_ports(first) as third,
    ):
        assert len({*first.values(), *second.values(), *third.values()}) == 3 * len(
            ports.DEFAULT_PORTS
        )
        with (
            pytest.raises(InvalidInput, match=f"port {first['api']} is taken"),
            ports.claim_ports({}, first["api"]),
        ):
            pass
    with ports.claim_ports(first) as again:
        assert again == first


CLAIMING = """
import sys
from embedded import ports
with ports.claim_ports({}, int(sys.argv[1])):
    print("claimed", flush=True)
    sys.stdin.read()
"""


def test_the_claims_of_a_killed_process_end_with_it() -> None:
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-c", CLAIMING, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        with pytest.raises(InvalidInput), ports.claim_ports({}, port):
            pass
        process.kill()
        process.wait()
    with ports.claim_ports({}, port) as result:
        assert result["api"] == port


def test_a_port_on_all_addresses_is_taken_too() -> None:
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        assert not ports.is_free(int(listener.getsockname()[1]))


def test_no_two_parts_share_a_port() -> None:
    port = free_port()
    with ports.claim_ports(dict.fromkeys(ports.DEFAULT_PORTS, port)) as result:
        assert len(set(result.values())) == len(ports.DEFAULT_PORTS)
        assert port in result.values()


def test_other_ports_lie_where_no_client_gets_one() -> None:
    with ports.claim_ports({}) as result:
        assert all(ports.LOWEST <= port < ports.HIGHEST for port in result.values())


def test_the_port_the_user_asks_for_is_taken_or_refused(taken_port: int) -> None:
    free = free_port()
    with ports.claim_ports({}, free) as result:
        assert result["api"] == free
    with (
        pytest.raises(InvalidInput, match=f"port {taken_port} is taken"),
        ports.claim_ports({}, taken_port),
    ):
        pass


@pytest.mark.parametrize(
    ("host", "port", "address"),
    [
        ("", "", ports.USUAL_ADDRESS),
        ("0.0.0.0", "9777", ports.ApiAddress("0.0.0.0", 9777)),
        ("", "0", ports.USUAL_ADDRESS),
    ],
)
def test_the_address_of_the_api_is_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, host: str, port: str, address: ports.ApiAddress
) -> None:
    monkeypatch.setenv("HOST", host)
    monkeypatch.setenv("PORT", port)
    assert ports.configured_address() == address


@pytest.mark.parametrize("port", ["http", "-1", "65536"])
def test_a_port_that_cannot_be_is_named(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setenv("PORT", port)
    with pytest.raises(ConfigurationError, match="PORT: must be a number from 1 to 65535"):
        ports.configured_address()
