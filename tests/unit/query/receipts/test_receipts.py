"""A receipt says what was asked, from which place of the log, on what the answer rests and what it
cost, in the form that the setting has; no answer waits for it.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast

import pytest

from contracts.envelope import Envelope
from contracts.events import AnswerGiven, Event
from contracts.ids import entity_vector_id, relation_vector_id, sha256
from contracts.values import TokenUsage
from runtime.bus.actor import acting_as
from runtime.bus.codec import decode
from runtime.errors import ConfigurationError, Unavailable
from runtime.models.call_scope import billed_calls, calls_for, note_paid
from runtime.models.port import AnswerPiece, Message
from runtime.models.scripted import ScriptedChat
from runtime.receipts.ids import time_of_id
from services.query.adapters.models import ModelAnswerGenerator
from services.query.question import Keywords, Turn
from services.query.receipt_forms import parse_receipt_forms
from services.query.receipts import publishing
from services.query.receipts.publishing import AnswerReceipts
from services.query.settings import QuerySettings
from services.query.status.scope import Scope
from tests.support.events import added, sealed
from tests.support.querying import BAKER, CURIE, QueryHarness, library_of_two
from tests.support.questions import (
    asked_over_the_wire,
    local_questions,
    place,
    question,
    question_server,
    receipts_of,
)

ANSWER = "Marie Curie discovered it [1]."


def generator(text: str = ANSWER) -> ModelAnswerGenerator:
    """A model that always says this, and is paid for it."""

    async def say(_: Sequence[Message]) -> str:
        note_paid("chat", "m", TokenUsage(prompt=30, completion=4, calls=1), 0.25)
        return text

    return ModelAnswerGenerator(ScriptedChat(say))


async def recorded(receipts: AnswerReceipts, harness: QueryHarness) -> list[Envelope[Event]]:
    """What is in the log once everything that waits is published."""
    await receipts.publish()
    return [
        envelope
        for message in harness.log.messages
        if isinstance((envelope := decode(message.data, message.subject)).data, AnswerGiven)
    ]


async def answered(
    harness: QueryHarness, forms: str = "full", **fields: Any
) -> tuple[Envelope[Event], AnswerGiven, str]:
    """The receipt of the answer to this question, and the id that came with the answer."""
    receipts = receipts_of(harness, forms, model="m")
    questions = local_questions(harness, receipts, answer_generator=generator())
    with acting_as("key:reader"), calls_for("w"), billed_calls():
        answer = await questions.ask(question(**fields))
    *_, envelope = await recorded(receipts, harness)
    return envelope, cast("AnswerGiven", envelope.data), answer.receipt


async def test_a_full_receipt_has_question_answer_evidence_and_cost() -> None:
    harness = await library_of_two()
    await harness.log.publish(sealed(added("later")))
    envelope, event, id = await answered(harness, mode="mix", top_k=7)
    assert (event.receipt, envelope.id, envelope.actor) == (id, id, "key:reader")
    assert abs((time_of_id(id) - event.asked_at).total_seconds()) < 0.01
    assert (event.question.text, event.answer.text) == ("Who discovered radium?", ANSWER)
    assert event.answer.sha256 == sha256(ANSWER)
    assert (event.position, event.settings.mode, event.settings.top_k) == (1, "mix", 7)
    assert event.settings.chunk_top_k == QuerySettings().chunk_top_k
    texts = {f"curie-chunk-{order:03d}": text for order, text in enumerate(CURIE)}
    texts["baker-chunk-000"] = BAKER[0]
    passages = event.evidence.passages
    assert "curie-chunk-000" in {passage.chunk_id for passage in passages}
    assert all(passage.sha256 == sha256(texts[passage.chunk_id]) for passage in passages)
    first = passages[0]
    assert (first.document_id, first.file_path, first.version) == ("curie", "curie.txt", 1)
    entities = {entity.name: entity for entity in event.evidence.entities}
    radium = entities["Radium"]
    assert radium.id == entity_vector_id("Radium")
    assert radium.revision > 0
    assert [event.evidence.documents[place] for place in radium.documents] == ["curie"]
    relation = next(iter(event.evidence.relations))
    assert relation.id == relation_vector_id(relation.source, relation.target)
    assert (event.by_model, event.model, event.is_cached, event.end) == (True, "m", False, "whole")
    (cost,) = event.costs
    assert (cost.step, cost.model, cost.usage.prompt) == ("answer", "m", 30)
    assert len(event.prompt_sha256) == 64


async def test_hashes_have_no_word_of_question_answer_or_graph() -> None:
    harness = await library_of_two()
    fields: dict[str, Any] = {
        "user_prompt": "Write for children.",
        "keywords": Keywords(("discovery",), ("radium",)),
        "history": (Turn("user", "Who was she?"),),
        "scope": Scope(document_ids=("curie",)),
    }
    _, event, _ = await answered(harness, "hashes", **fields)
    assert event.question.sha256 == sha256("Who discovered radium?")
    assert (event.turns, len(event.history_sha256)) == (1, 64)
    assert event.evidence.entities
    data = harness.log.messages[-1].data.decode().lower()
    for word in ("radium", "marie", "children", "discovery", "she"):
        assert f'"{word}' not in data
        assert f" {word}" not in data
    _, full_event, _ = await answered(harness, "full", **fields)
    assert full_event.words is not None
    assert full_event.words.user_prompt == "Write for children."
    assert full_event.words.filter == '{"document_ids": ["curie"]}'
    assert full_event.prompt_sha256 == event.prompt_sha256


async def test_a_receipt_is_no_change_of_its_workspace() -> None:
    harness = await library_of_two()
    await answered(harness)
    assert harness.log.messages[-1].subject == "kb.v1.x-questions.w.AnswerGiven"
    assert await harness.log.last("w") == 0


@pytest.mark.parametrize("forms", ["off", "full, w=off", "off, other=full"])
async def test_nothing_is_recorded_where_it_is_off(forms: str) -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness, forms)
    answer = await local_questions(harness, receipts).ask(question())
    assert (answer.receipt, await recorded(receipts, harness)) == ("", [])


async def test_a_context_and_a_prompt_are_no_answers() -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness)
    questions = local_questions(harness, receipts)
    for output in ("context", "prompt"):
        assert (await questions.ask(question(output=output))).receipt == ""
    assert await recorded(receipts, harness) == []


async def test_the_answer_that_nothing_was_found_has_a_receipt() -> None:
    harness = QueryHarness()
    _, event, _ = await answered(harness)
    assert event.answer.text is not None
    assert "[no-context]" in event.answer.text
    assert (event.evidence.passages, event.prompt_sha256, event.by_model) == ((), "", False)


async def streamed(harness: QueryHarness, pieces: int | None = None) -> AnswerGiven:
    """The receipt of a streamed answer of which so many pieces are read."""
    receipts = receipts_of(harness)
    questions = local_questions(harness, receipts, answer_generator=generator("one two three."))
    answer = await questions.ask(question(is_streamed=True))
    assert answer.pieces is not None
    assert await recorded(receipts, harness) == []
    async with aclosing(answer.pieces) as stream:
        async for _ in stream:
            if pieces is not None and not (pieces := pieces - 1):
                break
    (envelope,) = await recorded(receipts, harness)
    assert cast("AnswerGiven", envelope.data).receipt == answer.receipt
    return cast("AnswerGiven", envelope.data)


async def test_a_stream_is_recorded_when_it_ends() -> None:
    event = await streamed(await library_of_two())
    assert (event.answer.text, event.end) == ("one two three.", "whole")
    assert event.settings.is_streamed


async def test_of_a_stream_that_its_reader_left_stands_what_was_read() -> None:
    event = await streamed(await library_of_two(), pieces=1)
    assert event.end == "left"
    assert event.answer.text is not None
    assert "one two three.".startswith(event.answer.text.strip())


async def test_an_answer_that_breaks_off_is_recorded_as_such() -> None:
    async def broken() -> AsyncGenerator[AnswerPiece]:
        yield AnswerPiece("one ")
        raise Unavailable("the model went away")

    class BrokenGenerator(ModelAnswerGenerator):
        def stream(self, prompt: Any) -> AsyncGenerator[AnswerPiece]:
            return broken()

    harness = await library_of_two()
    receipts = receipts_of(harness)
    generator = BrokenGenerator(ScriptedChat(lambda _: ""))
    answer = await local_questions(harness, receipts, answer_generator=generator).ask(
        question(is_streamed=True)
    )
    assert answer.pieces is not None
    with pytest.raises(Unavailable):
        async for _ in answer.pieces:
            pass
    (envelope,) = await recorded(receipts, harness)
    assert cast("AnswerGiven", envelope.data).end == "failed"


async def test_over_the_wire_the_service_that_answers_records() -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness)
    server = question_server(local_questions(harness, receipts, answer_generator=generator()))
    async with asked_over_the_wire(server) as remote:
        with acting_as("key:reader"):
            answer = await remote.ask(question(is_streamed=True))
        assert answer.pieces is not None
        async for _ in answer.pieces:
            pass
    (envelope,) = await recorded(receipts, harness)
    assert (envelope.id, envelope.actor) == (answer.receipt, "key:reader")


async def test_what_the_log_does_not_take_is_published_later_and_of_too_many_the_rest_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness)
    questions = local_questions(harness, receipts)
    monkeypatch.setattr(publishing, "MAX_UNSENT", 2)

    async def refuse(*_: Any) -> int:
        raise Unavailable("KB_EVENTS is full")

    with monkeypatch.context() as patch:
        patch.setattr(harness.log, "publish", refuse)
        ids = [(await questions.ask(question())).receipt for _ in range(3)]
        with pytest.raises(Unavailable):
            await receipts.publish()
    assert [envelope.id for envelope in await recorded(receipts, harness)] == ids[:2]


async def test_a_receipt_that_cannot_be_made_ends_no_other_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness)
    questions = local_questions(harness, receipts)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "answer_given", fail)
        await questions.ask(question())
        await receipts.publish()
    id = (await questions.ask(question())).receipt
    assert [envelope.id for envelope in await recorded(receipts, harness)] == [id]


async def test_what_is_left_is_published_when_the_service_stops() -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness)
    async with receipts.published_in_background():
        id = (await local_questions(harness, receipts).ask(question())).receipt
    assert [envelope.id for envelope in await recorded(receipts, harness)] == [id]


async def test_a_receipt_too_long_for_an_event_is_recorded_as_hashes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publishing, "MAX_BYTES", 6000)
    _, event, _ = await answered(await library_of_two(), user_prompt="word " * 2000)
    assert (event.form, event.answer.text, event.words) == ("hashes", None, None)


async def test_a_question_about_the_past_has_its_place() -> None:
    harness = await library_of_two()
    await harness.log.publish(sealed(added("curie")))
    _, event, _ = await answered(harness, place=place(sequence=1))
    assert (event.is_past, event.position) == (True, 1)


def test_forms_of_single_workspaces() -> None:
    forms = parse_receipt_forms("hashes, legal=full , open=off")
    assert [forms.of(name) for name in ("other", "legal", "open")] == ["hashes", "full", None]
    assert [forms.of(name) for name in ("legal..small", "open..small")] == ["full", None]
    assert bool(parse_receipt_forms("off")) is False
    for text in ("on", "full, hashes", "a b=full", "legal=everything"):
        with pytest.raises(ValueError, match=r"must be off|no name of a workspace"):
            parse_receipt_forms(text)
        with pytest.raises(ConfigurationError, match="RECEIPTS"):
            QuerySettings(receipts=text)
