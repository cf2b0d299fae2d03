"""Questions with medium effort: rounds, their budgets, and what ends them; more effort without a
model.
"""

import json
from typing import Any, cast

import pytest

from runtime.errors import RateLimited, Unavailable
from runtime.models.scripted import Answer, ScriptedChat
from runtime.stores.documents.memory import MemoryRows
from services.query.adapters.answer_cache import StoredAnswers
from services.query.adapters.models import ModelAnswerGenerator, ModelFollowUps
from services.query.adapters.row_cache import RowCache
from services.query.answering.ask import ask
from services.query.answering.effort import retrieve_with_effort
from services.query.answering.port import EffortLimits
from services.query.context.follow_up import FollowUp, parse_follow_up
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.settings import QuerySettings
from tests.support.access import client
from tests.support.querying import LIVE, QueryHarness, library_of_two

W = Partitions.of("w", LIVE)
QUESTION = Question("Who discovered radium?", "naive", chunk_top_k=1, effort="medium")


def reply(*searches: str, missing: str = "where it was used") -> str:
    return json.dumps({"complete": not searches, "missing": missing, "searches": searches})


def asking(harness: QueryHarness, *script: Answer, **limits: Any) -> tuple[ScriptedChat, Any]:
    chat = ScriptedChat(list(script))
    effort_limits = EffortLimits(**{"medium_rounds": 3, **limits})
    return chat, harness.deps(follow_ups=ModelFollowUps(chat), effort_limits=effort_limits)


def rounds(result: Any) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", result.info["rounds"])


async def test_low_effort_is_one_search_that_asks_no_model_and_says_nothing_of_rounds() -> None:
    chat, deps = asking(await library_of_two())
    assert Question("?").effort == "low"
    result = await retrieve_with_effort(Question("Who discovered radium?", "naive"), W, deps)
    assert result and "rounds" not in result.info and chat.calls == []


async def test_a_model_reads_what_was_found_and_its_searches_bring_new_passages() -> None:
    chat, deps = asking(
        await library_of_two(), reply("On what was radium used in the dark?"), reply(missing="")
    )
    result = await retrieve_with_effort(
        Question("Who found it?", "naive", chunk_top_k=2, effort="medium"), W, deps
    )
    first, second = rounds(result)
    assert first["searches"] == ("On what was radium used in the dark?",)
    assert (first["missing"], second["ended"]) == ("where it was used", "nothing is missing")
    assert min(first["tokens"], second["tokens"]) > 100
    assert len(chat.calls) == 2 and all(call.json for call in chat.calls)
    assert "On what was radium used in the dark?" in chat.calls[1].text
    assert result.info["effort"] == "medium"


async def test_searches_stay_in_the_budget_of_passages_and_renumber_the_references() -> None:
    _, deps = asking(
        await library_of_two(), reply("dials of watches"), reply("glows in the dark"), reply()
    )
    result = await retrieve_with_effort(QUESTION, W, deps)
    assert len(result.passages) == 1 == result.info["final_chunks_count"]
    assert [id for id, _ in result.passages] == list(result.references.values())


async def test_rounds_and_searches_are_bounded() -> None:
    script = [reply(*(f"search {n} {m}" for m in range(9))) for n in range(9)]
    for limit in (1, 2):
        chat, deps = asking(await library_of_two(), *script, medium_rounds=limit, searches=2)
        result = await retrieve_with_effort(Question("radium?", "naive", effort="medium"), W, deps)
        assert len(chat.calls) <= limit and all(
            len(search_round["searches"]) <= 2 for search_round in rounds(result)
        )


async def test_the_budget_of_tokens_ends_the_rounds_before_a_call() -> None:
    chat, deps = asking(await library_of_two(), tokens=100)
    result = await retrieve_with_effort(QUESTION, W, deps)
    assert chat.calls == [] and "budget of 100 tokens" in rounds(result)[0]["ended"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I cannot help with that.", "could not be read"),
        ("[]", "could not be read"),
        ('{"searches": "radium"}', "could not be read"),
        ("{" * 3000, "could not be read"),
        (reply("who DISCOVERED radium?"), "nothing else to search for"),
        (Unavailable("down"), "did not answer"),
        (RateLimited("wait"), "did not answer"),
    ],
)
async def test_a_bad_reply_ends_the_rounds_and_leaves_what_was_found(
    answer: Answer, reason: str
) -> None:
    harness = await library_of_two()
    _, deps = asking(harness, answer)
    result = await retrieve_with_effort(QUESTION, W, deps)
    (search_round,) = rounds(result)
    assert reason in search_round["ended"] and search_round["searches"] == ()
    without_effort = await retrieve_with_effort(
        Question(QUESTION.query, "naive", chunk_top_k=1), W, deps
    )
    assert (result.passages, result.references) == (
        without_effort.passages,
        without_effort.references,
    )


