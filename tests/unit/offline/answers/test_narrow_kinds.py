"""Narrow kinds of answers: prices, durations, degrees and others, and who."""

import pytest

from offline.answers.persons import asks_bearer, asks_person, names_person
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


@pytest.mark.parametrize(
    ("sentence", "has_person"),
    [
        ("After two weeks the policy is to charge for another letter.", False),
        ("The number of others is greater.", False),
        ("It is the keeper after dark.", True),
        ("We see to it.", True),
        ("Call the police.", True),
    ],
)
def test_english_words_with_the_ending_of_persons_are_told_apart(
    sentence: str, has_person: bool
) -> None:
    assert names_person("Who?", sentence, "english") is has_person


@pytest.mark.parametrize(
    ("language", "question", "right", "wrong"),
    [
        (
            "english",
            "Who is the warden?",
            "The warden is called by the bell.",
            "Whoever comes after dark rings at the warden's cottage.",
        ),
        ("english", "Who's the keeper?", "Ask for Ruth Okafor.", "The keeper sleeps."),
        ("german", "Wer ist der Wirt?", "Der Wirt ist der Vater von Emil.", "Jeder hat Rechte."),
        ("german", "Wer ist der Wirt?", "Hier hilft Herr Weiß.", "Jeder hat Rechte."),
        ("french", "Qui est le maire ?", "Le maire : M. Roux", "Chacun a des droits."),
        ("spanish", "¿Quién es el dueño?", "La lleva Ana Soto.", "Cada uno tiene derechos."),
    ],
)
def test_who_bears_an_office_is_said_by_a_name_or_a_word_that_equates(
    language: str, question: str, right: str, wrong: str
) -> None:
    assert agreement(question, right, language) > LACKS
    assert agreement(question, wrong, language) == LACKS


def test_what_somebody_does_is_no_question_for_the_bearer_of_an_office() -> None:
    for question in ("Who pays?", "Кто платит?", "Кто такая кастелянша?", "Qui peut entrer ?"):
        assert not asks_bearer(question)
    assert asks_bearer("Кто директор музея?")
