"""Binary data in texts: it is left out and counted, language never is, in time that grows with the
text.
"""

import time
from itertools import pairwise
from pydoc_data.topics import topics

import pytest

from runtime.text.ballast import HELD, LeftOut, clean_text, without_ballast
from tests.support.binary_data import BASE64, BINARY, NO_BINARY, STRAINS


@pytest.mark.parametrize("name", BINARY)
def test_binary_data_is_left_out_and_counted(name: str) -> None:
    text, expected_text = BINARY[name]
    clean = clean_text(text)
    if expected_text is not None:
        assert clean.text == expected_text
    assert len(clean.text) < 80
    assert len(clean.warnings) == 1
    assert "bytes) was left out" in clean.warnings[0]


@pytest.mark.parametrize("name", NO_BINARY)
def test_what_only_looks_like_binary_data_stays(name: str) -> None:
    text = NO_BINARY[name]
    assert clean_text(text) == (text, (), ())


def test_the_reference_of_a_language_has_no_binary_data() -> None:
    text = "\n".join(topics.values())
    assert clean_text(text).text == text


def test_marks_move_with_what_stands_behind_the_data() -> None:
    text = f"one {BASE64} two ![lamp](data:image/png;base64,{BASE64}) three"
    clean = clean_text(text, [0, 10, text.index("two"), text.index("![") + 9, text.index("three")])
    assert clean.text == "one  two lamp three"
    assert clean.offsets == (
        0,
        4,
        clean.text.index("two"),
        clean.text.index("lamp"),
        clean.text.index("three"),
    )
    assert len(clean.warnings) == 2


@pytest.mark.parametrize("size", [37_000, 400_000])
def test_a_text_in_pieces_gives_the_same(size: int) -> None:
    ordinary = " words of the harbour office " * 20
    text = (
        ordinary.join(text for text, _ in BINARY.values())
        + ordinary
        + ordinary.join(NO_BINARY.values())
    )
    clean = clean_text(text, [len(text) // 2])
    left_out = LeftOut()
    places = [*range(0, len(text), size), len(text)]
    marks = [
        [len(text) // 2] if start <= len(text) // 2 < end else [] for start, end in pairwise(places)
    ]
    pieces = [
        (text[start:end], mark) for (start, end), mark in zip(pairwise(places), marks, strict=True)
    ]
    parts = list(without_ballast(pieces, left_out))
    assert "".join(part for part, _ in parts) == clean.text
    assert [mark for _, marks in parts for mark in marks] == list(clean.offsets)
    assert left_out.sentences() == clean.warnings


def test_a_run_that_never_ends_is_not_waited_for() -> None:
    left_out = LeftOut()
    piece = BASE64 * 8
    longest = waiting = 0
    for part, _ in without_ballast(((piece, []) for _ in range(20)), left_out):
        waiting += len(piece)
        longest = max(longest, len(part))
    assert longest < HELD / 10
    assert "binary data" in left_out.sentences()[0]


@pytest.mark.parametrize("name", STRAINS)
def test_no_text_takes_more_than_its_length_is_worth(name: str) -> None:
    text = STRAINS[name]
    quarter = text[: len(text) // 4]
    start = time.process_time()
    clean_text(quarter)
    quarter_seconds = time.process_time() - start
    clean_text(text)
    whole_seconds = time.process_time() - start - quarter_seconds
    assert whole_seconds < max(10 * quarter_seconds, 2.0)