@pytest.mark.parametrize(
    ("text", "follow_up"),
    [
        (
            '```json\n{"complete": false, "missing": "a", "searches": ["b", "b", " "]}\n```',
            FollowUp("a", ("b",)),
        ),
        ("<think>{}</think>{'complete': False, 'searches': ['b'],}", FollowUp("", ("b",))),
        ('{"complete": true, "searches": ["b"]}', FollowUp()),
        ('{"complete": false, "missing": 7, "searches": [1, "b", {"x": 1}]}', FollowUp("", ("b",))),
        ("", None),
    ],
)
def test_replies_are_repaired_or_rejected(text: str, follow_up: FollowUp | None) -> None:
    assert parse_follow_up(text) == follow_up


def test_a_reply_cannot_make_long_searches() -> None:
    result = parse_follow_up(reply("x" * 100_000))
    assert result is None or all(len(search) <= 300 for search in result.searches)


async def test_without_a_model_more_effort_searches_wider_within_the_bounds_of_a_request() -> None:
    harness = await library_of_two()
    low = await retrieve_with_effort(Question("radium", "naive", chunk_top_k=1), W, harness.deps())
    high = await retrieve_with_effort(
        Question("radium", "naive", chunk_top_k=1, effort="high"), W, harness.deps()
    )
    assert len(high.passages) > len(low.passages) == 1
    largest_question = Question("radium", "naive", top_k=900, chunk_top_k=900, effort="high")
    (search_round,) = rounds(await retrieve_with_effort(largest_question, W, harness.deps()))
    assert "top_k 1000 and chunk_top_k 1000" in search_round["ended"]


async def test_an_equal_round_is_paid_for_once_and_answers_of_another_effort_are_not_given() -> (
    None
):
    harness = await library_of_two()
    rows = MemoryRows()
    judge = ScriptedChat([reply()])
    chat = ScriptedChat(["low [1].", "more [1]."])
    deps = harness.deps(
        follow_ups=ModelFollowUps(judge, RowCache(rows, "keywords")),
        answer_generator=ModelAnswerGenerator(chat),
        answer_cache=StoredAnswers(RowCache(rows, "answers"), harness.log, chat.model),
    )
    low = Question("Who discovered radium?", "naive", chunk_top_k=1)
    texts = [(await ask(question, W, deps)).text for question in (low, QUESTION, QUESTION, low)]
    assert texts == ["low [1].", "more [1].", "more [1].", "low [1]."]
    assert (len(judge.calls), len(chat.calls)) == (1, 2)


async def test_the_api_lists_the_rounds_in_every_form_of_an_answer() -> None:
    harness = await library_of_two()
    body = {"query": "Who discovered radium?", "mode": "naive", "effort": "medium"}
    script: list[Answer] = [reply()] * 3
    _, deps = asking(harness, *script)
    async with client(harness.app(answering=deps)) as api:
        answer = (await api.post("/query", json=body)).json()
        data = (await api.post("/query/data", json=body)).json()
        lines = (
            await api.post("/query/stream", json={**body, "include_progress": True})
        ).text.splitlines()
        low_effort = (await api.post("/query", json={**body, "effort": "low"})).json()
        refusal = await api.post("/query", json={**body, "effort": "highest"})
    expected_rounds = [{"searches": [], "missing": "where it was used", "new_passages": 0}]
    for result in (
        answer["rounds"],
        data["metadata"]["processing_info"]["rounds"],
        json.loads(lines[-2])["rounds"],
    ):
        assert [
            {key: search_round[key] for key in expected_rounds[0]} for search_round in result
        ] in (
            expected_rounds,
            [{**expected_rounds[0], "missing": ""}],
        )
    assert '{"progress": "assessing_context"}' in lines
    assert "rounds" not in low_effort and refusal.status_code == 422


def test_the_budgets_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"EFFORT_MEDIUM_ROUNDS": "2", "EFFORT_HIGH_ROUNDS": "5", "EFFORT_ROUND_SEARCHES": "4"}
    limits = {"EFFORT_MAX_TOKENS": "9", "EFFORT_MAX_SECONDS": "7"}
    for name, value in {**values, **limits}.items():
        monkeypatch.setenv(name, value)
    assert QuerySettings().effort_limits == EffortLimits(2, 5, 4, 9, 7.0)
