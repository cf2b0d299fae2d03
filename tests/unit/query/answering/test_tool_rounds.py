"""High effort with a model: it looks around with tools, within its budget and what its question may
see.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from contracts.access import Access
from contracts.events import AccessChanged
from runtime.errors import Unavailable
from runtime.models.port import Completion, Message, ToolCall
from runtime.models.scripted import Answer, Call, ScriptedChat
from runtime.stores.documents.memory import MemoryRows
from services.query.adapters.models import ModelAnswerGenerator, ModelFollowUps
from services.query.adapters.row_cache import RowCache
from services.query.adapters.tool_choices import ModelToolChoices
from services.query.answering.ask import ask
from services.query.answering.effort import retrieve_with_effort
from services.query.answering.port import EffortLimits
from services.query.partitions import Partitions
from services.query.question import ProgressStep, Question
from services.query.status.scope import Scope
from services.query.visibility.viewer import Viewer
from tests.support.access import client
from tests.support.events import entity, relation, sealed
from tests.support.querying import LIVE, QueryHarness

W = Partitions.of("w", LIVE)
QUESTION = Question("Who keeps the lamp that Ada Marlow bought?", "naive", 1, 1, effort="high")
BOUGHT = "Ada Marlow bought the Brass Lamp in Port Elm."
KEPT = "The Brass Lamp stands in the tower, and Tom Reed trims it."
BEFORE = "The tower of Port Elm has ninety steps."
SECRET = "The Brass Lamp is a forgery."


def calls(*named: tuple[str, dict[str, Any]], text: str = "") -> Completion:
    """A reply that calls these tools."""
    return Completion(
        text,
        calls=tuple(ToolCall(f"c{n}", name, fields) for n, (name, fields) in enumerate(named)),
        native={"content": text},
    )


FIND_LAMP = ("find_text", {"keywords": ["Brass Lamp"]})
ENOUGH = Completion("Nothing is missing.")


async def library(**fields: Any) -> QueryHarness:
    """A purchase, a tower, and a document with `fields` that says the lamp is a forgery."""
    harness = QueryHarness()
    marlow, lamp = entity("Ada Marlow"), entity("Brass Lamp")
    purchase = ([marlow, lamp], [relation("Ada Marlow", "Brass Lamp")])
    await harness.index("purchase", BOUGHT, says=[purchase])
    custody = ([lamp, entity("Tom Reed")], [relation("Brass Lamp", "Tom Reed")])
    await harness.index("tower", BEFORE, KEPT, says=[([], []), custody])
    await harness.index("secret", SECRET, **fields)
    return harness


def asking(harness: QueryHarness, *script: Answer, **limits: Any) -> tuple[ScriptedChat, Any]:
    chat = ScriptedChat(list(script))
    deps = harness.deps(
        follow_ups=ModelFollowUps(chat),
        tool_choices=ModelToolChoices(chat),
        effort_limits=EffortLimits(**limits),
    )
    return chat, deps


def rounds(result: Any) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", result.info["rounds"])


def results_of(call: Call) -> list[str]:
    """What the tools had returned when the model was asked."""
    return [message.content for message in call.messages if message.role == "tool"]


async def test_a_question_of_two_steps_is_answered_from_what_the_tools_read() -> None:
    chat, deps = asking(
        await library(),
        calls(FIND_LAMP, text="who keeps the Brass Lamp"),
        calls(("read_passages", {"document_id": "tower", "order": 1, "after": 0})),
        ENOUGH,
    )
    steps: list[tuple[str, str]] = []

    def note(step: ProgressStep, detail: str = "") -> None:
        steps.append((step, detail))

    question = Question(QUESTION.query, "naive", 1, 4, effort="high")
    result = await retrieve_with_effort(question, W, replace(deps, on_progress=note))
    texts = {passage.content for _, passage in result.passages}
    assert {BOUGHT, KEPT, BEFORE} <= texts
    first, second, third = rounds(result)
    assert first["missing"] == "who keeps the Brass Lamp"
    assert first["searches"] == ["find_text: Brass Lamp"]
    assert (second["steps"][0]["tool"], second["steps"][0]["passages"]) == ("read_passages", 1)
    assert third["ended"] == "the model asks for nothing more"
    assert ("using_tool", "read_passages: tower, 1, 0") in steps
    (found,) = results_of(chat.calls[1])
    assert KEPT in found and json.loads(found.splitlines()[-1])["entities"] == ["Brass Lamp"]
    assert BEFORE in results_of(chat.calls[2])[1]
    assert all(call.tools for call in chat.calls)


async def test_paths_tell_how_entities_are_connected() -> None:
    chat, deps = asking(
        await library(),
        calls(("find_paths", {"source": "Ada Marlow", "target": "Tom Reed"})),
        ENOUGH,
    )
    result = await retrieve_with_effort(QUESTION, W, deps)
    assert [entity.name for entity in result.entities] == ["Ada Marlow", "Brass Lamp", "Tom Reed"]
    assert len(result.relations) == 2
    assert "Tom Reed" in results_of(chat.calls[1])[0]


async def test_a_search_finds_by_meaning_in_the_mode_of_the_question() -> None:
    chat, deps = asking(
        await library(), calls(("search", {"question": "How many steps has the tower?"})), ENOUGH
    )
    result = await retrieve_with_effort(
        Question("Ada Marlow?", "naive", 1, 2, effort="high"), W, deps
    )
    assert BEFORE in {passage.content for _, passage in result.passages}
    assert BEFORE in results_of(chat.calls[1])[0]


async def test_what_the_viewer_does_not_see_no_tool_shows() -> None:
    access = Access(allow=("user:eve",))
    harness = await library(access=access)
    script = [
        calls(
            FIND_LAMP,
            ("read_passages", {"document_id": "secret", "order": 0}),
            ("search", {"question": "Is the Brass Lamp a forgery?"}),
        ),
        ENOUGH,
    ]
    for viewer, is_seen in ((Viewer.of(["user:eve"]), True), (Viewer.of(["user:tom"]), False)):
        chat, deps = asking(harness, *script)
        question = Question(QUESTION.query, "naive", 9, 9, effort="high", viewer=viewer)
        result = await retrieve_with_effort(question, W, deps)
        texts = results_of(chat.calls[1]) + [passage.content for _, passage in result.passages]
        assert [SECRET in text for text in texts].count(True) == (is_seen and 4), viewer
        assert KEPT in texts[0]


async def test_what_is_hidden_while_the_model_looks_around_is_not_in_the_answer() -> None:
    harness = await library()
    replies = [calls(FIND_LAMP), ENOUGH, calls(FIND_LAMP), ENOUGH]

    async def script(_: Sequence[Message]) -> Answer:
        if len(replies) == 3:
            change = AccessChanged(document_id="secret", access=Access(allow=("user:eve",)))
            await harness.log.publish(sealed(change, id="hidden", workspace="w"))
        return replies.pop(0)

    chat = ScriptedChat(script)
    deps = harness.deps(follow_ups=ModelFollowUps(chat), tool_choices=ModelToolChoices(chat))
    viewer = Viewer.of(["user:tom"])
    question = Question(QUESTION.query, "naive", 9, 9, effort="high", viewer=viewer)
    result = await retrieve_with_effort(question, W, deps)
    assert len(chat.calls) == 4
    assert {passage.document_id for _, passage in result.passages} == {"purchase", "tower"}


async def test_the_filter_of_the_question_holds_for_each_tool() -> None:
    chat, deps = asking(
        await library(),
        calls(
            FIND_LAMP,
            ("read_passages", {"document_id": "tower", "order": 1}),
            ("find_paths", {"source": "Ada Marlow", "target": "Tom Reed"}),
        ),
        ENOUGH,
    )
    question = Question(
        QUESTION.query, "naive", 9, 9, effort="high", scope=Scope(document_ids=("purchase",))
    )
    result = await retrieve_with_effort(question, W, deps)
    assert {passage.document_id for _, passage in result.passages} == {"purchase"}
    found, read, path = results_of(chat.calls[1])
    assert BOUGHT in found and KEPT not in found
    assert "no document" in read and "no entity" in path
    assert [bool(step["error"]) for step in rounds(result)[0]["steps"]] == [False, True, True]


async def test_the_budgets_of_rounds_and_calls_are_kept_and_told() -> None:
    many = [("find_text", {"keywords": [f"word {n}"]}) for n in range(5)]
    chat, deps = asking(await library(), calls(*many), calls(FIND_LAMP), high_rounds=2, searches=2)
    result = await retrieve_with_effort(QUESTION, W, deps)
    assert len(chat.calls) == 2
    assert len(rounds(result)[0]["steps"]) == 2
    assert results_of(chat.calls[1])[2:] == ["not done: at most 2 calls in one reply"] * 3
    assert rounds(result)[-1]["ended"] == "effort high has at most 2 rounds"
    assert KEPT in chat.calls[0].text or result.passages


async def test_the_budget_of_tokens_ends_the_rounds_with_what_was_read() -> None:
    _, deps = asking(await library(), calls(FIND_LAMP), tokens=2_000)
    result = await retrieve_with_effort(QUESTION, W, deps)
    assert rounds(result)[-1]["ended"] == "the budget of 2000 tokens is used up"
    assert result.passages
    chat, deps = asking(await library(), tokens=100)
    result = await retrieve_with_effort(QUESTION, W, deps)
    assert chat.calls == [] and "budget of 100 tokens" in rounds(result)[0]["ended"]


async def test_the_budget_of_seconds_ends_the_rounds_with_what_was_read() -> None:
    harness = await library()
    replies = [calls(FIND_LAMP)]

    async def script(_: Sequence[Message]) -> Answer:
        if replies:
            return replies.pop()
        await asyncio.Event().wait()
        raise AssertionError

    deps = harness.deps(
        follow_ups=ModelFollowUps(ScriptedChat([])),
        tool_choices=ModelToolChoices(ScriptedChat(script)),
        effort_limits=EffortLimits(seconds=0.3),
    )
    result = await retrieve_with_effort(
        Question("Ada Marlow?", "naive", 1, 9, effort="high"), W, deps
    )
    assert rounds(result)[-1]["ended"] == "the budget of 0.3 seconds is used up"
    assert KEPT in {passage.content for _, passage in result.passages}


async def test_wrong_calls_are_told_to_the_model_and_repeated_ones_are_not_done() -> None:
    wrong = [
        ("find_text", {"keywords": "lamp"}),
        ("search_the_web", {"q": "lamp"}),
        ("read_passages", {"document_id": "tower", "order": 99}),
    ]
    chat, deps = asking(await library(), calls(*wrong), calls(FIND_LAMP), calls(FIND_LAMP), ENOUGH)
    result = await retrieve_with_effort(QUESTION, W, deps)
    texts = results_of(chat.calls[-1])
    assert [text.startswith("error: ") for text in texts] == [True, True, True, False, False]
    assert "keywords" in texts[0] and "find_text" in texts[1] and "no passage 99" in texts[2]
    assert texts[4] == "done before: see above"
    assert len(rounds(result)) == 4


async def test_a_model_that_fails_leaves_what_was_found() -> None:
    _, deps = asking(await library(), calls(FIND_LAMP), Unavailable("down"))
    result = await retrieve_with_effort(
        Question("Ada Marlow?", "naive", 1, 9, effort="high"), W, deps
    )
    assert rounds(result)[-1]["ended"] == "the model did not answer"
    assert KEPT in {passage.content for _, passage in result.passages}


async def test_an_equal_conversation_is_paid_for_once() -> None:
    harness = await library()
    rows = MemoryRows()
    judge = ScriptedChat([calls(FIND_LAMP), ENOUGH])
    deps = harness.deps(
        follow_ups=ModelFollowUps(judge),
        tool_choices=ModelToolChoices(judge, RowCache(rows, "keywords")),
        answer_generator=ModelAnswerGenerator(ScriptedChat(["Tom [1].", "Tom [1]."])),
    )
    # The moment of the question is no part of the conversation.
    first, second = [
        await ask(Question(QUESTION.query, "naive", effort="high", valid_at=at), W, deps)
        for at in (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))
    ]
    assert (first.text, len(judge.calls)) == (second.text, 2)
    assert rounds(first.retrieval) == rounds(second.retrieval)


async def test_the_api_shows_each_step_and_streams_it() -> None:
    harness = await library()
    body = {"query": QUESTION.query, "mode": "naive", "effort": "high"}
    script: list[Answer] = [calls(FIND_LAMP), ENOUGH]
    _, deps = asking(harness, *script, *script)
    async with client(harness.app(answering=deps)) as api:
        answer = (await api.post("/query", json=body)).json()
        lines = (
            await api.post("/query/stream", json={**body, "include_progress": True})
        ).text.splitlines()
    step = {"tool": "find_text", "arguments": "Brass Lamp", "passages": 0}
    assert answer["rounds"][0]["steps"] == [step] and "steps" not in answer["rounds"][1]
    progress = {"progress": "using_tool", "detail": "find_text: Brass Lamp"}
    assert progress in map(json.loads, lines)
