"""Connections that another process accepted are served like those of one's own: bounded, and no
forged address.
"""

import asyncio
import socket

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from runtime.errors import ConfigurationError
from runtime.http_server import Server, server_config
from runtime.settings import Settings


async def tells_the_client(scope: Scope, receive: Receive, send: Send) -> None:
    client = Request(scope).client
    await PlainTextResponse(client.host if client else "")(scope, receive, send)


async def answered(settings: Settings, head: bytes) -> bytes:
    """What a worker answers on a connection that is dealt to it."""
    server = Server(server_config(tells_the_client, settings))
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        connection, _ = await loop.sock_accept(listener)
    server.accept(connection)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + head + b"\r\n")
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize(
    ("proxies", "address"),
    [
        ("", b"127.0.0.1"),
        ("10.0.0.0/8", b"127.0.0.1"),
        ("10.0.0.0/8,127.0.0.1", b"203.0.113.9"),
        ("*", b"198.51.100.7"),
    ],
)
async def test_a_forwarded_address_counts_only_from_a_proxy_that_was_named(
    proxies: str, address: bytes
) -> None:
    header = b"X-Forwarded-For: 198.51.100.7, 203.0.113.9\r\n"
    answer = await answered(Settings(forwarded_allow_ips=proxies), header)
    assert answer.partition(b"\r\n\r\n")[2] == address


async def test_a_dealt_connection_is_bounded_too() -> None:
    answer = await answered(Settings(http_max_headers=10), b"a: b\r\n" * 20)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"HTTP_MAX_HEADERS" in answer


@pytest.mark.parametrize("addresses", ["localhost", "10.0.0.0/99", "1.2.3.4,proxy"])
def test_what_is_no_address_is_refused(addresses: str) -> None:
    with pytest.raises(ConfigurationError, match="FORWARDED_ALLOW_IPS: give addresses or networks"):
        Settings(forwarded_allow_ips=addresses)


def test_a_trust_in_everybody_is_said_aloud() -> None:
    assert any(
        "FORWARDED_ALLOW_IPS" in sentence
        for sentence in Settings(forwarded_allow_ips="*").contradictions
    )
    assert (
        Settings(forwarded_allow_ips=" 10.0.0.0/8 , ::1,").forwarded_allow_ips == "10.0.0.0/8,::1"
    )


async def test_a_server_ends_when_it_is_told_to_and_not_at_its_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.http_server.DATE_SECONDS", 600.0)
    server = Server(server_config(tells_the_client, Settings(), host="127.0.0.1", port=0))
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
        server.end()
        await serving
    assert not server.servers or not any(listener.is_serving() for listener in server.servers)


async def test_answers_have_the_date_of_their_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.http_server.DATE_SECONDS", 0.01)
    server = Server(server_config(tells_the_client, Settings(), host="127.0.0.1", port=0))
    serving = asyncio.create_task(server.serve())
    dates = set[bytes]()
    async with asyncio.timeout(20):
        while len(dates - {b""}) < 2:
            await asyncio.sleep(0.01)
            dates |= {
                value for name, value in server.server_state.default_headers if name == b"date"
            }
        server.end()
        await serving
