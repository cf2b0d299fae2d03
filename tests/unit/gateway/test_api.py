"""The HTTP API over stores in memory: LightRAG's shapes, and errors that say what to do."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from runtime.errors import Poison, Unavailable
from services.gateway.app import create_app
from services.gateway.auth.config import AuthConfig
from services.gateway.body_limits import BodyLimits
from services.gateway.request_forms import MAX_DOCUMENT_BODY, MAX_LOGIN_BODY, MAX_REQUEST_BODY
from services.gateway.settings import GatewaySettings
from tests.support.querying import QueryHarness

QUESTION = "Who discovered radium?"


def client(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://api")


async def test_an_answer_has_its_text_its_references_and_its_time(api: httpx.AsyncClient) -> None:
    answer = await api.post("/query", json={"query": QUESTION})
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {
        "response",
        "references",
        "response_time",
        "llm_generated",
        "mode",
        "mode_reason",
    }
    assert "Marie Curie discovered radium" in body["response"]
    assert body["references"][0] == {"reference_id": "1", "file_path": "curie.txt", "content": None}
    assert (type(body["response_time"]), body["llm_generated"]) == (float, False)


async def test_references_come_with_their_passages_or_not_at_all_as_asked(
    api: httpx.AsyncClient,
) -> None:
    answer = await api.post("/query", json={"query": QUESTION, "include_chunk_content": True})
    assert any("Marie Curie" in text for text in answer.json()["references"][0]["content"])
    answer = await api.post("/query", json={"query": QUESTION, "include_references": False})
    assert answer.json()["references"] is None


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix"])
async def test_every_mode_answers_and_fields_nobody_knows_are_ignored(
    api: httpx.AsyncClient, mode: str
) -> None:
    answer = await api.post(
        "/query", json={"query": QUESTION, "mode": mode, "only_need_context": True, "novelty": 1}
    )
    assert answer.status_code == 200
    assert ("Knowledge Graph Data (Entity):" in answer.json()["response"]) == (mode != "naive")


async def test_nothing_found_is_an_answer_with_the_mark(api: httpx.AsyncClient) -> None:
    answer = await api.post(
        "/query", json={"query": QUESTION}, headers={"LIGHTRAG-WORKSPACE": "empty"}
    )
    assert answer.json()["response"].endswith("[no-context]")
    assert answer.json()["references"] == []


@pytest.mark.parametrize("query", ["你好", "안녕", "abc", "  abc  "])
async def test_a_question_of_three_letters_or_two_wide_ones_is_long_enough(
    api: httpx.AsyncClient, query: str
) -> None:
    assert (await api.post("/query", json={"query": query})).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"query": "ab"},
        {"query": "   a   "},
        {"query": "你"},
        {},
        {"query": QUESTION, "mode": "telepathy"},
        {"query": QUESTION, "top_k": 0},
        {"query": QUESTION, "max_total_tokens": 0},
        {"query": "x" * 65_537},
        {"query": QUESTION, "hl_keywords": ["k"] * 65},
        {"query": QUESTION, "ll_keywords": ["k" * 513]},
        {"query": QUESTION, "user_prompt": "x" * 65_537},
        {"query": QUESTION, "response_type": ""},
        {"query": QUESTION, "response_type": "x" * 257},
        {"query": QUESTION, "conversation_history": [{"role": "user", "content": "x"}] * 129},
        {"query": QUESTION, "conversation_history": [{"role": "user", "content": "x" * 32_769}]},
        {
            "query": QUESTION,
            "conversation_history": [{"role": "user", "content": "x" * 32_768}] * 4,
        },
        {"query": QUESTION, "conversation_history": [{"role": "wizard", "content": "x"}]},
        {"query": QUESTION, "conversation_history": [{"role": "user"}]},
        {"query": " ", "mode": "bypass"},
    ],
    ids=str,
)
async def test_a_question_that_cannot_be_asked_is_refused_with_the_reason(
    api: httpx.AsyncClient, body: Any
) -> None:
    answer = await api.post("/query", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"query": "what is \\ud800 this"}',
        b'{"query": "what is this", "mode": "\\udfff"}',
        b'{"\\ud800": 1, "query": "what is this"}',
        b'{"query": "what is this", "ll_keywords": ["\\ud800"]}',
    ],
)
async def test_half_a_surrogate_pair_is_no_internal_error(
    api: httpx.AsyncClient, raw: bytes
) -> None:
    answer = await api.post("/query", content=raw, headers={"content-type": "application/json"})
    assert answer.status_code in {200, 422}
    json.loads(answer.content.decode())


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[1]", b'"text"', b"[" * 50_000])
@pytest.mark.parametrize("path", ["/query", "/documents/text", "/documents/paginated"])
async def test_a_body_that_cannot_be_read_is_refused(
    api: httpx.AsyncClient, path: str, raw: bytes
) -> None:
    answer = await api.post(path, content=raw, headers={"content-type": "application/json"})
    assert answer.status_code in {400, 422}


@pytest.mark.parametrize(
    "name", ["x-hidden", "a b", "-a", "a" * 65, "é".encode("latin-1"), "a/b", "a\tb"]
)
async def test_a_workspace_that_cannot_be_is_refused(
    api: httpx.AsyncClient, name: str | bytes
) -> None:
    headers = [(b"LIGHTRAG-WORKSPACE", name if isinstance(name, bytes) else name.encode())]
    answer = await api.get("/documents/status_counts", headers=headers)
    assert answer.status_code == 422
    assert "workspace" in answer.json()["detail"]


async def test_health_says_what_the_service_works_with(api: httpx.AsyncClient) -> None:
    body = (await api.get("/health")).json()
    assert (body["status"], body["pipeline_busy"], body["workspace"]) == ("healthy", False, "w")
    configuration = body["configuration"]
    assert (configuration["llm_model"], configuration["embedding_model"]) == (
        None,
        "lexical-hash-v1",
    )
    assert configuration["role_llm_config"]["query"] == {"binding": "offline", "model": None}
    assert (
        configuration["max_graph_nodes"],
        set(configuration["storage_workspaces"].values()),
    ) == (1000, {"w"})
    assert {"core_version", "api_version", "webui_title", "auth_mode", "pipeline_active"} <= set(
        body
    )


async def test_health_tells_no_secret_and_no_address(
    harness: QueryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "LLM_API_KEY",
        "EMBEDDING_API_KEY",
        "NEO4J_PASSWORD",
        "MILVUS_TOKEN",
        "DOCUMENTS_URL",
        "NATS_URL",
    ):
        scheme = "nats" if name == "NATS_URL" else "mongodb"
        monkeypatch.setenv(name, f"{scheme}://u:hunter2@{name}.internal")
    monkeypatch.setenv("LLM_BASE_URL", "http://hunter2.internal/v1")
    async with client(harness.app(settings=GatewaySettings(workspace="w"))) as api:
        answer = await api.get("/health")
        assert answer.json()["configuration"]["llm_model"] == "gpt-4o-mini"
    assert "hunter2" not in answer.text and "internal" not in answer.text


async def test_pages_learn_what_the_deployment_is_called(harness: QueryHarness) -> None:
    settings = GatewaySettings(
        workspace="w", webui_title="Harbour", webui_description="What we know"
    )
    async with client(harness.app(settings=settings)) as api:
        answer = await api.get("/ui/customization")
        home = await api.get("/")
    assert answer.json() == {
        "customized": False,
        "brand": {"title": "Harbour", "description": "What we know"},
    }
    assert (home.status_code, home.headers["location"]) == (307, "/docs")


async def test_a_request_that_is_too_large_is_refused_before_it_is_read(
    api: httpx.AsyncClient,
) -> None:
    answer = await api.post(
        "/documents/text", content=b"{}", headers={"content-length": str(MAX_DOCUMENT_BODY + 1)}
    )
    assert answer.status_code == 413
    assert f"{MAX_DOCUMENT_BODY:,}" in answer.json()["detail"]


async def test_a_request_that_does_not_say_its_size_is_refused_once_it_is_too_large(
    harness: QueryHarness,
) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 100

    async with client(harness.app(AuthConfig(body_limits=BodyLimits(documents=1000)))) as api:
        answer = await api.post(
            "/documents/text", content=endless(), headers={"content-type": "application/json"}
        )
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/login", MAX_LOGIN_BODY),
        ("/query", MAX_REQUEST_BODY),
        ("/query/stream", MAX_REQUEST_BODY),
        ("/api/chat", MAX_REQUEST_BODY),
        ("/v1/chat/completions", MAX_REQUEST_BODY),
        ("/graph/entity/create", MAX_REQUEST_BODY),
        ("/documents/paginated", MAX_REQUEST_BODY),
        ("/documents/texts", MAX_DOCUMENT_BODY),
        ("/documents/upload", MAX_DOCUMENT_BODY),
        ("/documents/text/", MAX_REQUEST_BODY),
    ],
)
async def test_each_route_has_a_limit_of_its_own(
    api: httpx.AsyncClient, path: str, limit: int
) -> None:
    answer = await api.post(path, content=b"{}", headers={"content-length": str(limit + 1)})
    assert (answer.status_code, f"{limit:,}" in answer.text) == (413, True)
    assert (
        await api.post(path, content=b"{}", headers={"content-length": str(limit)})
    ).status_code != 413


async def test_a_store_that_does_not_answer_is_503_with_a_time_to_wait_and_an_id(
    harness: QueryHarness,
) -> None:
    async def down(*_: Any, **__: Any) -> Any:
        raise Unavailable("mongodb://admin:hunter2@db does not answer", retry_after=0.2)

    harness.graph.entities = harness.log.newest = down  # type: ignore[method-assign]
    async with client(harness.app()) as api:
        for path, body in (("/query", {"query": QUESTION}), ("/documents/text", {"text": "text"})):
            answer = await api.post(path, json=body)
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) >= 1
            assert re.search(r"error_id: [0-9a-f]{32}", answer.json()["detail"])
            assert "hunter2" not in answer.text


@pytest.mark.parametrize(
    "error", [RuntimeError("secret detail"), Poison("secret detail"), KeyError("secret detail")]
)
async def test_an_internal_error_is_500_with_an_id_and_without_its_details(
    harness: QueryHarness, error: Exception
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise error

    harness.graph.entities = broken  # type: ignore[method-assign]
    async with client(harness.app()) as api:
        answer = await api.post("/query", json={"query": QUESTION})
    assert answer.status_code == 500
    assert re.search(r"error_id: [0-9a-f]{32}", answer.json()["detail"])
    assert "secret" not in answer.text


async def test_a_service_that_is_not_wired_yet_says_that_it_is_starting() -> None:
    async with client(create_app()) as api:
        answer = await api.post("/query", json={"query": QUESTION})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "/health/ready" in answer.json()["detail"]
