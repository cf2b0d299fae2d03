"""What may stand in a question over HTTP, and what becomes of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from runtime.errors import ConfigurationError
from services.query.answering.ask import NEEDS_MODEL
from services.query.passage import Passage
from services.query.settings import QuerySettings
from tests.support.querying import QueryHarness
from tests.unit.gateway.test_api import QUESTION, client


async def test_what_is_null_or_unknown_in_a_request_is_as_if_it_were_not_there(
    api: httpx.AsyncClient,
) -> None:
    names = (
        "top_k",
        "user_prompt",
        "response_type",
        "conversation_history",
        "enable_rerank",
        "stream",
    )
    history = [{"role": "user", "content": "Hello", "name": "Ada"}]
    for body in (dict.fromkeys(names), {"conversation_history": history, "model_func": "x"}):
        answer = await api.post("/query", json={"query": QUESTION, **body})
        assert answer.status_code == 200
        assert "Marie Curie discovered radium" in answer.json()["response"]


async def test_a_bypass_may_be_one_letter_and_says_that_it_needs_a_model(
    api: httpx.AsyncClient,
) -> None:
    answer = (await api.post("/query", json={"query": "?", "mode": "bypass"})).json()
    assert (answer["response"], answer["references"], answer["llm_generated"]) == (
        NEEDS_MODEL,
        [],
        False,
    )


@pytest.mark.parametrize(
    ("fields", "instructions"),
    [
        ({}, "Be kind.\n"),
        ({"user_prompt": "Rhyme."}, "Be kind.\nRhyme."),
        ({"user_prompt": "Rhyme.", "disable_user_prompt_prefix": True}, "Rhyme."),
    ],
)
@pytest.mark.parametrize("from_file", [False, True])
async def test_the_servers_instructions_come_before_those_of_the_request(
    harness: QueryHarness, tmp_path: Path, fields: Any, instructions: str, from_file: bool
) -> None:
    (tmp_path / "prefix.md").write_text("Be kind.\n", "utf-8")
    prefix_settings = {"user_prompt_prefix_file": str(tmp_path / "prefix.md")} if from_file else {}
    settings = QuerySettings(
        user_prompt_prefix="Unread." if from_file else "Be kind.\n", **prefix_settings
    )
    async with client(harness.app(question_settings=settings)) as api:
        answer = await api.post(
            "/query", json={"query": QUESTION, "only_need_prompt": True, **fields}
        )
    assert f"Additional instructions: \n\n{instructions}\n\nKnow" in answer.json()["response"]


def test_a_file_of_instructions_that_cannot_be_read_is_a_mistake_in_the_configuration() -> None:
    with pytest.raises(ConfigurationError, match="USER_PROMPT_PREFIX_FILE"):
        assert QuerySettings(user_prompt_prefix_file="/nowhere/at/all").prompt_prefix


class ReversingReranker:
    """A reranker that likes the last passage best, and says so by its score."""

    def __init__(self) -> None:
        self.asked = 0

    async def rerank(
        self, question: str, passages: Sequence[Passage], top_n: int
    ) -> Sequence[tuple[Passage, float | None]]:
        self.asked += 1
        return [(passage, float(place)) for place, passage in enumerate(passages)][::-1][:top_n]


@pytest.mark.parametrize(
    ("by_default", "enable_rerank", "calls"),
    [(True, None, 1), (True, False, 0), (False, None, 0), (False, True, 1)],
)
async def test_the_reranker_is_asked_when_the_request_or_else_the_setting_says_so(
    harness: QueryHarness, by_default: bool, enable_rerank: bool | None, calls: int
) -> None:
    reranker = ReversingReranker()
    deps = harness.deps(reranker=reranker, min_rerank_score=1.0)
    app = harness.app(answering=deps, question_settings=QuerySettings(rerank_by_default=by_default))
    body = {
        "query": QUESTION,
        "mode": "naive",
        "enable_rerank": enable_rerank,
        "include_chunk_content": True,
        "only_need_context": True,
    }
    async with client(app) as api:
        (reference,) = (await api.post("/query", json=body)).json()["references"]
    assert reranker.asked == calls
    assert [text.split()[0] for text in reference["content"]] == (
        ["Radium"] if calls else ["Marie", "Radium"]
    )


@pytest.mark.parametrize("option", ["include_chunk_content", "include_chunk_locations", "neither"])
@pytest.mark.parametrize("path", ["/query", "/query/stream"])
async def test_references_say_where_their_passages_stand_when_asked(
    api: httpx.AsyncClient, option: str, path: str
) -> None:
    (reference,) = (
        await api.post(path, json={"query": QUESTION, "mode": "naive", option: True})
    ).json()["references"]
    assert ("chunks" in reference) == (option != "neither")
    assert bool(reference.get("content")) == (option == "include_chunk_content")
    if option != "neither":
        assert reference["chunks"][0] == {
            "chunk_id": "curie-chunk-000",
            "document_id": "curie",
            "start": None,
            "end": None,
            "page": None,
        }
        assert len(reference["chunks"]) == 2
