"""/query/stream over stores in memory: every situation of LightRAG's framing, line by line."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import httpx
import pytest
import pytest_asyncio

from offline.answers.extractive_answer import NO_MODEL
from runtime.errors import Poison, Unavailable
from runtime.models.port import AnswerPiece, Completion, Message
from runtime.models.scripted import ScriptedChat
from services.query.adapters.models import ModelAnswerGenerator
from services.query.answering.ask import NEEDS_MODEL, NO_CONTEXT
from tests.support.querying import QueryHarness, library_of_two

QUESTION = "Who discovered radium?"
SAID = "Marie Curie [1] discovered it [7]."
REFERENCES = [{"reference_id": "1", "file_path": "curie.txt"}]


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return await library_of_two()


async def posted(
    harness: QueryHarness, chat: Any = None, headers: dict[str, str] | None = None, **body: Any
) -> httpx.Response:
    deps = harness.deps(**({"answer_generator": ModelAnswerGenerator(chat)} if chat else {}))
    transport = httpx.ASGITransport(harness.app(answering=deps), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        question = {"query": QUESTION, "mode": "mix", **body}
        return await api.post("/query/stream", json=question, headers=headers)


async def lines(harness: QueryHarness, chat: Any = None, **body: Any) -> list[dict[str, Any]]:
    answer = await posted(harness, chat, **body)
    assert answer.status_code == 200
    assert answer.text.endswith("\n")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_references_come_first_then_the_pieces_and_no_end_mark(harness: QueryHarness) -> None:
    first, *pieces = await lines(harness, ScriptedChat([SAID]))
    assert first == {"references": REFERENCES}
    assert all(set(piece) == {"response"} for piece in pieces)
    assert len(pieces) > 2
    assert "".join(piece["response"] for piece in pieces) == "Marie Curie [1] discovered it."


async def test_lines_and_headers_are_those_that_clients_know(harness: QueryHarness) -> None:
    answer = await posted(harness, ScriptedChat(["Ä"]))
    assert answer.text.splitlines()[1] == '{"response": "\\u00c4"}'
    headers = {
        "content-type": "application/x-ndjson",
        "cache-control": "no-cache",
        "connection": "keep-alive",
        "x-accel-buffering": "no",
    }
    assert {name: answer.headers[name] for name in headers} == headers


async def test_without_references_only_pieces_come(harness: QueryHarness) -> None:
    result = await lines(harness, ScriptedChat([SAID]), include_references=False)
    assert {name for line in result for name in line} == {"response"}


async def test_references_carry_their_passages_when_asked(harness: QueryHarness) -> None:
    first, *_ = await lines(harness, ScriptedChat([SAID]), include_chunk_content=True)
    assert any("Marie Curie" in text for text in first["references"][0]["content"])


@pytest.mark.parametrize(
    ("mode", "steps"),
    [
        ("naive", ["retrieving_chunks"]),
        ("local", ["extracting_keywords", "retrieving_entities"]),
        ("global", ["extracting_keywords", "retrieving_relations"]),
        ("hybrid", ["extracting_keywords", "retrieving_entities", "retrieving_relations"]),
        (
            "mix",
            [
                "extracting_keywords",
                "retrieving_entities",
                "retrieving_relations",
                "retrieving_chunks",
            ],
        ),
    ],
)
async def test_progress_comes_step_by_step_and_the_time_in_the_end(
    harness: QueryHarness, mode: str, steps: list[str]
) -> None:
    result = await lines(harness, ScriptedChat([SAID]), include_progress=True, mode=mode)
    progress = [line["progress"] for line in result if "progress" in line]
    assert progress == [*steps, "reranking", "generating_response"]
    assert set(result[len(progress)]) == {"references"}
    assert set(result[-1]) == {"response_time"}
    assert 0 < result[-1]["response_time"] < 60


async def test_one_line_is_enough_where_no_stream_is_wanted(harness: QueryHarness) -> None:
    (line,) = await lines(harness, ScriptedChat([SAID]), stream=False)
    assert line == {
        "response": "Marie Curie [1] discovered it.",
        "llm_generated": True,
        "references": REFERENCES,
    }


@pytest.mark.parametrize("option", ["only_need_context", "only_need_prompt"])
async def test_context_and_prompt_come_in_one_line_and_ask_no_model(
    harness: QueryHarness, option: str
) -> None:
    (line,) = await lines(harness, ScriptedChat([]), **{option: True})
    assert "Marie Curie discovered radium" in line["response"]
    assert (line["llm_generated"], line["references"]) == (False, REFERENCES)
    assert line["response"].endswith(f"---User Query---\n{QUESTION}") == (
        option == "only_need_prompt"
    )


async def test_no_result_is_one_line_with_the_mark(harness: QueryHarness) -> None:
    chat = ScriptedChat([])
    answer = await posted(harness, chat, headers={"LIGHTRAG-WORKSPACE": "empty"})
    assert json.loads(answer.text) == {
        "response": NO_CONTEXT,
        "llm_generated": False,
        "references": [],
    }


async def test_quotations_come_in_one_line_with_progress_around_it(harness: QueryHarness) -> None:
    result = await lines(harness, include_progress=True)
    assert result[-2]["response"].endswith(NO_MODEL)
    assert (result[-2]["llm_generated"], set(result[-1])) == (False, {"response_time"})


async def test_bypass_streams_the_models_words_as_they_are_without_references(
    harness: QueryHarness,
) -> None:
    chat = ScriptedChat([SAID])
    first, *pieces = await lines(harness, chat, mode="bypass", query="x", user_prompt="Rhyme.")
    assert first == {"references": []}
    assert "".join(piece["response"] for piece in pieces) == SAID
    assert chat.calls[0].messages == (Message("system", "Rhyme."), Message("user", "x"))


async def test_bypass_without_a_model_says_what_is_missing(harness: QueryHarness) -> None:
    (line,) = await lines(harness, mode="bypass")
    assert line == {"response": NEEDS_MODEL, "llm_generated": False, "references": []}


class Failing:
    """A model whose answer breaks off."""

    model = "failing"

    def __init__(self, error: Exception, after: int) -> None:
        self.error, self.after, self.closed = error, after, False

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        raise self.error

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        try:
            for number in range(self.after):
                yield AnswerPiece(f"{number} ")
            raise self.error
        finally:
            self.closed = True

    async def close(self) -> None: ...


@pytest.mark.parametrize("error", [Unavailable("secret"), Poison("secret"), RuntimeError("secret")])
@pytest.mark.parametrize("after", [0, 3])
async def test_what_goes_wrong_after_the_start_is_the_last_line(
    harness: QueryHarness, error: Exception, after: int
) -> None:
    chat = Failing(error, after)
    result = await lines(harness, chat)
    assert [set(line) for line in result] == [{"references"}, *[{"response"}] * after, {"error"}]
    assert "error_id: " in result[-1]["error"]
    assert "secret" not in json.dumps(result)
    assert chat.closed


async def test_what_goes_wrong_before_has_a_status_unless_progress_was_told(
    harness: QueryHarness,
) -> None:
    async def down(*_: Any, **__: Any) -> Any:
        raise Unavailable("secret")

    harness.graph.entities = down  # type: ignore[method-assign]
    answer = await posted(harness)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    result = await lines(harness, include_progress=True)
    assert set(result[-1]) == {"error"}
    assert result[0] == {"progress": "extracting_keywords"}
