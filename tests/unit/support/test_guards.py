"""What conftest.py promises: tests reach this machine only, and see none of the developer's
settings.
"""

import os
import socket

import pytest

from runtime.settings import Settings
from tests.conftest import is_hidden


@pytest.mark.parametrize("host", ["192.0.2.1", "example.com", "2001:db8::1"])
def test_no_other_machine_is_reached(host: str) -> None:
    with pytest.raises(PermissionError, match="may not reach"):
        socket.create_connection((host, 80), timeout=0.1)


def test_a_datagram_leaves_neither() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender, pytest.raises(PermissionError):
        sender.sendto(b"", ("192.0.2.1", 9))


def test_this_machine_is_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_no_key_and_no_store_of_the_developer_is_seen() -> None:
    assert not [
        name
        for name in os.environ
        if name.startswith(("OPENAI_", "LLM_", "EMBEDDING_", "MONGO_", "NEO4J_"))
    ]
    assert not Settings().has_llm
    assert not Settings().has_embedding_endpoint


def test_a_server_for_tests_is_seen_where_one_is_named() -> None:
    assert is_hidden("LIGHTSTREAM_API_KEYS")
    assert not is_hidden("LIGHTSTREAM_TEST_MONGODB_URI")
    assert not is_hidden("LIGHTSTREAM_TEST_QDRANT_URI")
