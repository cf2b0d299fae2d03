"""Questions of two hops are answered with the sentence of each."""

import asyncio
from collections.abc import Sequence

import pytest

from offline.answers.extractive_answer import NOT_SAID, SourcePassage, extractive_answer
from offline.answers.two_hops import bridges, two_hops
from runtime.models.minilm import MiniLmEmbedder


@pytest.mark.parametrize(
    ("language", "question", "first", "second"),
    [
        (
            "english",
            "Who wrote the novel that won the Marlow Prize?",
            "novel that won the Marlow Prize",
            "Who wrote the novel X?",
        ),
        (
            "english",
            "Where was the founder of Acme Shipping born?",
            "founder of Acme Shipping",
            "Where was X born?",
        ),
        (
            "english",
            "In which year was the company that built the Silent Bridge founded?",
            "company that built the Silent Bridge",
            "In which year was the company X founded?",
        ),
        (
            "english",
            "Who led the guild which published The Journal of Lighthouse Keepers?",
            "guild which published The Journal of Lighthouse Keepers",
            "Who led the guild X?",
        ),
        (
            "english",
            "Who was the first head of the guild which published Notes of Keepers?",
            "guild which published Notes of Keepers",
            "Who was the first head of the guild X?",
        ),
        (
            "english",
            "Which coins had the country Ada Marlow is from?",
            "country Ada Marlow is from",
            "Which coins had the country X?",
        ),
        (
            "english",
            "When did the company Elm Ferries is part of close?",
            "company Elm Ferries is part of",
            "When did the company X close?",
        ),
        (
            "english",
            "When was Ada Marlow's father born?",
            "father of Ada Marlow",
            "When was X born?",
        ),
        (
            "english",
            "What did the author of Songs for Amy write in Bergen?",
            "author of Songs for Amy",
            "What did X write in Bergen?",
        ),
        (
            "english",
            "Who painted the tower in the town where Olaf Brandt lived?",
            "town where Olaf Brandt lived",
            "Who painted the tower in the town X?",
        ),
        (
            "english",
            "What is the population of the town founded by Olaf Brandt?",
            "town founded by Olaf Brandt",
            "What is the population of the town X?",
        ),
        (
            "english",
            "Who is the wife of the author of The Glass Harbor?",
            "author of The Glass Harbor",
            "Who is the wife of X?",
        ),
        (
            "german",
            "Wer schrieb den Roman, der den Marlow-Preis gewann?",
            "Roman der den Marlow-Preis gewann",
            "Wer schrieb den Roman X?",
        ),
        (
            "russian",
            "Кто написал роман, который получил премию Марлоу?",
            "роман который получил премию Марлоу",
            "Кто написал роман X?",
        ),
        (
            "french",
            "Qui a écrit le roman qui a gagné le prix Marlow ?",
            "roman qui a gagné le prix Marlow",
            "Qui a écrit le roman X?",
        ),
        (
            "spanish",
            "¿Quién escribió la novela que ganó el Premio Marlow?",
            "novela que ganó el Premio Marlow",
            "¿Quién escribió la novela X?",
        ),
    ],
)
def test_the_questions_that_a_question_of_two_hops_asks(
    language: str, question: str, first: str, second: str
) -> None:
    hops = two_hops(question, language)
    assert hops is not None
    assert (hops.first, hops.second("X")) == (first, second)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote The Glass Harbor?",
        "What should a reader do with a check type that it does not know?",
        "Who writes the code that visitors do not see?",
        "How large is the harbour of Bergen?",
        "What was the first name of Dr. Watson's wife?",
        "",
    ],
)
def test_a_question_of_one_hop_is_left_alone(question: str) -> None:
    assert two_hops(question, "english") is None


def test_names_that_the_question_has_are_no_bridges() -> None:
    sentence = "The Glass Harbor won the Marlow Prize."
    assert bridges(sentence, "Who won the Marlow Prize?", "english") == ["Glass Harbor"]


PASSAGES = [
    SourcePassage("1", "The Marlow Prize is given to a novel every year."),
    SourcePassage("2", "The Glass Harbor won the Marlow Prize in 1987. The jury liked its humour."),
    SourcePassage("3", "The Glass Harbor is a novel by Iris Calder. It is about a lighthouse."),
    SourcePassage("4", "The Salt Road was written by Tom Reyes and filmed in 1999."),
    SourcePassage("5", "Acme Shipping was founded by Olaf Brandt in 1901."),
    SourcePassage("6", "Olaf Brandt was born in Bergen in 1860."),
]


def answer(question: str, passages: Sequence[SourcePassage] = PASSAGES) -> str:
    async def ask() -> str:
        embedder = MiniLmEmbedder(1)
        try:
            return await extractive_answer(question, passages, embedder)
        finally:
            await embedder.close()

    return asyncio.run(ask())


def test_both_sentences_are_quoted_the_one_that_answers_first() -> None:
    text = answer("Who wrote the novel that won the Marlow Prize?")
    assert text.startswith("The Glass Harbor is a novel by Iris Calder.")
    assert "[3]\n\nThe Glass Harbor won the Marlow Prize in 1987. [2]" in text
    assert "Reyes" not in text


def test_the_verb_of_the_second_question_may_stand_last() -> None:
    text = answer("Where was the founder of Acme Shipping born?")
    assert text.startswith("Olaf Brandt was born in Bergen in 1860. [6]")
    assert "Acme Shipping was founded by Olaf Brandt in 1901. [5]" in text


def test_the_name_that_leads_on_may_stand_late_in_its_sentence() -> None:
    lead = SourcePassage(
        "7", "Silt Brook runs from Moss Hill past Elm Dale, Ash Ford and Oak End to Port Elm."
    )
    hop = SourcePassage("8", "Port Elm has 4,200 inhabitants.")
    text = answer(
        "How many inhabitants has the town where Silt Brook ends?", [*PASSAGES, lead, hop]
    )
    assert text.startswith("Port Elm has 4,200 inhabitants. [8]")


def test_a_second_hop_that_no_document_has_is_not_invented() -> None:
    assert answer("How many children has the founder of Acme Shipping?").startswith(NOT_SAID)
    assert "Calder" not in answer("Who wrote the novel that won the Booker Prize?")
