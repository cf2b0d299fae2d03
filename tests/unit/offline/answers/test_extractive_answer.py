"""Which sentences may answer a question at all."""

from collections.abc import Sequence

import pytest

from offline.answers.comparison import IN_ENGLISH, Models
from offline.answers.extractive_answer import (
    NOT_SAID,
    SourcePassage,
    extractive_answer,
    scored_candidates,
)
from offline.answers.relevance import amounts
from offline.embeddings.lexical import LexicalEmbedder


def passage(text: str, *, headings: Sequence[str] = ()) -> SourcePassage:
    return SourcePassage("1", text, tuple(headings))


async def may_answer(question: str, *passages: SourcePassage) -> list[str]:
    scored = await scored_candidates(question, passages, Models(LexicalEmbedder(64)))
    return [candidate.part.text for _, candidate in scored]


WATSON = passage("Doctor Watson lived in a house of the city. He wrote a book about a hound.")
CITY = passage("The city has a doctor and a house where books are written.")


async def test_a_passage_without_any_name_of_the_question_answers_nothing() -> None:
    assert await may_answer("What did Holmes write in the house of Moriarty?", WATSON, CITY) == []
    result = await may_answer("What did Watson write in London?", CITY, WATSON)
    assert set(result) == {
        "Doctor Watson lived in a house of the city.",
        "He wrote a book about a hound.",
    }
    assert len(await may_answer("what did holmes write in the city?", WATSON, CITY)) == 3


async def test_names_in_the_headings_count() -> None:
    assert (
        len(
            await may_answer(
                "What does Holmes play?", passage("He plays the violin.", headings=["Holmes"])
            )
        )
        == 1
    )


async def test_a_sentence_without_a_number_of_the_question_does_not_answer() -> None:
    licence = passage(
        "(1) Version 3 was written by a foundation.\n\nVersion 2 was written by a friend."
    )
    assert await may_answer("Who wrote version 1 of it?", licence) == []
    (only,) = await may_answer("Who wrote version 2 of it?", licence)
    assert only == "Version 2 was written by a friend."


async def test_a_year_at_the_end_of_a_sentence_is_there() -> None:
    text = passage("They met before. Two thousand people came to the camp in 2013. It was warm.")
    answers = await may_answer("How many people came to the camp in 2013?", text)
    assert "Two thousand people came to the camp in 2013." in answers


async def test_an_amount_of_the_askers_own_need_not_stand_in_the_answer() -> None:
    rules = passage("Receipts are needed for purchases over 75 dollars. Cards are blue.")
    answers = await may_answer("Must I hand in a receipt for a 40 dollar purchase?", rules)
    assert "Receipts are needed for purchases over 75 dollars." in answers


@pytest.mark.parametrize(
    ("question", "language", "numbers"),
    [
        ("Is a receipt needed for 40 dollars?", "english", {"40"}),
        ("Mon fils de 13 ans peut-il venir ?", "french", {"13"}),
        ("Darf es nach 22 Uhr laut sein?", "german", {"22"}),
        ("What does step 3 say?", "english", set[str]()),
        ("Who wrote version 2 of it?", "english", set[str]()),
        ("What was the revenue in 2014?", "english", set[str]()),
    ],
)
def test_amounts_are_not_names(question: str, language: str, numbers: set[str]) -> None:
    assert amounts(question, language) == numbers


class Angles:
    """Embeds a text by the cosine to the question that the words in it stand for; everything else
    is unrelated.
    """

    COSINES = (("Dogs?", 1.0), ("May I bring", 0.9), ("Rules", 0.5), ("Only guide", 0.1))

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        cosines = [
            next((cosine for word, cosine in self.COSINES if word in text), 0.0) for text in texts
        ]
        return [(cosine, (1 - cosine * cosine) ** 0.5) for cosine in cosines]


async def test_meaning_is_the_mean_of_the_two_most_similar_readings() -> None:
    text = passage("## Rules\n\nMay I bring a parrot?\n\nOnly guide ones may come in.\n")
    ((score, candidate),) = await scored_candidates("Dogs?", [text], Models(Angles()))
    assert candidate.part.text == "Only guide ones may come in."
    # After its question and the question alone 0.9, below the heading 0.5, alone 0.1; and the first
    # passage 0.1.
    assert score == pytest.approx(IN_ENGLISH.score(0.0, 0.9) + 0.1)


async def test_names_in_the_title_of_the_document_count() -> None:
    text = SourcePassage("1", "He plays the violin.", title="holmes-biography.txt")
    assert len(await may_answer("What does Holmes play?", text)) == 1


async def test_the_author_of_a_dictionary_need_not_stand_in_it() -> None:
    entry = passage("APPLAUSE, n. The echo of a platitude.\n\nARENA, n. A place for statesmen.")
    answer = await extractive_answer(
        "How does Arthur Penn define applause?", [entry], LexicalEmbedder(64)
    )
    assert "APPLAUSE, n.: The echo of a platitude." in answer


async def test_a_german_question_is_answered_though_its_nouns_have_capitals() -> None:
    rules = passage(
        "Hunde sind im Bad nicht erlaubt. Der Eintritt kostet für Kinder drei Euro. "
        "Das Becken ist zwei Meter tief."
    )
    answer = await extractive_answer(
        "Wie viel kostet der Eintritt ins Freibad für ein Kind?", [rules], LexicalEmbedder(64)
    )
    assert "Der Eintritt kostet für Kinder drei Euro." in answer


async def test_a_russian_question_is_answered_and_refused() -> None:
    rules = passage(
        "Бассейн открыт с семи утра. Детский билет стоит сорок рублей. Собак не пускают."
    )
    embedder = LexicalEmbedder(64)
    answer = await extractive_answer("Сколько стоит билет для детей?", [rules], embedder)
    assert "Детский билет стоит сорок рублей." in answer
    refusal = await extractive_answer("Как зовут директора бассейна?", [rules], embedder)
    assert refusal.startswith(NOT_SAID)


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("What does MAX_WORKERS limit?", True),
        ("What does max-workers limit?", True),
        ("What does --max-workers limit?", True),
        ("What does MAX_WRITTEN limit?", False),
        ("What does WORKERS_MAX limit?", False),
        ("What does --no-workers limit?", False),
    ],
)
@pytest.mark.parametrize("name", ["MAX_WORKERS", r"MAX\_WORKERS", "`--max-workers`"])
async def test_a_passage_without_the_identifier_of_the_question_answers_nothing(
    name: str, question: str, is_answered: bool
) -> None:
    settings = passage(f"{name} limits how many workers are started. What is written is bounded.")
    assert bool(await may_answer(question, settings)) is is_answered


async def test_a_passage_without_the_version_of_the_question_answers_nothing() -> None:
    notes = passage("Version 5.4.0 has threads. It was released in winter.")
    assert await may_answer("Who released version 5.4.1?", notes) == []
    assert await may_answer("Who released version 5.4.0?", notes) != []


LOG = passage(
    "# History\n\n## v2.1.0 (2024-03-05)\n\n- The sails are made of hemp.\n\n"
    "## v2.0.4 (2024-01-07)\n\n- The sails are made of cotton.\n"
)


async def test_what_stands_below_another_version_does_not_answer() -> None:
    question = "Of what are the sails made in 2.0.4?"
    assert await may_answer(question, LOG) == ["- The sails are made of cotton."]


async def test_a_heading_answers_only_where_its_day_is_asked_for() -> None:
    assert await may_answer("When was 2.1.0 released?", LOG) == [
        "v2.1.0 (2024-03-05)",
        "- The sails are made of hemp.",
    ]
