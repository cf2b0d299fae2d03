"""Where webhooks may lead: no private address, and where a name led once."""

import asyncio
import socket
from typing import Any

import pytest

from services.gateway.egress import AddressRefused, resolved
from tests.support.webhook_bench import HERE

PRIVATE = (
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "240.0.0.1",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fc00::1]",
    "[ff02::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "2130706433",
    "127.1",
    "0x7f.1",
    "192.0.0.8",
    "192.0.0.9",
    "192.88.99.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.175.48.1",
    "192.0.2.1",
    "203.0.113.1",
    "198.51.100.1",
    "198.19.255.255",
    "[::ffff:192.88.99.1]",
    "[::7f00:1]",
    "[::ffff:0:7f00:1]",
    "[64:ff9b:1::1]",
    "[100::1]",
    "[100:0:0:1::1]",
    "[2001:1::1]",
    "[2001:2::1]",
    "[2001:20::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[fec0::1]",
    "[2620:4f:8000::1]",
    "[4000::1]",
)


@pytest.mark.parametrize("host", PRIVATE)
async def test_private_and_reserved_addresses_are_refused_however_they_are_written(
    host: str,
) -> None:
    with pytest.raises(AddressRefused):
        await resolved(f"https://{host}/hook", ())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://8.8.8.8/",
        "https://",
        "8.8.8.8/hook",
        "https://a:b@8.8.8.8/",
        "https://8.8.8.8/#x",
        "http://8.8.8.8/",
        "https://8.8.8.8:99999/",
        "https://[::1/",
        "https://8.8.8.8/a\r\nX-Other: b",
        "https://8.8.8.8/a\nb",
        "https://8.8.8.8\r/",
        "\thttps://8.8.8.8/",
        "https://8.8.8.8/a b",
        "https://8.8.8.8/ü",
        "https://8.8.8.8\\@10.0.0.1/",
    ],
)
async def test_what_is_no_safe_url_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        await resolved(url, ())


async def test_a_name_is_resolved_once_and_its_address_is_what_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [["8.8.8.8"], ["8.8.8.8", "10.0.0.1"], ["10.0.0.1"]]

    async def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, 0, 0, "", (address, 443)) for address in answers.pop(0)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    (target,) = await resolved("https://hooks.example:8443/a?b=c", ())
    assert (target.pinned_url, target.authority) == (
        "https://8.8.8.8:8443/a?b=c",
        "hooks.example:8443",
    )
    for _ in range(2):
        with pytest.raises(AddressRefused):
            await resolved("https://hooks.example/", ())
    assert answers == []


async def test_an_allowed_network_may_be_reached_also_without_tls() -> None:
    (target,) = await resolved("http://127.0.0.1:8080/hook", HERE)
    assert target.pinned_url == "http://127.0.0.1:8080/hook"
    with pytest.raises(AddressRefused):
        await resolved("http://10.0.0.1/", HERE)
