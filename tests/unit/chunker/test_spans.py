"""Whatever the way of cutting: where a passage stands, that nothing is lost, and that nothing is
too long.
"""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.chunking import Chunking
from contracts.spelling import readable
from contracts.text import sanitize
from contracts.values import Chunk
from runtime.models.open import open_tokenizer
from runtime.models.port import Tokenizer
from services.chunker.domain import document
from services.chunker.domain.spans import TokenCodec
from tests.support.chunking import CodePointTokenizer

WAYS: dict[str, dict[str, Any]] = {
    "token": {},
    "split": {"split_by_character": "\n\n"},
    "split at a word": {"split_by_character": "aba"},
    "recursive": {"strategy": "recursive"},
}
WORDS = [
    "The",
    "water",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    " " * 30,
    "\n" * 20,
    ". ",
    "! ",
    "; ",
    ", ",
    "。",
    "！”",
    "，",
    "潮位計",
    "👩‍👩‍👧",
    "🌊",
    "\u3000",
    "e\u0301",
    "x=1\n",
    "```\n",
    "# A\n",
    "a",
    "ab",
    "ba",
    "Donaudampfschifffahrt" * 5,
    "潮" * 60,
    "&amp;",
]
texts = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=50)


@pytest.fixture(scope="module")
def tokens() -> Tokenizer:
    return open_tokenizer()


def cut(parts: list[str], tokens: TokenCodec, size: int, overlap: int, **how: Any) -> list[Chunk]:
    return list(
        document.chunks(
            "d", document.Source(lambda: parts), tokens, Chunking(size=size, overlap=overlap, **how)
        )
    )


