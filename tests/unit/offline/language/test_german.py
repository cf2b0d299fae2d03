"""Forms of German words that stems keep apart."""

import pytest

from offline.answers.relevance import RELATED, SentenceTerms, lexical_scores, names, terms
from offline.language.german import is_related, joined_verbs, without_infix
from offline.language.languages import stop_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("angezeigt", "anzeigen"),
        ("anzuzeigen", "anzeigen"),
        ("zurückgegeben", "zurückgeben"),
        ("abgeholt", "abholen"),
    ],
)
def test_forms_of_a_separable_verb_are_one_term(one: str, other: str) -> None:
    assert terms(one, "german") == terms(other, "german")


def test_a_verb_is_joined_to_the_prefix_that_ends_its_clause() -> None:
    small_words = stop_words("german")
    assert joined_verbs("Welche Lampe zeigt den Stand an?", small_words) == ["anzeigt"]
    assert joined_verbs("Wenn er klingelt, macht sie das Tor auf.", small_words) == ["aufmacht"]
    assert joined_verbs("Fang an.", small_words) == []
    assert joined_verbs("Die Tür ist zu.", small_words) == []
    assert terms("anzeigen", "german") <= terms("Sie zeigen den Stand an.", "german")


@pytest.mark.parametrize(
    ("question_word", "word"),
    [
        ("gelöscht", "Löschen"),
        ("gebaut", "bauen"),
        ("Sachen", "Fundsachen"),
        ("gefundenen", "Fundsachen"),
        ("Speicher", "Speicherbedarf"),
        ("Grenze", "Speichergrenze"),
    ],
)
def test_participles_and_parts_of_compounds_are_related(question_word: str, word: str) -> None:
    scores = lexical_scores(
        terms(question_word, "german"),
        [SentenceTerms(terms(word, "german"), frozenset())],
        "german",
    )
    assert scores == [pytest.approx(RELATED)]


@pytest.mark.parametrize(("stem", "other"), [("ort", "wort"), ("amt", "gesamt"), ("rad", "rat")])
def test_short_words_within_others_are_not_related(stem: str, other: str) -> None:
    assert not is_related(stem, other)


def test_a_word_without_a_prefix_stays_as_it_is() -> None:
    assert without_infix("gewitt") == "gewitt"
    assert without_infix("angel") == "angel"


def test_short_stems_of_one_russian_word_are_related() -> None:
    scores = lexical_scores(
        terms("музей", "russian"),
        [SentenceTerms(terms("Адрес музея", "russian"), frozenset())],
        "russian",
    )
    assert scores == [pytest.approx(RELATED)]


def test_the_first_word_of_a_spanish_question_is_no_name() -> None:
    assert names("¿Cuánto cuesta una hora?", "spanish") == frozenset()
    assert names("¿Quién vive en Sevilla?", "spanish") == {"sevill"}
