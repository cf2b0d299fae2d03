"""What a caller hears of a model that is paused, refuses or answers nonsense: which one it is, and
no address.

Of a refused text, what its provider says.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio

from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from services.query.adapters.models import ModelAnswerGenerator
from services.query.adapters.named_models import NamedChat, NamedEmbedder
from tests.support.access import client
from tests.support.openai_provider import KEY, Provider, serving
from tests.support.querying import QueryHarness, library_of_two

QUESTION = "Who discovered radium?"
CHAT = {"role": "user", "content": QUESTION}


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return await library_of_two()


@asynccontextmanager
async def _answers(
    provider: Provider, model: str, **options: Any
) -> AsyncIterator[ModelAnswerGenerator]:
    chat = NamedChat(provider.chat(model, **options))
    try:
        yield ModelAnswerGenerator(chat)
    finally:
        await chat.close()


async def _asked(harness: QueryHarness, path: str = "/query", **deps: Any) -> httpx.Response:
    bodies: dict[str, Any] = {
        "/api/chat": {"model": "lightrag", "messages": [CHAT], "stream": False},
        "/v1/chat/completions": {"model": "lightstream:mix", "messages": [CHAT]},
    }
    async with client(harness.app(answering=harness.deps(**deps))) as api:
        answer = await api.post(path, json=bodies.get(path, {"query": QUESTION}))
    assert "127.0.0.1" not in answer.text
    assert "http" not in answer.text
    assert KEY not in answer.text
    return answer


@pytest.mark.parametrize(
    ("model", "status", "sentence"),
    [
        ("only:status:400", 502, "the language model only:status:400 refused the request"),
        ("code:400:content_filter", 422, "refuses to answer this"),
        ("code:400:context_length_exceeded", 422, "takes no request of this length"),
        ("refusal", 422, "the language model refusal refuses to answer this"),
        ("only:status:403", 422, "refuses to answer this"),
        ("only:status:500", 503, "failed for this text, while it answers others"),
        ("status:400", 503, "the language model status:400 does not answer now"),
        ("status:500", 503, "the language model status:500 does not answer now"),
    ],
)
async def test_an_answer_that_a_model_refuses_names_the_model_and_no_address(
    harness: QueryHarness, provider: Provider, model: str, status: int, sentence: str
) -> None:
    async with _answers(provider, model) as answers:
        answer = await _asked(harness, answer_generator=answers)
    assert answer.status_code == status, answer.text
    assert sentence in answer.json()["detail"]
    is_of_text = model.startswith(("only:", "code:"))
    assert ("Its provider says: bad, with ***" in answer.json()["detail"]) == is_of_text


@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions"])
async def test_clients_of_other_protocols_hear_the_same(
    harness: QueryHarness, provider: Provider, path: str
) -> None:
    async with _answers(provider, "only:status:400") as answers:
        answer = await _asked(harness, path, answer_generator=answers)
    assert answer.status_code == 502
    assert "the language model only:status:400 refused the request" in answer.text
    assert "Its provider says: bad, with ***" in answer.text


async def test_a_stream_that_a_model_refuses_ends_with_its_name(
    harness: QueryHarness, provider: Provider
) -> None:
    async with _answers(provider, "only:status:400") as answers:
        answer = await _asked(harness, "/query/stream", answer_generator=answers)
    assert "the language model only:status:400 refused the request" in answer.text.splitlines()[-1]
    assert "Its provider says: bad, with ***" in answer.text.splitlines()[-1]


async def test_a_paused_model_is_named_with_the_time_to_wait(
    harness: QueryHarness, provider: Provider
) -> None:
    limiter = RateLimiter("wait:60 at 127.0.0.1", Limits(calls=4), max_wait=1.0)
    async with _answers(provider, "wait:60", limiter=limiter) as answers:
        # What the provider says itself, and what is said while it is left alone.
        for shortest in (60, 30):
            answer = await _asked(harness, answer_generator=answers)
            assert answer.status_code == 503
            assert shortest <= int(answer.headers["Retry-After"]) <= 60
            assert "the language model wait:60 is paused or busy" in answer.json()["detail"]
    assert len(provider.requests) == 1


async def test_an_embedding_model_that_is_down_is_named(
    harness: QueryHarness, provider: Provider
) -> None:
    embedder = NamedEmbedder(provider.embedder("status:500"))
    answer = await _asked(harness, embed=embedder.embed)
    await embedder.close()
    assert answer.status_code == 503
    assert "the embedding model status:500 does not answer now" in answer.json()["detail"]
