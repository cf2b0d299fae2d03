"""What becomes of a text at the door."""

import html
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.text import encodable, sanitize, sanitized

any_text = st.text(st.characters(codec=None))

NON_CHARACTERS = {"\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"}


@pytest.mark.parametrize(
    ("given_text", "clean_text"),
    [
        ("  Low water.\n", "Low water."),
        ("one\ttwo\r\nthree", "one\ttwo\r\nthree"),
        (
            "bell\x07 null\x00 escape\x1b[0m delete\x7f next-line\x85",
            "bell null escape[0m delete next-line",
        ),
        ("pair \ud83d\ude00 half \ud83d end", "pair  half  end"),
        ("\ufeffmarked", "\ufeffmarked"),
        ("Tom &amp; Ida &lt;3 &#233;&#x4e2d;&nbsp;x", "Tom & Ida <3 é中\xa0x"),
        ("&amp;lt;", "&lt;"),
        ("&#0; &#x1b; &#xD800;", "\ufffd  \ufffd"),
        ("潮位計 🌊 مدّ", "潮位計 🌊 مدّ"),
        ("&#" + "0" * 5000 + "65; &#" + "9" * 5000 + ";", "A \ufffd"),
        ("&#x" + "0" * 5000 + "41; &#x" + "f" * 5000 + ";", "A \ufffd"),
        ("\x00 \x01", ""),
        ("&nbsp;", ""),
    ],
)
def test_a_text_is_made_printable(given_text: str, clean_text: str) -> None:
    assert sanitize(given_text) == clean_text


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


awkward = st.lists(
    st.sampled_from(
        [
            "&",
            "#",
            "x",
            "amp",
            "lt",
            "nbsp",
            "am",
            "p",
            ";",
            "3",
            "8",
            "0",
            "41",
            " ",
            "\n",
            "\r",
            "\x00",
            "\x1f",
            "\x85",
            "\u3000",
            "\xa0",
            "notit",
            "a",
            "中",
            "&amp;",
            "&#38;",
            "<",
            "\ufffe",
            "\U0001f600",
            "CounterClockwiseContourIntegral",
        ]
    ),
    max_size=30,
)


@settings(max_examples=500)
@given(awkward)
def test_references_are_resolved_as_the_standard_library_does(words: list[str]) -> None:
    text = "".join(words)
    dropped_characters = {
        character for character in text if sanitize("a" + character + "b") != "a" + character + "b"
    } - {"&"}
    expected_text = "".join(
        c for c in html.unescape(text.strip()) if c not in dropped_characters
    ).strip()
    assert sanitize(text) == expected_text


@settings(max_examples=500)
@given(awkward)
def test_a_text_in_pieces_is_sanitised_as_the_whole_is(words: list[str]) -> None:
    assert "".join(text for text, _ in sanitized(words)) == sanitize("".join(words))


def test_a_text_is_passed_on_while_it_is_read() -> None:
    read: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(3):
            read.append(number)
            yield f"line {number}\n"

    assert next(sanitized(texts()))[0] == "line 0"
    assert read == [0]


@settings(max_examples=500)
@given(awkward, st.data())
def test_a_mark_stays_at_its_character(words: list[str], data: st.DataObject) -> None:
    """A letter that stands nowhere else marks the place."""
    place = data.draw(st.integers(0, len(words)))
    before = "".join(words[:place])
    if not before.endswith(";"):
        before += "\n"  # or the letter might become a part of a reference
    text = before + "Ж" + "".join(words[place:])
    pieces = list(sanitized([text[:7], text[7:]], (len(before),)))
    (offset,) = [offset for _, offsets in pieces for offset in offsets]
    assert "".join(text for text, _ in pieces)[offset] == "Ж"


def test_marks_in_what_is_dropped_stand_at_what_follows() -> None:
    text = " \x00one&amp;two \x07three "
    pieces = list(sanitized([text], (0, 1, 2, 6, 8, 13, 14, 15, len(text))))
    assert pieces[0][0] == "one&two three"
    assert [offset for _, offsets in pieces for offset in offsets][:8] == [0, 0, 0, 3, 3, 7, 8, 8]
