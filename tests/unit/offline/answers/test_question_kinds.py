"""Whether a sentence has the kind of answer that a question asks for."""

import pytest

from offline.answers.question_kinds import AGREES, LACKS, LACKS_NAME, LACKS_WHOLLY, agreement


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("How many ships are there?", "There are seven ships.", AGREES),
        ("How old is she?", "She is 30.", AGREES),
        ("How many people work at 18F?", "Nobody at 18F knows.", LACKS),
        ("When did it open?", "It opened on 4 May 1974.", AGREES),
        ("When did it open?", "It opened with a speech.", LACKS),
        ("In which year did it open?", "It opened in spring of that year.", LACKS_WHOLLY),
        ("In which year did it open?", "It opened in 1974.", AGREES),
        ("Who built it?", "It was built by Ilse Brandt.", AGREES),
        ("What does a card cost when one is lost?", "A new card is cheap.", LACKS),
        ("How many sail with the captain who is old?", "Nobody sails.", LACKS),
        ("Who is Ilse Brandt?", "We all know that Ilse Brandt is old.", LACKS_NAME),
        ("Who opened it?", "It opened with a speech.", LACKS),
        ("Which version has threads?", "Threads came with version 5.2.", AGREES),
        ("Which version has threads?", "Threads split the data.", LACKS),
        ("What is the telephone number?", "Call 030 123 456.", AGREES),
        ("What is the telephone number?", "Choose a number of 4 digits.", LACKS),
        ("What is a hub?", "See also {hub}.", LACKS),
        ("What is a hub?", "A hub is large.", 0),
    ],
)
def test_the_kind_of_answer_agrees_or_not(question: str, sentence: str, expected: float) -> None:
    assert agreement(question, sentence) == expected


@pytest.mark.parametrize(
    ("language", "question", "sentence", "expected"),
    [
        ("german", "Wie viele Zimmer gibt es?", "Es gibt zwölf Zimmer.", AGREES),
        ("german", "Wie viele Zimmer gibt es?", "Die Zimmer sind klein.", LACKS),
        ("german", "In welchem Jahr wurde es gebaut?", "Es wurde 1903 gebaut.", AGREES),
        ("german", "In welchem Jahr wurde es gebaut?", "Gebaut hat es die Stadt.", LACKS_WHOLLY),
        ("german", "Wann öffnet das Bad?", "Das Bad öffnet um 8 Uhr.", AGREES),
        ("russian", "Сколько стоит билет?", "Билет стоит сорок рублей.", AGREES),
        ("russian", "Сколько стоит билет?", "Билет продаёт кассир.", LACKS),
        ("russian", "В каком году построен мост?", "Мост построен из камня.", LACKS_WHOLLY),
        ("russian", "Как зовут сторожа?", "Сторож живёт рядом.", LACKS_WHOLLY),
        ("russian", "Как зовут сторожа?", "Сторожа зовут Иван.", AGREES),
        ("german", "Wie heißt der Wärter?", "Der Wärter wohnt nebenan.", LACKS_WHOLLY),
        ("german", "Wie heißt der Wärter?", "Der Wärter heißt Karl.", AGREES),
        ("chinese", "水箱能装几升？", "水箱很大，每天加水。", LACKS),
        ("french", "Combien coûte le billet ?", "Le billet coûte douze euros.", AGREES),
        ("spanish", "¿Cuándo abre el museo?", "El museo es antiguo.", LACKS),
        ("chinese", "门票多少钱？", "门票二十元。", AGREES),
        ("chinese", "哪一年建成？", "未成年人须由监护人陪同。", LACKS_WHOLLY),
        ("finnish", "Kuinka monta?", "Ei mitään.", 0.0),
    ],
)
def test_kinds_of_answers_in_other_languages(
    language: str, question: str, sentence: str, expected: float
) -> None:
    assert agreement(question, sentence, language) == expected


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("Quanto costa la chiave?", "Si pagano 40 euro.", AGREES),
        ("Quanto costa la chiave?", "La chiave è grigia.", LACKS),
        ("A che ora chiude?", "Chiude alle 22:00.", AGREES),
        ("Quando apre?", "Apre a giugno.", AGREES),
        ("Chi è il capitano?", "Il tempo è bello.", LACKS),
        ("Chi è il capitano?", "È la signora Carla Neri.", 0.0),
    ],
)
def test_italian(question: str, sentence: str, expected: float) -> None:
    assert agreement(question, sentence, "italian") == expected


def test_the_number_of_a_section_is_no_number() -> None:
    question = "Wie viele Knoten sind es?"
    assert agreement(question, "Siehe Abschnitt 12.1 über Knoten.", "german") == LACKS
    assert agreement("有多少开发者？", "参见第 12.1 节的开发者。", "chinese") == LACKS
