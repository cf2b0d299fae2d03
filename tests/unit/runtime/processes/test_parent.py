"""Processes behind one port: the parts that can be told without starting any."""

import asyncio
import socket
from collections.abc import Generator

import pytest

from runtime.errors import ConfigurationError
from runtime.processes import worker
from runtime.processes.dispatcher import ConnectionDispatcher, listening_sockets, receive_connection
from runtime.processes.parent import STABLE_LIFE, count_ends, exit_code


@pytest.fixture
def line() -> Generator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        yield ours, theirs


def test_ends_in_a_row_are_counted_until_a_process_has_lived_for_a_while() -> None:
    assert [count_ends(before, 1.0) for before in (0, 1, 7)] == [1, 2, 8]
    assert count_ends(7, STABLE_LIFE) == 1


@pytest.mark.parametrize(("code", "shown"), [(1, 1), (3, 3), (0, 1), (-9, 137), (-15, 143)])
def test_the_keeper_of_a_worker_that_failed_never_ends_well(code: int, shown: int) -> None:
    assert exit_code(code) == shown


def test_a_name_with_two_addresses_is_listened_on_at_both(monkeypatch: pytest.MonkeyPatch) -> None:
    result = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: result)
    sockets = listening_sockets("both", 0)
    try:
        assert [listener.getsockname()[0] for listener in sockets] == ["127.0.0.1", "127.0.0.2"]
    finally:
        for listener in sockets:
            listener.close()


def test_a_port_in_use_is_a_fault_of_the_configuration() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            ConfigurationError,
            match=rf"cannot listen on 127\.0\.0\.1, port {port}: Address already",
        ):
            listening_sockets("127.0.0.1", port)


def test_a_process_that_nobody_keeps_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(worker.CONTROL_SOCKET_VARIABLE, raising=False)
    assert worker.own_control_socket() is None
    assert not worker.is_worker()


def test_a_worker_finds_its_line_and_hands_it_on_to_nobody(
    monkeypatch: pytest.MonkeyPatch, line: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = line
    monkeypatch.setenv(worker.CONTROL_SOCKET_VARIABLE, f"1 {theirs.dup().detach()}")
    here = worker.own_control_socket()
    assert here is not None
    with here.connection:
        assert (here.first, here.connection.get_inheritable(), worker.is_worker()) == (
            True,
            False,
            True,
        )
        here.ready()
        assert ours.recv(10) == worker.READY


async def test_while_nobody_takes_connections_they_wait(
    line: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = line
    dealer = ConnectionDispatcher(listening_sockets("127.0.0.1", 0))
    got = list[socket.socket]()
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, dealer.sockets[0].getsockname())
        dealer.add(ours)
        dealer.remove(ours)
        await asyncio.sleep(0)
        assert receive_connection(theirs, got.append)
        assert got == []
        dealer.add(ours)
        async with asyncio.timeout(20):
            while not got:
                assert receive_connection(theirs, got.append)
                await asyncio.sleep(0)
        with got[0] as connection:
            assert connection.getpeername() == client.getsockname()
            assert not connection.get_inheritable()
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    dealer.close()
    ours.close()
    assert not receive_connection(theirs, got.append)


async def test_a_process_that_is_gone_or_does_not_read_is_passed_over(
    line: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = line
    full, unread = socket.socketpair()
    gone, other = socket.socketpair()
    other.close()
    dealer = ConnectionDispatcher(listening_sockets("127.0.0.1", 0))
    got = list[socket.socket]()
    with full, unread, gone:
        full.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                full.send(b"." * 1000)
        for taker in (full, gone, ours):
            dealer.add(taker)
        for _ in range(4):
            client = socket.create_connection(dealer.sockets[0].getsockname())
            got.append(client)
        async with asyncio.timeout(20):
            while len(got) < 8:
                assert receive_connection(theirs, got.append)
                await asyncio.sleep(0)
    dealer.close()
    for connection in got:
        connection.close()
