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
