"""Which parts define what a question asks about."""

import pytest

from offline.answers.definitions import BELOW, DEFINES, asked_term, definition_bonus
from offline.answers.quotable_sentences import quotable
from offline.answers.quotation import candidates


def bonuses(question: str, text: str, language: str = "english") -> list[float]:
    return [
        definition_bonus(question, candidate, language)
        for candidate in candidates([("1", quotable(text))])
    ]


@pytest.mark.parametrize(
    ("language", "question", "term"),
    [
        ("english", 'What does "big sail" mean?', "big sail"),
        ("english", "What is a sail?", "sail"),
        ("english", "What is the default of FingerprintHash when nothing is given?", ""),
        ("english", "Where is a sail?", ""),
        ("german", "Was bedeutet das Wort Segel?", "segel"),
        ("russian", "Что такое парус?", "парус"),
        ("spanish", "¿Qué es una vela?", "vela"),
        ("chinese", "帆是什么意思？", "帆"),
        ("chinese", "什么是桅杆？", "桅杆"),
    ],
)
def test_the_term_that_a_question_asks_for(language: str, question: str, term: str) -> None:
    assert asked_term(question, language) == term


def test_the_first_part_of_an_entry_defines_and_the_others_belong_to_it() -> None:
    text = (
        "SAIL, n. A cloth that catches the wind. Most of them are white.\n\nMAST, n. A long pole."
    )
    assert bonuses("What is a sail?", text) == [DEFINES, BELOW, 0.0]
    assert bonuses("What is the sail of a mast?", text) == [0.0, 0.0, 0.0]


def test_each_term_of_a_definition_is_looked_up() -> None:
    text = "keel\nbackbone\n: A long beam of the best oak."
    assert bonuses("What is a backbone?", text) == [DEFINES]
    assert bonuses("What is a keel?", text) == [DEFINES]


def test_an_option_that_a_question_names_is_looked_up() -> None:
    text = (
        "-k, --keep=FILE\n    Do not delete the files that are read.\n\n"
        "HostKeyAlias\n    Another name of the host.\n"
    )
    assert bonuses("When is --keep useful?", text) == [BELOW, 0.0]
    assert bonuses("How do I set HostKeyAlias?", text) == [0.0, BELOW]
    assert bonuses("What does --keep do?", text) == [DEFINES, 0.0]


def test_a_sentence_that_begins_with_the_term_defines_it() -> None:
    text = "Segel: ein Tuch, das den Wind fängt.\n\nEin Mast hält das Segel am Schiff."
    assert bonuses("Was ist ein Segel?", text, "german") == [DEFINES, 0.0]


def test_the_section_of_a_version_or_a_provision_is_looked_up() -> None:
    text = (
        "# History\n\n## v2.1.0 (2024-03-05)\n\n### Removed\n\n- The old sails are gone.\n\n"
        "## v2.0.4 (2024-01-07)\n\n- The sails have new colours.\n"
    )
    assert bonuses("What was removed in 2.1.0?", text) == [0.0, BELOW, 0.0, 0.0]
    assert bonuses("What is new in 2.0.4?", text) == [0.0, 0.0, 0.0, DEFINES]
    law = "Satzung des Hafens\n\n§ 3\n\nDie Boote sind weiß.\n\n§ 31\n\nDie Masten sind braun."
    assert bonuses("Was steht in § 3?", law, "german") == [DEFINES, 0.0]


def test_a_field_answers_what_its_label_says_alone() -> None:
    text = "author: Bo Keel\ndate: 2023-04-05\n"
    assert bonuses("Who wrote this document?", text) == [DEFINES, 0.0]
    assert bonuses("What is the date?", text) == [0.0, DEFINES]
    assert bonuses("Who wrote the songs of the sailors?", text) == [0.0, 0.0]
