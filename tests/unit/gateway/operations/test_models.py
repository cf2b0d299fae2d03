"""Models that are in use and others: shown without keys, tried, written into the settings file."""

import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
from dotenv import dotenv_values
from pydantic import SecretStr

from services.gateway.operations.model_trials import Models
from services.query.settings import QuerySettings
from services.query.wiring import try_reranker
from tests.support.access import client
from tests.support.openai_provider import Provider, serving
from tests.support.querying import QueryHarness

KEY = "sk-in-use-0123456789"
OTHER_KEY = "sk-wanted-0123456789"
HERE = (ip_network("127.0.0.0/8"),)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@asynccontextmanager
async def api_of(
    values: Mapping[str, Any] | None = None, *, networks: Any = HERE, file: Path | None = None
) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the API of a service with these settings of models."""
    settings = QuerySettings().model_copy(update=dict(values or {}))
    app = QueryHarness().app(models=Models(settings, try_reranker, networks, file))
    async with client(app) as api:
        yield api


def in_use(provider: Provider) -> dict[str, Any]:
    return {"llm_base_url": provider.url, "llm_model": "good", "llm_api_key": SecretStr(KEY)}


def language(address: str, **values: str) -> dict[str, str]:
    return {"part": "language", "binding": "openai", "address": address, "model": "good", **values}


async def trial_of(api: httpx.AsyncClient, **candidate: str) -> dict[str, Any]:
    answer = await api.post("/operations/models/test", json={"candidate": candidate})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_models_in_use_are_shown_and_tried_without_their_keys(provider: Provider) -> None:
    address = provider.url.replace("://", "://ada:secret-word@")
    async with api_of({**in_use(provider), "llm_base_url": address}) as api:
        overview = await api.get("/operations/models")
        trial = (await api.post("/operations/models/test", json={"part": "language"})).json()
        reranker_trial = (
            await api.post("/operations/models/test", json={"part": "reranker"})
        ).json()
    language_model, embedder = overview.json()["models"]
    assert language_model["address"] == provider.url
    assert (language_model["has_key"], len(language_model["roles"])) == (True, 4)
    assert (embedder["part"], embedder["binding"]) == ("embedding", "built-in")
    assert KEY not in overview.text
    assert "secret-word" not in overview.text
    assert (trial["works"], reranker_trial["works"]) == (True, False)
    assert len(provider.requests) == 1


async def test_the_key_in_use_goes_to_its_own_server_alone(provider: Provider) -> None:
    async with serving() as other, api_of(in_use(provider)) as api:
        assert (await trial_of(api, **language(provider.url, model="good")))["works"]
        assert (await trial_of(api, **language(other.url)))["works"]
        assert (await trial_of(api, **language(other.url, key=OTHER_KEY)))["works"]
    assert provider.keys == {f"Bearer {KEY}"}
    assert other.keys == {"Bearer not-needed", f"Bearer {OTHER_KEY}"}


async def test_a_candidate_that_fails_says_why_without_its_key(provider: Provider) -> None:
    async with api_of() as api:
        wrong_key = await trial_of(api, **language(provider.url, model="status:401", key=OTHER_KEY))
        no_server = await trial_of(api, **language("http://127.0.0.1:1/v1", key=OTHER_KEY))
    for trial in (wrong_key, no_server):
        assert not trial["works"]
        assert trial["result"]
        assert OTHER_KEY not in trial["result"]


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8222/v1",
        "https://10.1.2.3/v1",
        "http://169.254.169.254/latest",
        "https://localhost/v1",
        "http://93.184.216.34/v1",
        "https://user:word@93.184.216.34/v1",
        "file:///etc/passwd",
        "https://models.example\\@127.0.0.1/v1",
    ],
)
@pytest.mark.parametrize("part", ["language", "embedding", "reranker"])
async def test_no_other_private_server_is_asked(address: str, part: str) -> None:
    binding = {"reranker": "jina"}.get(part, "openai")
    body = {"part": part, "binding": binding, "address": address, "model": "good"}
    async with api_of(networks=()) as api:
        trial = await trial_of(api, **body)
    assert not trial["works"]
    # The guard of the tests resolves no other machine.
    refusal = "private or reserved|needs https|is no URL|must be https|has no address"
    assert re.search(refusal, trial["result"])


async def test_ollama_of_this_machine_is_not_asked_unless_it_may_be() -> None:
    body = {"part": "language", "binding": "ollama", "model": "good"}
    async with api_of(networks=()) as api:
        trial = await trial_of(api, **body)
    assert (trial["works"], "MODEL_ALLOWED_NETWORKS" in trial["result"]) == (False, True)


async def test_a_name_is_not_resolved_again_between_the_check_and_the_connection(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer leads to the provider, every later one elsewhere."""
    original = socket.getaddrinfo
    lookups: list[str] = []

    def resolve(host: Any, *arguments: Any, **options: Any) -> Any:
        if host == "models.test":
            lookups.append(host)
            host = "127.0.0.1" if len(lookups) == 1 else "127.99.99.99"
        return original(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    async with api_of() as api:
        address = provider.url.replace("127.0.0.1", "models.test")
        assert (await trial_of(api, **language(address)))["works"]
    assert lookups == ["models.test"]


@pytest.mark.parametrize(
    "values",
    [
        {"binding": "nobody"},
        {"part": "language", "binding": "cohere"},
        {"binding": "bedrock", "address": "https://models.example"},
        {"model": ""},
        {"key": f"{OTHER_KEY}\nX-Other: 1"},
        {"key": f"{OTHER_KEY}é"},
    ],
)
async def test_what_is_no_model_is_refused_and_no_key_repeated(values: dict[str, str]) -> None:
    body = {**language("https://models.example/v1"), **values}
    async with api_of() as api:
        answer = await api.post("/operations/models/test", json={"candidate": body})
    assert answer.status_code == 422
    assert OTHER_KEY not in answer.text


async def test_a_model_that_works_is_written_for_the_next_start(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".env"
    file.write_text("RECEIPTS=full\nLLM_BINDING_API_KEY=sk-old\n")
    monkeypatch.setenv("LLM_MODEL", "of-the-shell")
    async with api_of(file=file) as api:
        answer = await api.put("/operations/models", json=language(provider.url, key=OTHER_KEY))
        assert answer.status_code == 200, answer.text
        vectors = {**language(provider.url), "part": "embedding"}
        assert (await api.put("/operations/models", json=vectors)).status_code == 200
    assert OTHER_KEY not in answer.text
    assert answer.json()["overridden"] == ["LLM_MODEL"]
    assert file.stat().st_mode & 0o777 == 0o600
    variables = dotenv_values(file)
    assert variables["RECEIPTS"] == "full"
    assert "LLM_BINDING_API_KEY" not in variables
    assert (variables["LLM_API_KEY"], variables["LLM_BASE_URL"]) == (OTHER_KEY, provider.url)
    assert int(variables["EMBEDDING_DIM"] or 0) > 0


async def test_nothing_is_written_where_there_is_no_file_or_the_model_fails(
    provider: Provider, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    async with api_of(file=file) as api:
        failure = await api.put("/operations/models", json=language("http://127.0.0.1:1/v1"))
    async with api_of() as api:
        refusal = await api.put("/operations/models", json=language(provider.url))
    assert (failure.status_code, refusal.status_code) == (503, 400)
    assert not file.exists()
