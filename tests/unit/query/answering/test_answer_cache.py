"""Answers and keywords of the model are paid for once, and never given where they no longer
hold.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contracts.events import DocumentDeleted
from contracts.graph import Generations, Partition
from runtime.errors import Unavailable
from runtime.models.port import Message
from runtime.models.scripted import ScriptedChat
from runtime.stores.documents.port import Table
from services.query.adapters.answer_cache import StoredAnswers
from services.query.adapters.models import ModelAnswerGenerator, ModelKeywordExtractor
from services.query.adapters.row_cache import RowCache
from services.query.answering.ask import Answer, ask
from services.query.answering.dependencies import QueryDependencies
from services.query.context.prompt import Prompt
from services.query.partitions import Partitions
from services.query.question import Question, Turn
from tests.support.events import sealed
from tests.support.querying import LIVE, QueryHarness, library_of_two

W = Partitions.of("w", LIVE)
QUESTION = Question("Who discovered radium?", "naive")


class CountingModel:
    """A model that says how often it was asked, and what a test lets it say."""

    def __init__(self) -> None:
        self.chat = ScriptedChat(self.say)
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def say(self, _: Any) -> str:
        number = len(self.chat.calls)
        await self.go_on.wait()
        return f"Answer {number} [1] [9]."

    def deps(self, harness: QueryHarness, cache: RowCache | None = None) -> QueryDependencies:
        memories = StoredAnswers(
            cache or RowCache(harness.rows, "answers"), harness.log, self.chat.model
        )
        return harness.deps(answer_generator=ModelAnswerGenerator(self.chat), answer_cache=memories)


async def said(
    question: Question,
    deps: QueryDependencies,
    partitions: Partitions = W,
    *,
    is_streamed: bool = False,
) -> tuple[str, bool]:
    """The text, and whether it came in pieces."""
    answer: Answer = await ask(question, partitions, deps, is_streamed=is_streamed)
    assert answer.by_model
    if answer.pieces is None:
        return answer.text, False
    return "".join([piece.text async for piece in answer.pieces]), True


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
async def test_the_same_question_is_answered_once_and_in_one_piece_then(
    first: bool, second: bool
) -> None:
    deps = CountingModel().deps(await library_of_two())
    assert await said(QUESTION, deps, is_streamed=first) == ("Answer 1 [1].", first)
    assert await said(QUESTION, deps, is_streamed=second) == ("Answer 1 [1].", False)


async def test_replicas_share_what_is_remembered() -> None:
    harness = await library_of_two()
    model = CountingModel()
    assert await said(QUESTION, model.deps(harness)) == await said(QUESTION, model.deps(harness))


async def test_whatever_happens_in_the_workspace_ends_what_is_remembered_and_nothing_elsewhere_does() -> (  # noqa: E501
    None
):
    harness = await library_of_two()
    model = CountingModel()
    deps = model.deps(harness)
    await said(QUESTION, deps)
    await harness.log.publish(
        sealed(DocumentDeleted(document_id="other"), id="1", workspace="elsewhere")
    )
    assert (await said(QUESTION, deps))[0] == "Answer 1 [1]."
    await harness.log.publish(sealed(DocumentDeleted(document_id="nothing"), id="2", workspace="w"))
    assert (await said(QUESTION, deps))[0] == "Answer 2 [1]."


async def test_what_a_projection_takes_in_late_ends_it_too() -> None:
    harness = await library_of_two()
    model = CountingModel()
    deps = model.deps(harness)
    await said(QUESTION, deps)
    await harness.index("late", "Marie Curie discovered radium in a shed.", version=2000)
    assert (await said(QUESTION, deps))[0].startswith("Answer 2")


async def test_an_event_during_retrieval_makes_the_answer_one_of_the_state_before() -> None:
    harness = await library_of_two()
    model = CountingModel()
    deps = model.deps(harness)
    embed = deps.embed

    async def slow(texts: Any) -> Any:
        await harness.log.publish(
            sealed(DocumentDeleted(document_id="d"), id=f"{len(harness.log.messages)}")
        )
        return await embed(texts)

    await said(QUESTION, replace(deps, embed=slow))
    assert (await said(QUESTION, deps))[0] == "Answer 2 [1]."


@pytest.mark.parametrize(
    "question",
    [
        replace(QUESTION, query="Who found radium?"),
        replace(QUESTION, response_type="Bullet Points"),
        replace(QUESTION, user_prompt="Rhyme."),
        replace(QUESTION, chunk_top_k=1),
        replace(QUESTION, mode="mix"),
    ],
    ids=["query", "form", "instructions", "limits", "mode"],
)
async def test_another_question_has_another_answer(question: Question) -> None:
    deps = CountingModel().deps(await library_of_two())
    await said(QUESTION, deps)
    assert (await said(question, deps))[0].startswith("Answer 2")


async def test_another_generation_model_or_workspace_has_another_answer() -> None:
    harness = await library_of_two()
    model = CountingModel()
    memories = model.deps(harness).answer_cache
    assert memories

    async def basis(partitions: Partitions) -> Any:
        place = await memories.entry_factory(QUESTION, partitions.all)
        return place(Prompt("", "")) if place else None

    other_partitions = (
        Partitions.of("w", Generations(status=2)),
        Partitions.of("w", Generations(vectors=2)),
        Partitions.of("v", LIVE),
    )
    assert await basis(W) == await basis(W)
    assert await basis(W) not in [await basis(partitions) for partitions in other_partitions]
    await said(QUESTION, model.deps(harness))
    model.chat.model = "another"
    assert (await said(QUESTION, model.deps(harness)))[0].startswith("Answer 2")


async def test_a_conversation_and_a_bypass_are_answered_anew_each_time() -> None:
    deps = CountingModel().deps(await library_of_two())
    conversation = replace(QUESTION, history=(Turn("user", "Hello"),))
    for number, question in enumerate((conversation, replace(QUESTION, mode="bypass"))):
        for again in (1, 2):
            assert (await said(question, deps))[0].startswith(f"Answer {2 * number + again}")


async def test_equal_questions_at_the_same_time_are_one_call() -> None:
    harness = await library_of_two()
    model = CountingModel()
    deps = model.deps(harness)
    model.go_on.clear()
    asking = [asyncio.create_task(said(QUESTION, deps)) for _ in range(4)]
    while not model.chat.calls:
        await asyncio.sleep(0)
    # What is streamed waits for a call that is under way, and nobody waits for what is streamed.
    asking.append(asyncio.create_task(said(QUESTION, deps, is_streamed=True)))
    model.go_on.set()
    assert {text for text, _ in await asyncio.gather(*asking)} == {"Answer 1 [1]."}
    assert len(model.chat.calls) == 1


async def test_an_answer_that_was_broken_off_is_not_remembered() -> None:
    deps = CountingModel().deps(await library_of_two())
    answer = await ask(QUESTION, W, deps, is_streamed=True)
    assert answer.pieces
    await anext(answer.pieces)
    await answer.pieces.aclose()
    assert (await said(QUESTION, deps))[0].startswith("Answer 2")


async def test_a_bus_or_a_store_that_is_silent_costs_only_the_memory() -> None:
    harness = await library_of_two()
    model = CountingModel()

    async def down(*_: Any) -> Any:
        raise Unavailable("down")

    harness.log.last = down  # type: ignore[method-assign]
    assert (await said(QUESTION, model.deps(harness)))[0].startswith("Answer 1")
    del harness.log.last
    cache = RowCache(harness.rows, "answers")
    cache.put = down  # type: ignore[method-assign]
    assert (await said(QUESTION, model.deps(harness, cache)))[0].startswith("Answer 2")


async def test_one_row_is_kept_for_each_question() -> None:
    harness = await library_of_two()
    model = CountingModel()
    for number in range(3):
        await said(QUESTION, model.deps(harness))
        await harness.log.publish(sealed(DocumentDeleted(document_id="d"), id=f"{number}"))
    assert len(model.chat.calls) == 3
    assert len(await harness.rows.scan(Table("answers", Partition("w", 0)))) == 1


WORDS = '{"high_level_keywords": ["physics"], "low_level_keywords": ["Radium"]}'


async def test_keywords_are_asked_for_once_per_workspace() -> None:
    harness = await library_of_two()
    chat = ScriptedChat([WORDS, WORDS])
    cache = RowCache(harness.rows, "keywords")
    for workspace in ("w", "w", "v", "v"):
        result = await ModelKeywordExtractor(chat, "English", cache).extract(
            workspace, QUESTION.query
        )
        assert (result.high, result.low) == (("physics",), ("Radium",))
    assert len(chat.calls) == 2


async def test_keywords_that_were_not_found_are_looked_for_again() -> None:
    chat = ScriptedChat(["nothing", WORDS, WORDS, WORDS])
    keywords = ModelKeywordExtractor(
        chat, "English", RowCache((await library_of_two()).rows, "keywords")
    )
    assert not await keywords.extract("w", QUESTION.query)
    assert await asyncio.gather(
        keywords.extract("w", QUESTION.query), keywords.extract("w", QUESTION.query)
    )
    assert len(chat.calls) == 2
    await ModelKeywordExtractor(chat, "German", RowCache(QueryHarness().rows, "keywords")).extract(
        "w", QUESTION.query
    )
    assert isinstance(chat.calls[2].messages[0], Message)
