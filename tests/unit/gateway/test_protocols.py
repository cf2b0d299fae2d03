"""The routes of Ollama and OpenAI: LightRAG's fixed answers, errors in each protocol's shape, and
their description.
"""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from runtime.bus.memory import MemoryBlobs
from services.gateway.app import create_app
from services.gateway.auth.config import AuthConfig
from services.gateway.body_limits import BodyLimits
from services.gateway.errors import error_response
from tests.support.access import KEY, WRITER, behind, client, keyed
from tests.support.querying import QueryHarness

PROTOCOLS = ("/api/", "/v1/")
QUESTION = {"role": "user", "content": "Who discovered radium?"}
DETAILS = {"parent_model": "", "format": "gguf", "quantization_level": "Q4_0"}


def routes(app: FastAPI) -> dict[tuple[str, str], dict[str, Any]]:
    """Description by method and path."""
    return {
        (method.upper(), path): operation
        for path, methods in app.openapi()["paths"].items()
        for method, operation in methods.items()
        if path.startswith(PROTOCOLS)
    }


async def test_version_tags_and_ps_are_lightrags(harness: QueryHarness) -> None:
    async with client(harness.app()) as api:
        assert (await api.get("/api/version")).json() == {"version": "0.9.3"}
        (model,) = (await api.get("/api/tags")).json()["models"]
        assert model == {
            "name": "lightrag:latest",
            "model": "lightrag:latest",
            "size": 7365960935,
            "digest": "sha256:lightrag",
            "modified_at": "2024-01-15T00:00:00Z",
            "details": {
                **DETAILS,
                "family": "lightrag",
                "families": ["lightrag"],
                "parameter_size": "13B",
            },
        }
        (model,) = (await api.get("/api/ps")).json()["models"]
        assert model == {
            "name": "lightrag:latest",
            "model": "lightrag:latest",
            "size": 7365960935,
            "digest": "sha256:lightrag",
            "details": {
                **DETAILS,
                "family": "llama",
                "families": ["llama"],
                "parameter_size": "7.2B",
            },
            "expires_at": "2050-12-31T14:38:31.83753-07:00",
            "size_vram": 7365960935,
        }


async def test_a_stream_is_the_usual_answer_of_chat_and_not_of_generate(
    harness: QueryHarness,
) -> None:
    async with client(harness.app()) as api:
        chat = await api.post("/api/chat", json={"model": "lightrag", "messages": [QUESTION]})
        completion = await api.post("/api/generate", json={"model": "lightrag", "prompt": "Hello!"})
    assert chat.headers["content-type"] == "application/x-ndjson"
    assert len(chat.text.splitlines()) == 3
    assert int(chat.headers["x-log-position"]) >= 0
    assert completion.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (401, "invalid_request_error", "invalid_api_key"),
        (403, "permission_error", "not_permitted"),
        (404, "invalid_request_error", "not_found"),
        (413, "invalid_request_error", None),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (500, "server_error", "internal_error"),
        (503, "server_error", "unavailable"),
    ],
)
def test_an_error_has_the_shape_of_its_protocol(status: int, kind: str, code: str | None) -> None:
    shapes = {
        path: error_response(path, status, "It is so.", {"Retry-After": "2"})
        for path in ("/query", "/api/x", "/v1/x")
    }
    assert {answer.status_code for answer in shapes.values()} == {status}
    assert {answer.headers["retry-after"] for answer in shapes.values()} == {"2"}
    bodies = [httpx.Response(200, content=bytes(answer.body)).json() for answer in shapes.values()]
    error = {"message": "It is so.", "type": kind, "param": None, "code": code}
    assert bodies == [{"detail": "It is so."}, {"error": "It is so."}, {"error": error}]


def shaped(path: str, answer: httpx.Response) -> str:
    """The sentence of an error, which must have the protocol's shape."""
    (error,) = answer.json().values()
    if path.startswith("/v1/"):
        assert set(error) == {"message", "type", "param", "code"}
        return error["message"]
    assert isinstance(error, str)
    return error


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("/api/nowhere", "/api/chat"),
        ("/api/embed", "/query/data"),
        ("/v1/nowhere", "/v1/chat/completions"),
        ("/v1/embeddings", "/query/data"),
        ("/v1/responses", "/v1/chat/completions"),
        ("/v1/responses/resp_1", "/v1/chat/completions"),
    ],
)
async def test_what_is_not_there_says_what_is(
    harness: QueryHarness, path: str, instead: str
) -> None:
    async with client(harness.app()) as api:
        answer = await api.post(path, json={})
        assert answer.status_code == 404
        assert instead in shaped(path, answer)


