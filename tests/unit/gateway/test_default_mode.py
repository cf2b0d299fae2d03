"""The mode of a question that names none: `auto`, which says what it chose, or DEFAULT_MODE; a
client that names a mode gets that one.
"""

import json
from typing import Any

import httpx
import pytest

from runtime.errors import ConfigurationError
from services.query.settings import QuerySettings
from tests.support.access import client
from tests.support.querying import library_of_two

QUESTION = "Who discovered radium?"
MESSAGES = {"messages": [{"role": "user", "content": QUESTION}]}
OPENAI = "/v1/chat/completions"
REASON = "The question names entities of the graph: radium."


async def fields(api: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    """Return all fields of the lines or events of an answer together."""
    response = await api.post(path, json=body)
    assert response.status_code == 200, response.text
    lines = [line.removeprefix("data: ") for line in response.text.splitlines()]
    together: dict[str, Any] = {}
    for line in lines:
        if line and line != "[DONE]":
            together |= json.loads(line)
    return together


def without_mode() -> list[tuple[str, dict[str, Any]]]:
    """Return a question that names no mode for each route, whole and streamed."""
    ollama = {"model": "lightrag:latest", **MESSAGES}
    openai = {"model": "lightstream", **MESSAGES}
    return [
        ("/query", {"query": QUESTION}),
        ("/query", {"query": QUESTION, "mode": None}),
        ("/query/stream", {"query": QUESTION}),
        ("/query/stream", {"query": QUESTION, "include_references": False}),
        ("/api/chat", {**ollama, "stream": False}),
        ("/api/chat", ollama),
        (OPENAI, openai),
        (OPENAI, {**openai, "stream": True}),
    ]


async def test_a_question_without_a_mode_is_asked_in_auto_which_says_why_it_chose() -> None:
    async with client((await library_of_two()).app()) as api:
        for path, body in without_mode():
            answer = await fields(api, path, **body)
            assert (answer["mode"], answer["mode_reason"]) == ("walk", REASON), path
        data = await fields(api, "/query/data", query=QUESTION)
        assert data["metadata"]["query_mode"] == "auto"
        info = data["metadata"]["processing_info"]
        assert (info["mode"], info["mode_reason"]) == ("walk", REASON)
        configuration = (await api.get("/health")).json()["configuration"]
        assert configuration["default_mode"] == "auto"


async def test_a_question_that_names_nothing_is_mixed_and_one_without_an_answer_says_why() -> None:
    async with client((await library_of_two()).app()) as api:
        answer = await fields(api, "/query", query="what is it that shines")
        assert answer["mode"] == "mix"
        assert "names no entity" in answer["mode_reason"]
        response = await api.post(
            "/query/data", json={"query": QUESTION}, headers={"X-Workspace": "empty"}
        )
        metadata = response.json()["metadata"]
        assert metadata["failure_reason"] == "no_results"
        assert (metadata["mode"], "names no entity" in metadata["mode_reason"]) == ("mix", True)


async def test_a_client_that_names_a_mode_gets_that_one() -> None:
    messages = {"messages": [{"role": "user", "content": f"/mix {QUESTION}"}]}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/query", {"query": QUESTION, "mode": "mix"}),
        ("/query/stream", {"query": QUESTION, "mode": "mix"}),
        ("/api/chat", {"model": "lightrag:latest", **messages}),
        (OPENAI, {"model": "lightstream:mix", **MESSAGES}),
    ]
    async with client((await library_of_two()).app()) as api:
        for path, body in asked:
            assert not {"mode", "mode_reason"} & (await fields(api, path, **body)).keys(), path
        data = await fields(api, "/query/data", query=QUESTION, mode="mix")
        assert data["metadata"]["processing_info"]["mode"] == "mix"


async def test_the_setting_is_the_mode_of_all_routes() -> None:
    settings = QuerySettings(default_mode="naive")
    async with client((await library_of_two()).app(question_settings=settings)) as api:
        for path, body in without_mode():
            assert "mode_reason" not in await fields(api, path, **body), path
        data = await fields(api, "/query/data", query=QUESTION)
        assert data["metadata"]["query_mode"] == "naive"
        context = {"messages": [{"role": "user", "content": f"/context {QUESTION}"}]}
        answer = await fields(api, "/api/chat", model="lightrag:latest", stream=False, **context)
        assert "Knowledge Graph Data" not in answer["message"]["content"]
        configuration = (await api.get("/health")).json()["configuration"]
        assert configuration["default_mode"] == "naive"


@pytest.mark.parametrize("mode", ["bypass", "telepathy"])
def test_only_a_mode_that_searches_can_be_set(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEFAULT_MODE", mode)
    with pytest.raises(ConfigurationError, match=r"DEFAULT_MODE: .*'auto'"):
        QuerySettings()
