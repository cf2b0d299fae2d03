"""Words and phrases are found as they are written: whole words, any case, in every script."""

import pytest

from services.query.lookup.keywords import (
    CONTEXT,
    MAX_SNIPPETS,
    Keyword,
    count_keywords,
    snippets,
)


def count(keyword: str, text: str) -> int:
    return count_keywords([Keyword.of(keyword)], text).total


@pytest.mark.parametrize(
    ("keyword", "text", "times"),
    [
        ("radium", "Radium glows; RADIUM is rare, radiumless is no word.", 2),
        ("harbour office", "The Harbour\n  Office, not the harbour's office.", 1),
        ("port", "Transport, port-side, port.", 2),
        ("b b", "ab b b", 1),
        ("size", "max_size is one word, size another", 1),
        ("--flag", "run it with --flag or --flags", 1),
        ("AccuracySec=", "AccuracySec=1us", 1),
        ("C++", "C++ and C", 1),
        ("...", "wait...", 1),
        ("O'Brien", "O\u2019Brien and O'Brien", 2),
        ("e-mail", "e\u2011mail or e-mail", 2),
        ("stra\u00dfe", "STRA\u1e9eE und Stra\u00dfe", 2),
        ("Jose\u0301", "Jos\u00e9 Mar\u00edn", 1),
        ("\u0447\u0430\u0439", "\u0427\u0430\u0439 \u0438 \u0447\u0430\u0439\u043d\u0438\u043a", 1),
        ("\u6771\u4eac", "\u5f7c\u306f\u6771\u4eac\u306b\u4f4f\u3080", 1),
        ("\uc11c\uc6b8", "\uc11c\uc6b8\uc5d0\uc11c", 1),
        # The last letter goes on with a vowel sign: another word.
        ("\u0915\u092e", "\u0915\u092e\u0940 \u0914\u0930 \u0915\u092e", 1),
        ("[a-z]*", "a [a-z]* b", 1),
        ('"Harbour Office"', "The Harbour Office; a harbour and an office.", 1),
        ("\u201cHarbour Office\u201d", "The Harbour Office", 1),
        ('"', 'He said "no".', 2),
    ],
)
def test_a_keyword_is_found_as_it_is_written(keyword: str, text: str, times: int) -> None:
    assert count(keyword, text) == times


def test_each_keyword_is_counted() -> None:
    keywords = [Keyword.of("radium"), Keyword.of("paris"), Keyword.of("gold")]
    counts = count_keywords(keywords, "Radium in Paris. Radium!")
    assert (counts.of_keywords, counts.distinct, counts.total) == ((2, 1, 0), 2, 3)


def test_snippets_show_the_first_places_whole_words_around_them_and_what_is_left_out() -> None:
    filler = "lorem ipsum " * 40
    text = f"{filler}Ada Marlow{filler}Ada Marlow again, Ada.{filler}Ada.{filler}Ada{filler}"
    shown = snippets([Keyword.of("Ada")], text)
    assert len(shown) == MAX_SNIPPETS
    assert "Ada Marlow again, Ada." in shown[1]
    for snippet in shown:
        assert snippet.startswith("… ") and snippet.endswith(" …")
        assert "Ada" in snippet and len(snippet) < 3 * CONTEXT
        assert snippet.split()[1] in {"lorem", "ipsum"}
    assert snippets([Keyword.of("Ada")], "Ada.") == ["Ada."]
    assert snippets([Keyword.of("Eve")], text) == []


def test_a_long_word_without_blanks_is_shown_in_part() -> None:
    text = "\u6771" * 500 + "\u4eac" + "\u6771" * 500
    (snippet,) = snippets([Keyword.of("\u4eac")], text)
    assert "\u4eac" in snippet and len(snippet) < 3 * CONTEXT
