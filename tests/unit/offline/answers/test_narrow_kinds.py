"""Narrow kinds of answers: prices, durations, degrees and others, and who."""

import pytest

from offline.answers.persons import asks_person, names_person
from offline.answers.question_kinds import AGREES, LACKS, agreement


@pytest.mark.parametrize(
    ("language", "question", "right", "wrong"),
    [
        ("english", "How much does it cost?", "It is 3 euros.", "It takes 3 days."),
        ("german", "Was kostet ein Waschgang?", "Er kostet 1,50 Euro.", "Er dauert 2 Stunden."),
        ("german", "Wie warm ist das Bad?", "Es hat 24 Grad.", "Es hat 2 Becken."),
        ("french", "Combien de temps dure-t-il ?", "Deux semaines.", "Deux livres."),
        ("spanish", "¿A qué hora abren?", "A las ocho.", "Hay ocho."),
        ("russian", "Сколько он весит?", "Три килограмма.", "Три рубля."),
        ("russian", "Какого он цвета?", "Он красный.", "Он новый."),
        ("chinese", "水温是多少度？", "水温二十六度。", "水池两个。"),
        ("english", "When was it founded?", "It was founded in 1921.", "It was founded by a few."),
    ],
)
def test_a_number_of_another_kind_is_no_answer(
    language: str, question: str, right: str, wrong: str
) -> None:
    assert agreement(question, right, language) == AGREES
    assert agreement(question, wrong, language) == LACKS


def test_who_asks_for_a_person_or_a_role() -> None:
    assert asks_person("Wer putzt die Treppe?")
    assert asks_person("图书馆馆长是谁？")
    assert not asks_person("Qu'est-ce que c'est ?")
    assert names_person("Wer?", "Die Mieter putzen sie.", "german")
    assert names_person("Кто?", "Решение принимает директор.", "russian")
    assert not names_person("¿Quién?", "El gorro se exige en la piscina.", "spanish")
    assert agreement("¿Quién dirige la piscina?", "El gorro se exige.", "spanish") == LACKS
