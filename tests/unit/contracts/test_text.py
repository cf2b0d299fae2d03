"""What becomes of a text at the door."""

import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.text import encodable, sanitize

any_text = st.text(st.characters(codec=None))

NON_CHARACTERS = {"\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"}


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("  Low water.\n", "Low water."),
        ("one\ttwo\r\nthree", "one\ttwo\r\nthree"),
        ("bell\x07 null\x00 escape\x1b[0m delete\x7f next-line\x85", "bell null escape[0m delete next-line"),
        ("pair \ud83d\ude00 half \ud83d end", "pair  half  end"),
        ("\ufeffmarked", "\ufeffmarked"),
        ("Tom &amp; Ida &lt;3 &#233;&#x4e2d;&nbsp;x", "Tom & Ida <3 é中\xa0x"),
        ("&amp;lt;", "&lt;"),
        ("&#0; &#x1b; &#xD800;", "\ufffd  \ufffd"),
        ("潮位計 🌊 مدّ", "潮位計 🌊 مدّ"),
        ("\x00 \x01", ""),
        ("&nbsp;", ""),
    ],
)
def test_a_text_is_made_printable(given_text: str, wanted: str) -> None:
    assert sanitize(given_text) == wanted


@pytest.mark.parametrize("character", sorted(NON_CHARACTERS))
def test_what_unicode_never_assigns_is_dropped(character: str) -> None:
    assert sanitize(f"a{character}b") == "ab"


@given(any_text)
def test_nothing_is_left_that_a_store_cannot_take(text: str) -> None:
    clean = sanitize(text)
    clean.encode("utf-8")
    assert clean == clean.strip()
    assert not NON_CHARACTERS & set(clean)
    assert all(c in "\t\n\r" or unicodedata.category(c) not in ("Cc", "Cs") for c in clean)


@given(any_text)
def test_an_escaped_text_comes_back_as_it_was_meant(text: str) -> None:
    assert sanitize(html.escape(sanitize(text))) == sanitize(text)


@given(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="&")))
def test_plain_text_is_left_alone(text: str) -> None:
    assert sanitize(text) == text


@given(any_text)
def test_what_is_encodable_loses_its_lone_surrogates_and_nothing_else(text: str) -> None:
    assert encodable(text) == "".join(c for c in text if not "\ud800" <= c <= "\udfff")
