"""The query service as commands ask it: with the key of the environment, in the workspace that is
meant.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from operations.query_service import query_address, query_client
from runtime.errors import ConfigurationError, InvalidInput
from tests.support.access import READER, SEVERAL, WRITER, behind
from tests.support.querying import library_of_two
from tests.support.served import served


@pytest_asyncio.fixture
async def url() -> AsyncIterator[str]:
    app = (await library_of_two()).app(behind(lightstream_api_keys=SEVERAL))
    async with served(app) as url:
        yield url


async def test_the_key_of_the_environment_is_sent_our_own_name_first(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGHTRAG_API_KEY", "another-key-of-no-use")
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", READER)
    async with query_client(url, "w") as client:
        assert (await client.status_counts())["all"] == 2


async def test_without_a_key_the_way_out_is_named(url: str) -> None:
    async with query_client(url, "w") as client:
        with pytest.raises(ConfigurationError, match=r"API Key required; .*LIGHTSTREAM_API_KEY"):
            await client.status_counts()


async def test_a_key_for_something_else_is_told_from_wrong_input(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", READER)
    async with query_client(url, "w") as client:
        with pytest.raises(ConfigurationError, match="may read only") as error:
            await client.add_text("x")
        assert READER not in str(error.value)
        with pytest.raises(InvalidInput, match="too short"):
            await client.query("a")
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", WRITER)
    async with query_client(url, "theirs") as client:
        with pytest.raises(ConfigurationError, match="not for this workspace"):
            await client.status_counts()


def test_variables_of_no_use_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_URL", "nats://bus:4222")
    monkeypatch.setenv("LIGHTSTREAM_API_URL", "ftp://secret@query")
    for use in (lambda: query_client("http://query", "w"), lambda: query_address(None)):
        with pytest.raises(ConfigurationError, match="LIGHTSTREAM_API_URL: must be") as error:
            use()
        assert "secret" not in str(error.value)


def test_variables_of_models_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_TIMEOUT", "a while")
    monkeypatch.setenv("NATS_URL", "nats://bus:4222")
    assert query_address(None) == "http://127.0.0.1:9621"
    assert repr(query_client("http://query", "w")) == "AsyncLightstream(workspace='w')"
