"""Names and texts that look alike are one, whoever wrote them."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.ids import document_id, former_ids, ids_of_name, md5, path_id
from contracts.names import clean_name, fold
from contracts.spelling import name_spelling, one_spelling, readable, spellings
from contracts.text import cleaned, sanitize

SOFT_HYPHEN = "\u00ad"
ZERO_WIDTH = "\u200b"
JOINER = "\u200d"
NON_JOINER = "\u200c"


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        (unicodedata.normalize("NFD", "José Marín"), "José Marín"),
        (unicodedata.normalize("NFD", "Ångström"), "Ångström"),
        (unicodedata.normalize("NFD", "Nguyễn Thị Minh Khai"), "Nguyễn Thị Minh Khai"),
        (unicodedata.normalize("NFD", "ガリレオ"), "ガリレオ"),
        (unicodedata.normalize("NFD", "김유신"), "김유신"),
        (f"Ottilie Wert{SOFT_HYPHEN}papier", "Ottilie Wertpapier"),
        (f"Ottilie{ZERO_WIDTH} Wert\u2060papier\ufeff", "Ottilie Wertpapier"),
        (f"Auf{NON_JOINER}lage Zehn", "Auflage Zehn"),
        ("\u202aKarla\u202c \u2066Mole\u2069\u200e", "Karla Mole"),
        ("Karla\u00a0Mole", "Karla Mole"),
        ("Karla\u202fMole", "Karla Mole"),
        ("Karla\u2009Mole", "Karla Mole"),
        ("Anne\u2011Marie Low\u2010Tide", "Anne-Marie Low-Tide"),
        ("Liam O\u2019Brien", "Liam O'Brien"),
        ("Liam O\u02bcBrien", "Liam O'Brien"),
        ("Ｋａｒｌａ Mole", "Karla Mole"),
        ("Karla&nbsp;Wert&shy;mann", "Karla Wertmann"),
    ],
)
def test_a_name_has_one_spelling(spelling: str, name: str) -> None:
    assert clean_name(spelling) == name
    assert clean_name(name) == name
    assert fold(spelling) == fold(name)


@pytest.mark.parametrize(
    "text",
    [
        f"می{NON_JOINER}خواهم",
        f"क्{JOINER}ष and न्{NON_JOINER}ह",
        f"👩{JOINER}👩{JOINER}👧 and ☎\ufe0f",
        "Low–Tide — a dash",
        "the keepers’ house",
        "神戸 and 藤﨑",
    ],
)
def test_what_carries_meaning_stays(text: str) -> None:
    assert one_spelling(text) == unicodedata.normalize("NFC", text)
    assert readable(text) == text


def test_a_text_changes_only_where_nobody_sees_it() -> None:
    text = (
        f"Cafe\u0301 Wert{SOFT_HYPHEN}papier, 10\u202f000\u00a0€, \u2067עברית\u2069, fi\u0327n, "
        "\ufa19"
    )
    assert (
        readable(text)
        == "Café Wertpapier, 10\u202f000\u00a0€, \u2067עברית\u2069, fi\u0327n, \ufa19"
    )


def test_a_blank_without_width_stays_between_words_of_scripts_without_blanks() -> None:
    assert readable(f"ภาษา{ZERO_WIDTH}ไทย a{ZERO_WIDTH}b") == f"ภาษา{ZERO_WIDTH}ไทย ab"


@settings(max_examples=300)
@given(
    st.lists(st.text("abe\u0301\u0327\u00ad\u200b &;#x301ภ\n", max_size=8), max_size=6),
    st.lists(st.integers(0, 40), max_size=4),
)
def test_a_text_is_cleaned_alike_in_any_pieces(pieces: list[str], places: list[int]) -> None:
    text = "".join(pieces)
    offsets = sorted(min(place, len(text)) for place in places)
    cleaned_pieces = list(cleaned(pieces, offsets))
    assert "".join(text for text, _ in cleaned_pieces) == readable(sanitize(text))
    at_once = [place for _, here in cleaned([text], offsets) for place in here]
    assert [place for _, here in cleaned_pieces for place in here] == at_once


def test_places_of_pages_follow_the_text() -> None:
    first = f"Cafe\u0301 Wert{SOFT_HYPHEN}papier. "
    second = "Second page."
    text = "".join(piece for piece, _ in cleaned([first + second], [0, len(first)]))
    assert [place for _, here in cleaned([first + second], [0, len(first)]) for place in here] == [
        0,
        text.index("Sec"),
    ]


def test_both_spellings_of_a_file_name_give_one_id() -> None:
    composed_name = "Übersicht Café.md"
    decomposed_name = unicodedata.normalize("NFD", "Übersicht Café.md")
    assert (
        document_id("", decomposed_name)
        == document_id("", composed_name)
        == "doc-" + md5(composed_name)
    )
    assert (
        path_id(f"a/{decomposed_name}")
        == path_id(f"a/{composed_name}")
        == "doc-" + md5(f"a/{composed_name}")
    )
    assert name_spelling(f"Wert{SOFT_HYPHEN}papier.md") == "Wertpapier.md"


def test_ids_from_before_names_had_one_spelling_are_known() -> None:
    composed_name = "Café.md"
    decomposed_name = unicodedata.normalize("NFD", "Café.md")
    earlier_ids = ["doc-" + md5(decomposed_name)]
    assert (
        former_ids(document_id("", composed_name), composed_name)
        == earlier_ids
        == former_ids(document_id("", composed_name), decomposed_name)
    )
    assert earlier_ids[0] in ids_of_name(composed_name)
    assert (
        former_ids("café-1") == [unicodedata.normalize("NFD", "café-1")] == [spellings("café-1")[1]]
    )
    assert (
        former_ids("ferry.md", "ferry.md")
        == former_ids(document_id("", "ferry.md"), "ferry.md")
        == []
    )
