"""Which ports a stack takes."""

import socket
from collections.abc import Iterator

import pytest

from runtime.errors import InvalidInput
from standalone import ports
from standalone.processes import free_port


@pytest.fixture
def taken() -> Iterator[int]:
    """A port somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def test_wanted_ports_are_kept_while_they_are_free() -> None:
    wanted = ports.choose({})
    assert ports.choose(wanted) == wanted


def test_a_taken_port_is_replaced_by_a_free_one(taken: int) -> None:
    wanted = {**ports.choose({}), "bus": taken}
    chosen = ports.choose(wanted)
    assert chosen["bus"] != taken
    assert ports.is_free(chosen["bus"])
    assert {part for part in wanted if wanted[part] != chosen[part]} == {"bus"}


def test_a_port_on_all_addresses_is_taken_too() -> None:
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        assert not ports.is_free(int(listener.getsockname()[1]))


def test_no_two_parts_share_a_port() -> None:
    port = free_port()
    chosen = ports.choose(dict.fromkeys(ports.USUAL, port))
    assert len(set(chosen.values())) == len(ports.USUAL)
    assert port in chosen.values()


def test_other_ports_lie_where_no_client_gets_one() -> None:
    assert all(ports.LOWEST <= port < ports.HIGHEST for port in ports.choose({}).values())


def test_the_port_the_user_asks_for_is_taken_or_refused(taken: int) -> None:
    free = free_port()
    assert ports.choose({}, free)["api"] == free
    with pytest.raises(InvalidInput, match=f"port {taken} is taken"):
        ports.choose({}, taken)