def check(
    parts: list[str], tokens: TokenCodec, size: int, overlap: int, how: dict[str, Any]
) -> list[Chunk]:
    """What holds for any text, size and tokenizer."""
    text = readable(sanitize("".join(parts)))
    separator = how.get("split_by_character", "")
    chunks = (
        cut(parts, tokens, size, overlap, **how)
        if text.replace(separator or "\n", "").strip()
        else []
    )
    assert [chunk.order for chunk in chunks] == list(range(len(chunks)))
    coverage = bytearray(len(text))
    for chunk in chunks:
        start = chunk.start or 0
        end = chunk.end or 0
        stands = text[start:end]
        assert chunk.content == chunk.content.strip() != ""
        if chunk.content != stands:
            # A border of tokens lies inside a character: on the outside only, and only between
            # windows.
            assert how.get("strategy") != "recursive"
            assert stands.strip(stands[0] + stands[-1]) in chunk.content or len(stands) <= 2
            assert "\ufffd" in (chunk.content[0], chunk.content[-1])
        assert 0 < chunk.tokens <= size or (
            how.get("strategy") == "recursive" and len(chunk.content) == 1
        )
        coverage[start:end] = b"\1" * (end - start)
    for earlier, later in pairwise(chunks):
        assert (earlier.start or 0) <= (later.start or 0)
        assert (earlier.end or 0) <= (later.end or 0)
    gaps = " ".join(text[slice(*gap.span())] for gap in re.finditer(rb"\0+", coverage))
    assert not gaps.replace(separator or " ", " ").strip()
    return chunks


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
@settings(max_examples=50)
@given(parts=texts, size=st.integers(1, 40), data=st.data())
def test_every_character_is_in_a_passage_that_says_where_it_stands(
    tokens: Tokenizer, how: dict[str, Any], parts: list[str], size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    for tokenizer in (tokens, CodePointTokenizer()):
        check(parts, tokenizer, size, overlap, how)


def test_a_text_with_a_replacement_character_of_its_own_is_cut_as_others_are(
    tokens: Tokenizer,
) -> None:
    check(["\u0180", "\ufffd", "The"], tokens, size=3, overlap=2, how={})


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
@settings(max_examples=25)
@given(parts=texts, size=st.integers(2, 30))
def test_a_text_in_pieces_is_cut_as_the_whole_is(
    tokens: Tokenizer, how: dict[str, Any], parts: list[str], size: int
) -> None:
    assert check(parts, tokens, size, 1, how) == check(["".join(parts)], tokens, size, 1, how)


PROSE = "The gauge was read at noon, as ever; nobody said a word. 潮位計は三月に交換された。水が引くと、船が見えた！\n"  # noqa: E501


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(
    "unit", [PROSE, PROSE.strip() + " ", "潮", "no", " 7", "🌊", "\n\n  x", "word. " * 10 + "\n\n"]
)
def test_a_long_text_of_any_kind_is_cut_without_loss(
    tokens: Tokenizer, how: dict[str, Any], unit: str
) -> None:
    text = unit * (30_000 // len(unit)) + "end"
    parts = [text[start : start + 9_001] for start in range(0, len(text), 9_001)]
    chunks = check(parts, tokens, 300, 30, how)
    assert chunks == check([text], tokens, 300, 30, how)


@pytest.mark.parametrize(
    "character", [".", "!", "。", ",", "'", "\n", " ", "#", "-", "`", "&", "&#0", "\t\n"]
)
@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
@pytest.mark.timeout(30)
def test_a_long_run_of_one_mark_takes_no_longer_than_other_texts(
    how: dict[str, Any], character: str
) -> None:
    assert check(
        ["a" + character * (60_000 // len(character)) + "b"], CodePointTokenizer(), 1200, 100, how
    )


# ---------------------------------------------------------------- separators


def contents(text: str, **how: Any) -> list[str]:
    options = {"size": 10, "overlap": 2, **how}
    return [chunk.content for chunk in cut([text], CodePointTokenizer(), **options)]


def test_pieces_between_separators_are_not_merged_and_long_ones_are_windows() -> None:
    assert contents("one||two|0123456789abcdef| |end", split_by_character="|") == [
        "one",
        "two",
        "0123456789",
        "89abcdef",
        "end",
    ]


def test_a_piece_that_just_fits_is_one_passage_and_not_followed_by_its_own_end() -> None:
    assert contents("0123456789|x", split_by_character="|") == ["0123456789", "x"]
    assert contents("0123456789") == ["0123456789", "89"]


def test_a_separator_of_several_characters_is_found_wherever_the_text_is_cut() -> None:
    text = "one<sep>two<sep>three"
    for place in range(len(text)):
        chunks = cut(
            [text[:place], text[place:]], CodePointTokenizer(), 10, 2, split_by_character="<sep>"
        )
        assert [chunk.content for chunk in chunks] == ["one", "two", "three"]


def test_by_character_only_takes_what_fits_and_refuses_what_does_not() -> None:
    how: dict[str, Any] = {"split_by_character": "|", "split_by_character_only": True}
    assert contents("0123456789|x", **how) == ["0123456789", "x"]
    with pytest.raises(Exception, match="begins at character 2 has more than 10 tokens"):
        contents("x|0123456789a", **how)


# ---------------------------------------------------------------- recursive


def recursive(text: str, size: int, overlap: int = 0) -> list[str]:
    return contents(text, size=size, overlap=overlap, strategy="recursive")


def test_paragraphs_that_fit_together_are_one_passage() -> None:
    assert recursive("one\n\ntwo\n\nthree\n\nfour", 12) == ["one\n\ntwo", "three\n\nfour"]


def test_a_paragraph_that_does_not_fit_is_cut_at_its_lines_and_these_at_their_sentences() -> None:
    text = "Ebb at nine.\nFlood at three. Slack at six.\n\nEnd."
    assert recursive(text, 16) == ["Ebb at nine.", "Flood at three.", "Slack at six.", "End."]


def test_chinese_sentences_end_at_their_own_marks() -> None:
    assert recursive("潮位計交換了。“水退了！”船呢？看見了。", 9) == [
        "潮位計交換了。",
        "“水退了！”船呢？",
        "看見了。",
    ]


def test_a_sentence_that_does_not_fit_is_cut_at_its_clauses_and_these_between_words() -> None:
    text = "Low water at noon, high water at six; nobody came"
    assert recursive(text, 20) == ["Low water at noon,", "high water at six;", "nobody came"]
    assert recursive("水退了，船看見了；人沒有來", 6) == ["水退了，", "船看見了；", "人沒有來"]
    assert recursive("low water at noon", 10) == ["low water", "at noon"]


def test_a_number_is_not_cut_at_its_point() -> None:
    assert recursive("It rose 3.14 m. It fell 1.2 m.", 16) == ["It rose 3.14 m.", "It fell 1.2 m."]


def test_a_word_that_does_not_fit_is_cut_between_characters() -> None:
    assert recursive("潮位計🌊交換", 4) == ["潮位計🌊", "交換"]


def test_whole_pieces_are_repeated_where_they_fit_the_overlap() -> None:
    assert recursive("One. Two. Three. Four.", 12, overlap=5) == [
        "One. Two.",
        "Two. Three.",
        "Four.",
    ]
    assert recursive("One. Two. Three. Four.", 13, overlap=7) == [
        "One. Two.",
        "Two. Three.",
        "Three. Four.",
    ]