async def test_other_routes_that_are_not_there_name_the_list(harness: QueryHarness) -> None:
    async with client(harness.app()) as api:
        answer = await api.get("/nowhere")
        assert (answer.status_code, "/docs" in answer.json()["detail"]) == (404, True)


async def test_what_is_not_allowed_says_so(harness: QueryHarness) -> None:
    for method, there in (("PUT", "/api/chat"), ("DELETE", "/v1/models")):
        async with client(harness.app()) as api:
            answer = await api.request(method, there)
            assert (answer.status_code, shaped(there, answer)) == (405, "Method Not Allowed")


async def test_a_starting_service_a_bug_and_a_long_body_are_told_in_the_protocols_shape(
    harness: QueryHarness,
) -> None:
    bodies: dict[str, Any] = {
        "/api/chat": {"model": "lightrag"},
        "/v1/chat/completions": {"model": "lightstream"},
    }
    for path, body in bodies.items():
        body |= {"messages": [QUESTION]}
        async with client(create_app()) as api:
            answer = await api.post(path, json=body)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
            assert "the service is starting" in shaped(path, answer)
        async with client(harness.app(positions=MemoryBlobs())) as api:
            answer = await api.post(path, json=body)
            assert (answer.status_code, "error_id" in shaped(path, answer)) == (500, True)
        async with client(harness.app(AuthConfig(body_limits=BodyLimits(other_routes=10)))) as api:
            answer = await api.post(path, json=body)
            assert (answer.status_code, "are taken" in shaped(path, answer)) == (413, True)

            async def pieces() -> Any:
                yield b" " * 20

            answer = await api.post(path, content=pieces())
            assert (answer.status_code, "too long" in shaped(path, answer)) == (413, True)


async def test_strangers_are_refused_in_the_protocols_shape_until_the_whitelist_lets_them_in(
    harness: QueryHarness,
) -> None:
    async with client(harness.app(behind(lightrag_api_key=KEY))) as api:
        for path in ("/api/tags", "/api/version", "/v1/models"):
            answer = await api.get(path)
            assert (answer.status_code, shaped(path, answer)) == (403, "API Key required")
    async with client(
        harness.app(behind(lightrag_api_key=KEY, whitelist_paths="/health,/api/*,/v1/*"))
    ) as api:
        assert (await api.get("/api/tags")).status_code == 200
        chat = {"model": "lightstream", "messages": [QUESTION]}
        assert "Marie" in (await api.post("/v1/chat/completions", json=chat)).text
        answer = await api.post("/v1/chat/completions", json={**chat, "model": "lightstream@v"})
        assert (answer.status_code, shaped("/v1/", answer)) == (
            403,
            "these credentials are not for this workspace",
        )


async def test_a_workspace_of_the_headers_counts_on_these_routes_too(harness: QueryHarness) -> None:
    await harness.index("mine", "The silver mine was closed in 1931.", workspace="v", version=9000)
    body = {
        "messages": [{"role": "user", "content": "When was the silver mine closed?"}],
        "stream": False,
    }
    app = harness.app(behind(lightstream_api_keys=f"writer:{WRITER}:w+v:write"))
    for path, model in (("/api/chat", "lightrag"), ("/v1/chat/completions", "lightstream")):
        async with keyed(app, WRITER, "v") as api:
            assert "1931" in (await api.post(path, json={**body, "model": model})).text
        async with keyed(app, WRITER) as api:
            assert "1931" not in (await api.post(path, json={**body, "model": model})).text


async def test_every_route_is_described_with_an_example_that_works(harness: QueryHarness) -> None:
    app = harness.app()
    operations = routes(app)
    assert set(operations) == {
        ("GET", "/api/version"),
        ("GET", "/api/tags"),
        ("GET", "/api/ps"),
        ("POST", "/api/chat"),
        ("POST", "/api/generate"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{id}"),
    }
    schemas = app.openapi()["components"]["schemas"]
    for (method, path), operation in operations.items():
        example = operation["responses"]["200"]["content"]["application/json"]["example"]
        for code in ("400", "401", "403", "404", "413", "429", "500", "503"):
            problem = operation["responses"][code]["content"]["application/json"]["schema"][
                "$ref"
            ].rpartition("/")[2]
            assert list(schemas[problem]["properties"]) == ["error"], path
        request: dict[str, Any] = {}
        if method == "POST":
            name = operation["requestBody"]["content"]["application/json"]["schema"][
                "$ref"
            ].rpartition("/")[2]
            request = {"json": schemas[name]["examples"][0]}
        async with client(app) as api:
            answer = await api.request(method, path.replace("{id}", "lightstream:mix"), **request)
        assert answer.status_code == 200, path
        assert set(answer.json()) == set(example), path
