"""Which language a text is in, and its stems."""

import pytest

from offline.language.languages import (
    is_foreign,
    language_among,
    language_of,
    stem_in,
    stop_words,
)

SPANISH = (
    "El inventario se guarda en el dispositivo y no se envía a nadie, salvo que usted lo pida. "
    "Cada semana se hace una copia de lo que hay en la casa, que se puede abrir en otro lugar."
)
ENGLISH = (
    "The parcel is at the office of the club, where it stays for a week before it is sent back."
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I open it?", "english"),
        ("ssh timeout", "english"),
        ("", "english"),
        ("Wie öffne ich die Datei?", "german"),
        ("Во сколько закрывают вход?", "russian"),
        ("¿Cuántos días de vacaciones hay?", "spanish"),
        ("Quelle est la durée du séjour ?", "french"),
        ("Quanto costa il biglietto?", "italian"),
        ("图书馆晚上几点关门？", "chinese"),
        ("図書館は何時に閉まりますか", "japanese"),
        ("在 GitHub Actions 里怎么用 setup-python 的 cache？", "chinese"),
        ("卡尔・马克思出生在哪里？", "chinese"),
        (f"English · 日本語 · 한국어\n{SPANISH}", "spanish"),
        (f'{ENGLISH} Send it to Hauptstraße 3, "¡Hola!" is on the door.', "english"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


GERMAN = "Der Akku ist zu heiß. Lassen Sie ihn eine halbe Stunde im Schatten abkühlen."
ITALIAN = "La lavatrice è in cantina e il detersivo si trova sullo scaffale sopra la porta."


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Was bedeutet E21?", "german"),
        ("Was macht -w?", "german"),
        ("E21?", "german"),
        ("What was it?", "english"),
        ("¿Qué es E21?", "spanish"),
    ],
)
def test_what_was_found_tells_the_language_of_words_that_two_have(
    question: str, language: str
) -> None:
    assert language_among(question, [GERMAN, "It was a dog."]) == language


def test_a_text_in_another_language() -> None:
    assert is_foreign(ITALIAN, "german")
    assert is_foreign("图书馆晚上几点关门？", "german")
    assert not is_foreign(ITALIAN, "italian")
    assert not is_foreign("Akku; 36 V; 500 Wh", "german")  # too few words tell


def test_forms_of_a_word_have_one_stem() -> None:
    assert stem_in("german", "häuser") == stem_in("german", "hauses") == "haus"
    assert stem_in("russian", "лётчика") == stem_in("russian", "летчиками")
    assert stem_in("chinese", "书") == "书"


def test_words_of_grammar() -> None:
    assert "nicht" in stop_words("german")
    assert "сколько" in stop_words("russian")
    assert stop_words("chinese") == frozenset()
