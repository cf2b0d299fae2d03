"""NATS_URL names one server or several of a cluster; the credentials are the connection's, never a
server's.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from runtime.bus.nats.addresses import BusAddress, TlsFiles, parse_bus_address
from runtime.errors import ConfigurationError
from runtime.settings import Settings


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("nats://127.0.0.1:4222", BusAddress(("nats://127.0.0.1:4222",))),
        ("nats://u:p@one:4222", BusAddress(("nats://one:4222",), "u", "p")),
        (
            "nats://u:p@one:4222,nats://two:4223",
            BusAddress(("nats://one:4222", "nats://two:4223"), "u", "p"),
        ),
        ("nats://u:p@one, two:4223,", BusAddress(("nats://one", "nats://two:4223"), "u", "p")),
        ("nats://token@one:4222", BusAddress(("nats://one:4222",), "token")),
        ("tls://u:p@[::1]:4222", BusAddress(("tls://[::1]:4222",), "u", "p", TlsFiles())),
        (
            "tls://u:p@one:4222,two:4222?ca=/a.pem&cert=/b.pem&key=/c.key",
            BusAddress(
                ("tls://one:4222", "tls://two:4222"),
                "u",
                "p",
                TlsFiles("/a.pem", "/b.pem", "/c.key"),
            ),
        ),
    ],
)
def test_servers_and_credentials_are_told_apart(url: str, address: BusAddress) -> None:
    assert parse_bus_address(url) == address


def test_a_name_without_a_password_is_a_token() -> None:
    assert parse_bus_address("nats://t@one:4222").credentials == {"token": "t"}
    assert parse_bus_address("nats://u:p@one:4222").credentials == {"user": "u", "password": "p"}
    assert parse_bus_address("nats://one:4222").credentials == {}


@pytest.mark.parametrize(
    "url",
    [
        "",
        " , ",
        "nats://",
        "nats://u:secret@:4222",
        "nats://u:secret@one:port",
        "nats://u:secret@one?ca=/a.pem",
        "tls://u:secret@one,nats://two",
        "tls://u:secret@one?cert=/b.pem",
        "tls://u:secret@one?verify=no",
        "tls://u:secret@one?insecure",
    ],
)
def test_what_names_no_server_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="NATS_URL must be nats://") as error:
        parse_bus_address(url)
    assert "secret" not in str(error.value)


def test_who_uses_no_tls_hands_none_to_the_client_and_who_does_speaks_it_first(
    tmp_path: Path,
) -> None:
    assert parse_bus_address("nats://u:p@one:4222").encryption == {}
    options = parse_bus_address("tls://u:p@one:4222").encryption
    assert options["tls_handshake_first"] is True
    assert options["tls"].check_hostname
    with pytest.raises(ConfigurationError, match=r"ca=.*absent.pem"):
        _ = parse_bus_address(f"tls://u:secret@one:4222?ca={tmp_path}/absent.pem").encryption


@pytest.mark.parametrize("url", ["nats://a:4222,b:4222", "tls://kb:pw@a:4222?ca=/ca.pem"])
def test_settings_give_the_address_what_calls_of_jetstream_begin_with(url: str) -> None:
    settings = Settings(nats_url=url, nats_api_prefix="$JS.hub.API")
    address = parse_bus_address(settings.nats_url)
    assert address == replace(parse_bus_address(url), api_prefix="$JS.hub.API")
    again = Settings(nats_url=settings.nats_url, nats_api_prefix="another")
    assert again.nats_url == settings.nats_url
    assert Settings(nats_url=url).nats_url == url
