"""Which embedder compares, and that one which knows the language finds other words for the same."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from offline.answers.comparison import BY_MULTILINGUAL, BY_WORDS, IN_ENGLISH, Models
from offline.answers.extractive_answer import (
    NEAREST,
    NOT_SAID,
    SourcePassage,
    extractive_answer,
    scored_candidates,
)
from offline.embeddings.lexical import LexicalEmbedder
from offline.reading.excerpt import Excerpt
from runtime.models.multilingual import MultilingualEmbedder

BOATS = SourcePassage(
    "1",
    "Bootsverleih am Weiher\n\nWer kentert, ruft den Bademeister. Schwimmwesten sind Pflicht. "
    "Paddel liegen im Schuppen neben dem Steg. Die Waschmaschine steht im Keller.",
)
BOTH = Models(LexicalEmbedder(64), MultilingualEmbedder())


def test_english_and_languages_that_the_encoder_lacks_are_left_to_the_main_embedder() -> None:
    main, encoder = LexicalEmbedder(64), LexicalEmbedder(32)
    both = Models(main, encoder)
    assert both.scoring("english") is IN_ENGLISH
    assert both.scoring("finnish") is BY_WORDS
    assert both.scoring("german") is BY_MULTILINGUAL
    assert Models(main).scoring("german") is BY_WORDS


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Wo sind die Ruder?", "Paddel liegen im Schuppen neben dem Steg."),
        ("Muss man eine Rettungsweste tragen?", "Schwimmwesten sind Pflicht."),
        ("Wo kann ich meine Kleider waschen?", "Die Waschmaschine steht im Keller."),
    ],
)
async def test_other_words_for_the_same_are_found(question: str, sentence: str) -> None:
    (_, best), *_ = await scored_candidates(question, [BOATS], BOTH, "german")
    assert best.part.text == sentence


async def test_sentences_in_another_language_come_after_those_in_that_of_the_question() -> None:
    italian = SourcePassage(
        "2", "La casa è in campagna e il bagno si trova accanto alla camera. Il cane sta qui."
    )
    german = SourcePassage("3", "Der Hund darf nicht in das Haus. Er schläft in der Hütte am Tor.")
    ((_, first), *_) = await scored_candidates(
        "Darf der Hund ins Haus?", [italian, german], BOTH, "german"
    )
    assert first.part.text == "Der Hund darf nicht in das Haus."


class OneSentence:
    """Reads; judges that one sentence answers, and no other."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self.read: list[Excerpt] = []
        self.language = ""

    async def judgements(
        self, question: str, excerpts: Sequence[Excerpt], language: str = ""
    ) -> list[float]:
        self.read += excerpts
        self.language = language
        return [9.0 if excerpt.sentence == self._sentence else -9.0 for excerpt in excerpts]


async def test_what_the_reader_judges_corrects_the_order() -> None:
    reader = OneSentence("Die Waschmaschine steht im Keller.")
    (best_score, best), (second_score, _), *_ = await scored_candidates(
        "Wo sind die Ruder?", [BOATS], replace(BOTH, reader=reader), "german"
    )
    assert best.part.text == "Die Waschmaschine steht im Keller."
    assert best_score > BY_MULTILINGUAL.least_score > second_score
    assert (
        Excerpt(
            "Schwimmwesten sind Pflicht.",
            "Bootsverleih am Weiher",
            "Wer kentert, ruft den Bademeister.",
        )
        in reader.read
    )
    assert reader.language == "german"


async def test_each_english_sentence_is_read_once_and_alone() -> None:
    boats = SourcePassage(
        "1", "Vests are worn by all. Oars lie in the shed. The pier was built anew in May."
    )
    reader = OneSentence("The pier was built anew in May.")
    (_, best), *_ = await scored_candidates(
        "Where are the oars?", [boats], replace(BOTH, reader=reader), "english"
    )
    assert best.part.text == "The pier was built anew in May."
    assert sorted(excerpt.sentence for excerpt in reader.read) == [
        "Oars lie in the shed.",
        "The pier was built anew in May.",
        "Vests are worn by all.",
    ]
    assert reader.language == "english"


class Certain:
    """Reads; is surer of the sentence about twelve shillings than of that about ten."""

    async def judgements(
        self, question: str, excerpts: Sequence[Excerpt], language: str = ""
    ) -> list[float]:
        judged = {"twelve": 9.0, "ten": 3.0}
        return [
            next((judgement for word, judgement in judged.items() if word in each.sentence), -9.0)
            for each in excerpts
        ]


async def test_of_sentences_that_answer_those_in_force_come_first_however_sure_the_others() -> None:
    models = replace(BOTH, reader=Certain())
    tariff = SourcePassage("1", "The mooring fee of a boat is twelve shillings.", level=1)
    amendment = SourcePassage("2", "From May on the mooring fee is ten shillings.")
    letter = SourcePassage("2", "Ada Marlow leads the office for the mooring fee of a boat.")
    question = "What is the mooring fee of a boat?"
    (_, first), (_, second) = await scored_candidates(
        question, [tariff, amendment], models, "english"
    )
    assert (first.reference, second.reference) == ("2", "1")
    (_, first), *_ = await scored_candidates(question, [tariff, letter], models, "english")
    assert first.reference == "1"


async def test_questions_in_languages_that_the_reader_was_not_taught_in_are_not_read() -> None:
    reader = OneSentence("")
    await scored_candidates("Dove sono i remi?", [BOATS], replace(BOTH, reader=reader), "italian")
    assert reader.read == []


async def test_an_answer_needs_the_score_of_its_embedder() -> None:
    refusal = await extractive_answer(
        "Wie warm ist der Weiher?", [BOATS], LexicalEmbedder(64), MultilingualEmbedder()
    )
    assert refusal.startswith(NOT_SAID)
    assert NEAREST not in refusal


async def test_a_refusal_shows_what_is_near_but_not_near_enough() -> None:
    refusal = await extractive_answer(
        "Wo lagern die Boote, wenn es kalt ist?",
        [BOATS],
        LexicalEmbedder(64),
        MultilingualEmbedder(),
    )
    assert refusal.startswith(f"{NOT_SAID}\n\n{NEAREST}\n\n")
    assert "[1]" in refusal
