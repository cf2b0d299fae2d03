"""Which language a text is in, and its stems."""

import pytest

from offline.language.languages import language_of, stem_in, stop_words


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
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


def test_forms_of_a_word_have_one_stem() -> None:
    assert stem_in("german", "häuser") == stem_in("german", "hauses") == "haus"
    assert stem_in("russian", "лётчика") == stem_in("russian", "летчиками")
    assert stem_in("chinese", "书") == "书"


def test_words_of_grammar() -> None:
    assert "nicht" in stop_words("german")
    assert "сколько" in stop_words("russian")
    assert stop_words("chinese") == frozenset()
