"""The command line's client: it brings the key of the environment, waits when told to, and says what is wrong."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from runtime.errors import ConfigurationError, InvalidInput, Unavailable
from standalone import client as commands
from standalone.client import api, call, counts
from tests.support.access import READER, SEVERAL, WRITER, behind
from tests.support.querying import World, library_of_two


@pytest_asyncio.fixture
async def world() -> World:
    return await library_of_two()


@pytest.fixture
def served(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Clients reach a real application in this process."""
    app = world.app(behind(lightstream_api_keys=SEVERAL, rate_limit_per_minute=60))
    real = httpx.AsyncClient

    def inside(**options: Any) -> httpx.AsyncClient:
        return real(transport=httpx.ASGITransport(app), **options)

    monkeypatch.setattr(commands.httpx, "AsyncClient", inside)
    return world


@pytest_asyncio.fixture
async def reader(served: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    monkeypatch.setenv("LIGHTRAG_API_KEY", "another-key-of-no-use")
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", READER)
    async with api("http://localhost", "w") as client:
        yield client


async def test_the_key_of_the_environment_is_sent_our_own_name_first(reader: httpx.AsyncClient) -> None:
    assert (await counts(reader))["all"] == 2


async def test_without_a_key_the_way_out_is_named(served: World) -> None:
    async with api("http://localhost", "w") as client:
        with pytest.raises(ConfigurationError, match=r"API Key required; set LIGHTSTREAM_API_KEY"):
            await counts(client)


async def test_a_key_for_something_else_is_told_from_wrong_input(
    reader: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="may read only") as raised:
        await call(reader, "POST", "/documents/text", {"text": "x"})
    assert READER not in str(raised.value)
    with pytest.raises(InvalidInput, match="too short"):
        await call(reader, "POST", "/query", {"query": "a"})
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", WRITER)
    async with api("http://localhost", "theirs") as client:
        with pytest.raises(ConfigurationError, match="not for this workspace"):
            await counts(client)


async def test_who_asks_too_often_waits_as_long_as_it_is_told(
    reader: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [await counts(reader) for _ in range(62)]
    monkeypatch.setattr(commands, "WAITS", 0)
    with pytest.raises(Unavailable, match="too many requests"):
        for _ in range(62):
            await counts(reader)


async def test_variables_of_no_use_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_TIMEOUT", "a while")
    with pytest.raises(ConfigurationError, match="LLM_TIMEOUT") as raised:
        async with api("http://localhost", "w"):
            pass
    assert "a while" not in str(raised.value)
