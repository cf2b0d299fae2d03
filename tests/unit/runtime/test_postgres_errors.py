"""An error of PostgreSQL says where it was looked for and what to do, and holds no secret."""

import asyncpg
import pytest

from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.postgres.address import parse_address
from runtime.stores.postgres.failures import translated


@pytest.mark.parametrize(
    ("error", "kind", "way_out"),
    [
        (ConnectionRefusedError(111, "hunter2"), Unavailable, "start it, or correct STORES_URL"),
        (asyncpg.InvalidPasswordError("hunter2"), ConfigurationError, "correct STORES_URL"),
        (asyncpg.UndefinedTableError("hunter2"), Unavailable, "a service makes them"),
    ],
)
def test_an_error_names_host_port_and_the_way_out(
    error: Exception, kind: type[Exception], way_out: str
) -> None:
    server = parse_address("postgresql://ada:hunter2@db/rag").server
    translation = translated(error, server, has_answered=False)
    assert isinstance(translation, kind)
    assert "PostgreSQL at db:5432 " in str(translation)
    assert way_out in str(translation)
    assert "hunter2" not in str(translation)
