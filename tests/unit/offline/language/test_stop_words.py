"""The lists of stop words: what stored vectors and recorded extractions are bound to."""

import hashlib
from collections.abc import Collection

import pytest

from offline.language.stop_words import FREQUENT_WORDS, GRAMMAR_WORDS, STOPWORDS


def test_words_that_weigh_little_in_vectors_are_words_of_grammar() -> None:
    assert FREQUENT_WORDS < GRAMMAR_WORDS


@pytest.mark.parametrize(
    "word", ["the", "whose", "der", "welche", "quelle", "avec", "quien", "explain"]
)
def test_no_question_is_about_a_word_that_asks(word: str) -> None:
    assert word in STOPWORDS


@pytest.mark.parametrize(
    ("bound", "words", "digest"),
    [
        ("vectors under the name lexical-hash-v1", FREQUENT_WORDS, "df654b94c49cd729"),
        ("extractions of offline-6", GRAMMAR_WORDS, "30003c754b28c024"),
        ("the table of similar words", STOPWORDS, "29d61a7b8826832f"),
    ],
)
def test_a_list_does_not_change_under_what_was_made_with_it(
    bound: str, words: Collection[str], digest: str
) -> None:
    content = " ".join(sorted(words)).encode()
    assert hashlib.sha256(content).hexdigest()[:16] == digest, f"this changes {bound}"
