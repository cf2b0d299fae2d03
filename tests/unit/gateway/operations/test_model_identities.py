"""Who stands in the place of a key, as an identity in Azure or Google Cloud: a server that somebody
types gets no token, key or secret of this deployment, whatever binding it is tried with.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from services.gateway.operations.model_candidates import BINDINGS, BUILT_IN
from services.gateway.operations.model_trials import Models
from services.query.settings import QuerySettings
from services.query.wiring import try_reranker
from tests.support import model_servers as servers
from tests.support.access import client
from tests.support.model_servers import ModelServer, SeenRequest, azure, entra, machine, vertex
from tests.support.querying import QueryHarness

SECRET = "held-secret-0123456789"
"""Stands in every secret of the settings."""

HERE = (ip_network("127.0.0.0/8"),)

KEYS: list[dict[str, str]] = [{}, {"key": ""}]

Identity = Callable[[str, Path, pytest.MonkeyPatch], Mapping[str, Any]]


def application(url: str, _: Path, __: pytest.MonkeyPatch) -> Mapping[str, Any]:
    return {
        "azure_tenant_id": entra.TENANT,
        "azure_client_id": entra.CLIENT,
        "azure_client_secret": SecretStr(servers.KEY),
        "azure_authority_host": url,
    }


def workload(url: str, folder: Path, patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    file = folder / "token"
    file.write_text(servers.KEY)
    without_secret = {"azure_client_secret": SecretStr("")}
    named_file = {"azure_federated_token_file": str(file)}
    return {**application(url, folder, patch), **without_secret, **named_file}


def machine_identity(url: str, _: Path, patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    for name, value in machine.app_service(url).items():
        patch.setenv(name, value)
    return {"azure_token_credentials": "ManagedIdentityCredential"}


async def answer_azure(request: SeenRequest) -> Response:
    """Azure with Entra ID and a machine's identity."""
    is_machine = request.path == machine.APP_SERVICE or machine.TOKEN in str(request.headers)
    return await (machine.answer if is_machine else entra.answer)(request)


async def answer_anything(request: SeenRequest) -> Response:
    return JSONResponse({"error": {"message": f"no {request.path} here"}}, 400)


def settings_of(values: Mapping[str, Any]) -> QuerySettings:
    secrets = (
        "llm_api_key",
        "embedding_api_key",
        "rerank_binding_api_key",
        "openai_api_key",
        "aws_bearer_token_bedrock",
    )
    held = {name: SecretStr(SECRET) for name in secrets}
    fields = {"llm_extra_body": f'{{"secret": "{SECRET}"}}'}
    return QuerySettings().model_copy(update={**held, **fields, **values})


@asynccontextmanager
async def api_of(settings: QuerySettings, file: Path | None = None) -> AsyncGenerator[Any]:
    models = Models(settings, try_reranker, HERE, file)
    async with client(QueryHarness().app(models=models)) as api:
        yield api


async def tried(api: httpx.AsyncClient, **candidate: str) -> dict[str, Any]:
    answer = await api.post("/operations/models/test", json={"candidate": candidate})
    assert answer.status_code == 200, answer.text
    return answer.json()


TYPED = [
    {"part": part, "binding": binding, "model": "m"}
    for part, bindings in BINDINGS.items()
    for binding in bindings
    if binding not in (BUILT_IN, "bedrock")  # no address of theirs can be typed
]
AZURE = [model for model in TYPED if model["binding"] == "azure_openai"]


async def try_all(api: httpx.AsyncClient, models: list[dict[str, str]], address: str) -> None:
    """Try these models at the address, without a key and with an empty one."""
    models = [{**model, "address": address, **key} for model in models for key in KEYS]
    trials = await asyncio.gather(*(tried(api, **model) for model in models))
    assert not any(trial["works"] for trial in trials)


def check_that_nothing_was_told(foreign: ModelServer, *tokens: str) -> None:
    assert foreign.requests
    sent_text = str(
        [(seen.path, seen.query, dict(seen.headers), seen.body) for seen in foreign.requests]
    )
    for word in (SECRET, servers.KEY, *tokens):
        assert word not in sent_text


@pytest.mark.parametrize(
    ("identity", "models"),
    [(application, TYPED), (workload, AZURE), (machine_identity, AZURE)],
)
async def test_who_asks_azure_asks_no_server_that_somebody_types(
    identity: Identity,
    models: list[dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with servers.serving(answer_azure) as own, servers.serving(answer_anything) as foreign:
        in_use = {
            "llm_binding": "azure_openai",
            "llm_base_url": own.url,
            "llm_model": azure.DEPLOYMENT,
            "embedding_binding": "azure_openai",
            "embedding_base_url": own.url,
            **identity(own.url, tmp_path, monkeypatch),
        }
        keyless = {"llm_api_key": SecretStr(""), "embedding_api_key": SecretStr("")}
        async with api_of(settings_of({**in_use, **keyless})) as api:
            await try_all(api, models, foreign.url)
            assert not own.token_requests, "no token was fetched for them"
            own_model = {"part": "language", "binding": "azure_openai", "address": own.url}
            trial = await tried(api, **own_model, model=azure.DEPLOYMENT)
            assert trial["works"], trial
            assert own.token_requests
    check_that_nothing_was_told(foreign, entra.TOKEN, machine.TOKEN)


async def test_who_asks_google_cloud_asks_no_server_that_somebody_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with servers.serving(vertex.answer) as own, servers.serving(answer_anything) as foreign:
        file = vertex.credentials_file(own.url)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
        in_use = {
            "llm_binding": "gemini",
            "llm_base_url": own.url,
            "google_genai_use_vertexai": True,
            "google_cloud_project": vertex.PROJECT,
            "google_cloud_location": vertex.LOCATION,
        }
        settings_file = tmp_path / ".env"
        async with api_of(settings_of(in_use), settings_file) as api:
            await try_all(api, TYPED, foreign.url)
            assert not own.token_requests, "no token was fetched for them"
            # Tokens are the binding's: the next start would send them to any address of it.
            for address, key in ((foreign.url, "other-key"), ("", "other-key")):
                model = {"part": "language", "binding": "gemini", "model": "m", "key": key}
                saved = await api.put("/operations/models", json={**model, "address": address})
                assert (saved.status_code, settings_file.exists()) == (400, False)
                assert "GOOGLE_GENAI_USE_VERTEXAI" in saved.text
            trial = await tried(api, part="language", binding="gemini", address=own.url, model="m")
            assert own.token_requests, trial
    check_that_nothing_was_told(foreign, vertex.TOKEN)
