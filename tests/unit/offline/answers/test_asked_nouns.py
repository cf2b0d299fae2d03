"""Whether a sentence speaks of the thing that a question asks for."""

import pytest

from offline.answers.asked_nouns import LACKS_COUNT, LACKS_NOUN, noun_agreement


@pytest.mark.parametrize(
    ("question", "sentence", "context", "expected"),
    [
        ("Which companies own the Gull?", "Two companies own the Gull.", "", 0.0),
        ("Which companies own the Gull?", "The Gull sails on Monday.", "", LACKS_NOUN),
        ("Which companies own the Gull?", "Grey Lines owns her.", "Companies", 0.0),
        ("What is the capital of Mongolia?", "code: MN; country: Mongolia", "", LACKS_NOUN),
        ("What is a big sail for?", "It is big.", "", LACKS_NOUN / 2),
        ("How many masts has she?", "She has three tall masts.", "", 0.0),
        ("How many masts has she?", "She has 3 sails on her masts.", "", 0.0),
        ("How many masts has she?", "The masts are old; a crew of 9 sails her.", "", LACKS_COUNT),
        ("How many masts has she?", "She has three.", "", LACKS_COUNT),
        ("How many masts has she?", "Masts: 3", "", 0.0),
        ("How many masts has she?", "A mast 18 metres tall is new.", "", LACKS_COUNT),
        ("How old is she?", "She is old.", "", 0.0),
    ],
)
def test_english(question: str, sentence: str, context: str, expected: float) -> None:
    assert noun_agreement(question, sentence, context, "english") == pytest.approx(expected)


def test_other_languages() -> None:
    assert noun_agreement("Quanti letti ci sono?", "Ci sono tre letti.", "", "italian") == 0
    assert noun_agreement("Quanti letti ci sono?", "I letti sono comodi.", "", "italian") < 0
    assert noun_agreement("Welche Firmen haben es?", "Sie segelt nie.", "", "german") < 0
    assert noun_agreement("Welche Firmen haben es?", "Zwei Firmen.", "", "german") == 0
    assert noun_agreement("Wie viele Masten hat sie?", "Sie hat 3 Masten.", "", "german") == 0
    assert noun_agreement("Сколько мачт у неё?", "У неё мачта.", "", "russian") < 0
    assert noun_agreement("Сколько мачт у неё?", "У неё три мачты.", "", "russian") == 0
    assert noun_agreement("Сколько стоит билет?", "Билет: сорок рублей.", "", "russian") == 0
    assert noun_agreement("哪些船？", "没有。", "", "chinese") == 0


@pytest.mark.parametrize(
    ("question", "language", "yes", "no"),
    [
        ("Is there a crane?", "english", "The crane is red.", "The harbour is deep."),
        ("Gibt es einen Kran?", "german", "Der Kran ist rot.", "Der Hafen ist tief."),
        ("Was kostet ein Kran?", "german", "Ein Kran: 9 Euro.", "Ein Boot: 9 Euro."),
        ("Y a-t-il une grue ?", "french", "La grue est rouge.", "Le port est profond."),
        ("Quel est le prix d'une grue ?", "french", "Une grue : 9 euros.", "Un bateau : 9 euros."),
        ("¿Hay una grúa?", "spanish", "La grúa es roja.", "El puerto es hondo."),
        ("C'è una gru?", "italian", "La gru è rossa.", "Il porto è profondo."),
        ("Есть ли там кран?", "russian", "Кран красный.", "Гавань глубокая."),
        ("有没有起重机？", "chinese", "起重机是红色的。", "港口很深。"),
        ("起重机多少钱？", "chinese", "起重机九元。", "船九元。"),
    ],
)
def test_a_thing_that_is_asked_for_or_priced(
    question: str, language: str, yes: str, no: str
) -> None:
    assert noun_agreement(question, yes, "", language) == 0.0
    assert noun_agreement(question, no, "", language) < 0.0


def test_the_name_of_a_kind_of_answer_need_not_stand_in_it() -> None:
    closes = "El puerto abre a las 7:00 y los sábados a las 9:00."
    assert noun_agreement("¿A qué hora abre el puerto?", closes, "", "spanish") == 0.0
    weeks = "Записаться можно за две недели."
    assert noun_agreement("За сколько дней можно записаться?", weeks, "", "russian") == 0.0
