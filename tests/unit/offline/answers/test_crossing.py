"""A question in one language is answered by a sentence in another, or refused."""

from dataclasses import replace

import pytest

from offline.answers.comparison import Reads
from offline.answers.extractive_answer import NOT_SAID, SourcePassage, extractive_answer
from offline.embeddings.lexical import LexicalEmbedder
from runtime.models.multilingual import MultilingualEmbedder
from runtime.models.reader import ThreadedReader

GERMAN = SourcePassage(
    "1",
    "# Stadtbibliothek\n\nDie Jahresgebühr beträgt für Erwachsene 20 Euro. Filme dürfen Sie zwei "
    "Wochen behalten. Hunde müssen draußen bleiben.\n\nWer den Ausweis verliert, zahlt für den "
    "neuen fünf Euro. Die Rückgabe außerhalb der Öffnungszeiten ist am Kasten neben dem Eingang "
    "möglich.",
    title="bibliothek.md",
)
ENGLISH = SourcePassage(
    "2",
    "# Ferry\n\nThe ferry does not sail in a storm. You must be at the harbour with your car 30 "
    "minutes before departure. Dogs travel for free, but they have to stay on the car deck.\n\n"
    "Tickets are sold on board, and the driver is included in the price of the car.",
    title="ferry.md",
)
ENCODER, READER = MultilingualEmbedder(), ThreadedReader()


async def _answer(question: str, *passages: SourcePassage, reader: Reads | None = READER) -> str:
    return await extractive_answer(question, passages, LexicalEmbedder(64), ENCODER, reader)


@pytest.mark.parametrize(
    ("question", "passages", "sentence"),
    [
        (
            "How long may I keep a film?",
            (GERMAN,),
            "Filme dürfen Sie zwei Wochen behalten.",
        ),
        ("¿Cuánto tiempo puedo quedarme una película?", (GERMAN,), "zwei Wochen behalten"),
        ("狗可以进图书馆吗？", (GERMAN,), "Hunde müssen draußen bleiben."),
        (
            "За сколько минут до отправления нужно быть в порту с машиной?",
            (ENGLISH,),
            "30 minutes before departure",
        ),
    ],
)
async def test_the_sentence_is_quoted_in_its_own_language_and_cited(
    question: str, passages: tuple[SourcePassage, ...], sentence: str
) -> None:
    answer = await _answer(question, *passages)
    assert not answer.startswith(NOT_SAID)
    assert sentence in answer
    assert f"[{passages[0].reference}]" in answer


@pytest.mark.parametrize(
    "question", ["What is the director's name?", "How many seats does the café have?"]
)
async def test_what_the_documents_do_not_say_is_refused(question: str) -> None:
    assert (await _answer(question, GERMAN)).startswith(NOT_SAID)


async def test_nothing_is_crossed_where_a_passage_is_in_the_language_of_the_question() -> None:
    question = "How much is a new library card if I lose mine?"
    assert "fünf Euro" in await _answer(question, GERMAN)
    assert (await _answer(question, GERMAN, ENGLISH)).startswith(NOT_SAID)


async def test_nothing_is_crossed_without_a_reader() -> None:
    answer = await _answer("How long may I keep a film?", GERMAN, reader=None)
    assert answer.startswith(NOT_SAID)


async def test_an_identifier_of_the_question_has_to_stand_in_the_passage() -> None:
    question = "How long may I keep a film with MAX_LOANS?"
    assert (await _answer(question, GERMAN)).startswith(NOT_SAID)
    passage = replace(GERMAN, text=f"{GERMAN.text} MAX_LOANS ist 8.")
    assert "zwei Wochen behalten" in await _answer(question, passage)
