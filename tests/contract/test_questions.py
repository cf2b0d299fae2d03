"""The contract of questions: in one process and over the wire the same answers, streams, refusals
and ends.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import pytest
import pytest_asyncio

from runtime.errors import (
    BudgetSpent,
    InvalidInput,
    LogDamaged,
    ModelChanged,
    ModelRefused,
    NotFound,
    Poison,
    ProviderPaused,
    RateLimited,
    ServiceError,
    StoreBehind,
    TextFailure,
    Unavailable,
)
from runtime.models.call_scope import set_call_scope
from runtime.models.port import AnswerPiece, Completion, Message
from runtime.models.scripted import ScriptedChat
from services.query.adapters.models import ModelAnswerGenerator
from services.query.answer import Answer
from services.query.errors import BadRequest, Conflict, NotSupported, TooLarge
from services.query.question import Keywords, ProgressStep, Turn
from services.query.questions.port import QuestionRequest
from services.query.status.scope import Scope
from tests.support.querying import QueryHarness, library_of_two
from tests.support.questions import Way, local_questions, place, question, questions_by
from tests.support.waiting import PATIENCE

either_way = pytest.mark.parametrize("way", ["local", "remote"])

ANSWER = "Marie Curie [1] discovered it.\u2028She was awarded for it [7]."


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return await library_of_two()


async def text_of(answer: Answer) -> str:
    """The whole text, whichever way it came."""
    if answer.pieces is None:
        return answer.text
    async with aclosing(answer.pieces):
        return "".join([piece.text async for piece in answer.pieces])


class HeldChat(ScriptedChat):
    """A model that begins an answer and does not go on; it tells when it is given up."""

    def __init__(self) -> None:
        super().__init__([])
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        await self._held()
        raise AssertionError

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        for word in ("Marie ", "Curie ", "did it. "):
            yield AnswerPiece(word)
        await self._held()

    async def _held(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix", "naive", "walk", "auto"])
async def test_answers_and_what_they_rest_on_are_the_same(mode: Any, harness: QueryHarness) -> None:
    local = local_questions(harness)
    first_question = question(
        mode=mode,
        scope=Scope(document_ids=("curie", "baker"), file_path_prefix=""),
        keywords=Keywords(("discovery",), ("Radium",)),
        history=(Turn("user", "Tell me of Marie Curie."),),
        effort="medium",
    )
    async with questions_by("remote", local) as remote:
        here, there = await local.ask(first_question), await remote.ask(first_question)
        assert (there.text, there.by_model) == (here.text, here.by_model)
        assert dict(there.retrieval.references) == dict(here.retrieval.references) != {}
        assert list(there.retrieval.passages) == list(here.retrieval.passages) != []
        assert list(there.retrieval.entities) == list(here.retrieval.entities)
        assert list(there.retrieval.relations) == list(here.retrieval.relations)
        assert there.retrieval.keywords == here.retrieval.keywords
        data_here, data_there = (
            await local.retrieve(first_question),
            await remote.retrieve(first_question),
        )
        assert data_there.tokens == data_here.tokens
        assert list(data_there.retrieval.passages) == list(data_here.retrieval.passages)
        assert data_there.retrieval.info["rounds"][0]["ended"]
        assert await remote.configuration(1) == await local.configuration(1)


@either_way
async def test_a_model_answers_in_pieces_that_keep_every_character(
    way: Way, harness: QueryHarness
) -> None:
    generator = ModelAnswerGenerator(ScriptedChat([ANSWER, ANSWER]))
    async with questions_by(way, local_questions(harness, answer_generator=generator)) as asking:
        answer = await asking.ask(question(is_streamed=True))
        assert answer.pieces is not None and answer.by_model
        assert answer.retrieval.references == {"curie.txt": "1"}
        text = await text_of(answer)
        assert text == "Marie Curie [1] discovered it.\u2028She was awarded for it."
        assert (await asking.ask(question())).text == text


@either_way
async def test_each_step_is_told_when_it_begins(way: Way, harness: QueryHarness) -> None:
    steps: list[ProgressStep] = []
    async with questions_by(way, local_questions(harness)) as asking:
        await asking.ask(question(), steps.append)
    assert steps == [
        "extracting_keywords",
        "retrieving_entities",
        "retrieving_relations",
        "retrieving_chunks",
        "reranking",
        "generating_response",
    ]


@either_way
async def test_a_question_about_the_past_is_answered_from_it(
    way: Way, harness: QueryHarness
) -> None:
    async with questions_by(way, local_questions(harness)) as asking:
        answer = await asking.ask(question(place=place(sequence=0)))
    assert answer.text.endswith("[no-context]") and not answer.retrieval.passages


REFUSALS: list[ServiceError] = [
    Unavailable("the vector store is down"),
    RateLimited("slow down", retry_after=7.5),
    ProviderPaused("paused", retry_after=3),
    LogDamaged("the log has lost messages"),
    StoreBehind("rebuild it"),
    ModelChanged("rebuild it with another model"),
    BudgetSpent("the budget is spent"),
    TextFailure("failed", "it says why"),
    ModelRefused("no", "content", "it says that it may not"),
    Poison("nonsense"),
    InvalidInput("not this"),
    BadRequest("not so"),
    NotFound("nothing there"),
    Conflict("there already"),
    TooLarge("too much"),
    NotSupported("not here"),
]


@either_way
@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
async def test_an_error_has_its_kind_its_sentence_and_its_fields(
    error: ServiceError, way: Way, harness: QueryHarness
) -> None:
    error.model = "language model"

    async def refuse(_: Any) -> Any:
        raise error

    async with questions_by(way, local_questions(harness, embed=refuse)) as asking:
        for attempt in (asking.ask(question()), asking.retrieve(question())):
            with pytest.raises(type(error)) as caught_error:
                await attempt
            assert type(caught_error.value) is type(error)
            assert (str(caught_error.value), caught_error.value.model) == (str(error), error.model)
            for name in ("retry_after", "sentence", "reason"):
                assert getattr(caught_error.value, name, None) == getattr(error, name, None)


@either_way
async def test_an_error_amid_an_answer_comes_behind_what_was_said(
    way: Way, harness: QueryHarness
) -> None:
    class Breaking(ScriptedChat):
        async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
            yield AnswerPiece("Marie Curie did it. " * 20)
            raise RateLimited("slow down", retry_after=4)

    generator = ModelAnswerGenerator(Breaking([]))
    async with questions_by(way, local_questions(harness, answer_generator=generator)) as asking:
        answer = await asking.ask(question(is_streamed=True))
        assert answer.pieces is not None
        texts: list[str] = []
        with pytest.raises(RateLimited, match="slow down"):
            async for piece in answer.pieces:
                texts.append(piece.text)
        assert "Marie Curie did it." in "".join(texts)


async def gone(event: asyncio.Event) -> None:
    """The event, which must come soon."""
    await asyncio.wait_for(event.wait(), PATIENCE)


@either_way
async def test_who_goes_away_from_a_stream_ends_the_models_work(
    way: Way, harness: QueryHarness
) -> None:
    chat = HeldChat()
    local = local_questions(harness, answer_generator=ModelAnswerGenerator(chat))
    async with questions_by(way, local) as asking:
        answer = await asking.ask(question(is_streamed=True))
        assert answer.pieces is not None
        async with aclosing(answer.pieces):
            await anext(answer.pieces)
            reading = asyncio.ensure_future(anext(answer.pieces))
            await gone(chat.begun)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        await gone(chat.ended)


@either_way
async def test_who_is_cancelled_ends_the_models_work(way: Way, harness: QueryHarness) -> None:
    chat = HeldChat()
    local = local_questions(harness, answer_generator=ModelAnswerGenerator(chat))
    async with questions_by(way, local) as asking:
        work = asyncio.ensure_future(asking.ask(question()))
        await gone(chat.begun)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await gone(chat.ended)


@either_way
async def test_many_questions_are_answered_at_once(way: Way, harness: QueryHarness) -> None:
    set_call_scope("w")
    async with questions_by(way, local_questions(harness)) as asking:
        requests: list[QuestionRequest] = [question(top_k=number) for number in range(1, 41)]
        answers = await asyncio.gather(*map(asking.ask, requests))
    assert all("Marie Curie discovered radium" in answer.text for answer in answers)
