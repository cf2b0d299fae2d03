"""An answer that is not whole is said to be so in every protocol, and is not remembered; reasoning
is kept apart.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import httpx
import pytest

from runtime.bus.memory import MemoryLog
from runtime.models.port import AnswerPiece, Completion, Message
from runtime.stores.documents.memory import MemoryRows
from services.query.adapters.answer_cache import StoredAnswers
from services.query.adapters.models import ModelAnswerGenerator
from services.query.adapters.row_cache import RowCache
from tests.support.querying import QueryHarness, library_of_two

QUESTION = "Who discovered radium?"
TEXT = "Marie Curie [1] discov"
THOUGHT = "SECRET: the second passage [2]"


class CutModel:
    """A model whose answers end before their end, `calls` times; then whole ones."""

    model = "cut"

    def __init__(self, cut_calls: int = 99) -> None:
        self.calls = 0
        self._cut_calls = cut_calls

    def _next(self) -> bool:
        self.calls += 1
        return self.calls <= self._cut_calls

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        return Completion(TEXT, cut=self._next(), reasoning=THOUGHT)

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        cut = self._next()
        yield AnswerPiece(reasoning=THOUGHT)
        for start in range(0, len(TEXT), 5):
            yield AnswerPiece(TEXT[start : start + 5])
        if cut:
            yield AnswerPiece(cut=True)

    async def close(self) -> None: ...


class NarrowModel(CutModel):
    """A model that reads only a part of its prompt."""

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        self.calls += 1
        return Completion(TEXT, narrow=True)

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        self.calls += 1
        yield AnswerPiece(TEXT)
        yield AnswerPiece(narrow=True)


async def posted(harness: QueryHarness, model: CutModel, path: str, body: dict[str, Any]) -> str:
    """The body of an answer over HTTP."""
    cache = StoredAnswers(RowCache(MemoryRows(), "answers"), MemoryLog(), model.model)
    deps = harness.deps(answer_generator=ModelAnswerGenerator(model), answer_cache=cache)
    transport = httpx.ASGITransport(harness.app(answering=deps))
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        first = await api.post(path, json=body)
        again = await api.post(path, json=body)
    assert first.status_code == again.status_code == 200
    return first.text


MESSAGES = [{"role": "user", "content": QUESTION}]


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/query", {"query": QUESTION}, '"truncated":true'),
        ("/query/stream", {"query": QUESTION}, '{"truncated": true}'),
        ("/query/stream", {"query": QUESTION, "stream": False}, '"truncated": true'),
        (
            "/v1/chat/completions",
            {"model": "lightstream", "messages": MESSAGES},
            '"finish_reason":"length"',
        ),
        (
            "/v1/chat/completions",
            {"model": "lightstream", "messages": MESSAGES, "stream": True},
            '"finish_reason": "length"',
        ),
        (
            "/api/chat",
            {"model": "lightrag", "messages": MESSAGES, "stream": False},
            '"done_reason":"length"',
        ),
        ("/api/chat", {"model": "lightrag", "messages": MESSAGES}, '"done_reason": "length"'),
        ("/api/generate", {"model": "lightrag", "prompt": QUESTION}, '"done_reason":"length"'),
        (
            "/api/generate",
            {"model": "lightrag", "prompt": QUESTION, "stream": True},
            '"done_reason": "length"',
        ),
    ],
)
async def test_every_protocol_says_that_an_answer_is_cut(
    path: str, body: dict[str, Any], says: str
) -> None:
    model = CutModel()
    text = await posted(await library_of_two(), model, path, body)
    assert says in text
    assert "SECRET" not in text
    assert model.calls == 2, "what is cut is not remembered"


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/query", {"query": QUESTION}, '"prompt_truncated":true'),
        ("/query/stream", {"query": QUESTION}, '{"prompt_truncated": true}'),
        ("/query/stream", {"query": QUESTION, "stream": False}, '"prompt_truncated": true'),
    ],
)
async def test_an_answer_to_a_part_of_the_prompt_is_said_to_be_that_and_not_remembered(
    path: str, body: dict[str, Any], says: str
) -> None:
    model = NarrowModel()
    text = await posted(await library_of_two(), model, path, body)
    assert says in text
    assert '"truncated"' not in text
    assert model.calls == 2


@pytest.mark.parametrize("path", ["/query", "/query/stream"])
async def test_a_whole_answer_says_nothing_of_it_and_is_remembered(path: str) -> None:
    model = CutModel(0)
    text = await posted(await library_of_two(), model, path, {"query": QUESTION})
    assert "truncated" not in text
    assert "reasoning" not in text
    assert model.calls == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_reasoning_is_given_apart_when_it_is_asked_for(stream: bool) -> None:
    body = {"query": QUESTION, "include_reasoning": True, "stream": stream}
    harness = await library_of_two()
    lines = [
        json.loads(line)
        for line in (await posted(harness, CutModel(), "/query/stream", body)).splitlines()
    ]
    assert "".join(line.get("reasoning", "") for line in lines) == THOUGHT
    assert "SECRET" not in "".join(line.get("response", "") for line in lines)
    answer = json.loads(await posted(harness, CutModel(), "/query", body))
    assert answer["reasoning"] == THOUGHT
    assert "SECRET" not in answer["response"]


class LateModel(CutModel):
    """A model whose reasoning has no opening tag, so that it is known too late."""

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        self.calls += 1
        yield AnswerPiece(f"{THOUGHT} [9]")
        yield AnswerPiece("Marie Curie [1].", resets=True)


async def test_reasoning_that_was_taken_for_text_is_taken_back_and_not_remembered() -> None:
    model = LateModel()
    harness = await library_of_two()
    cache = StoredAnswers(RowCache(MemoryRows(), "answers"), MemoryLog(), model.model)
    deps = harness.deps(answer_generator=ModelAnswerGenerator(model), answer_cache=cache)
    transport = httpx.ASGITransport(harness.app(answering=deps))
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        first = (await api.post("/query/stream", json={"query": QUESTION})).text
        again = (await api.post("/query", json={"query": QUESTION})).json()
    assert '"reset": true' in first
    assert first.index("SECRET") < first.index('"reset"') < first.index("Marie Curie")
    assert (again["response"], model.calls) == ("Marie Curie [1].", 1)
