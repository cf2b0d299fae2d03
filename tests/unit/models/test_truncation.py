"""Texts are cut to what an embedding model reads, at a character, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runtime.models.tokens import TiktokenTokenizer
from runtime.models.truncation import VOCABULARY, cutter, to_bytes, to_tokens

CHINESE = "居里夫人在巴黎发现了镭，并两次获得诺贝尔奖。" * 40
EMOJI = "👩‍👩‍👧‍👦🏳️‍🌈" * 60
ENGLISH = "Marie Curie discovered radium in Paris. " * 60


@pytest.fixture(scope="module")
def tokenizer() -> TiktokenTokenizer:
    return TiktokenTokenizer(VOCABULARY)


@pytest.mark.parametrize("text", [CHINESE, EMOJI, ENGLISH])
@pytest.mark.parametrize("limit", [1, 2, 17, 100])
def test_a_text_is_cut_to_so_many_tokens_and_is_its_own_beginning(
    tokenizer: TiktokenTokenizer, text: str, limit: int
) -> None:
    cut = to_tokens(text, limit, tokenizer)
    assert text.startswith(cut)
    assert tokenizer.count(cut) <= limit
    assert len(cut) >= limit // 4 or text == EMOJI


@given(
    text=some.text(alphabet=some.characters(codec="utf-8"), max_size=200),
    limit=some.integers(1, 40),
)
def test_no_text_has_more_tokens_than_the_limit_or_half_a_character(
    tokenizer: TiktokenTokenizer, text: str, limit: int
) -> None:
    cut = to_tokens(text, limit, tokenizer)
    assert text.startswith(cut)
    assert tokenizer.count(cut) <= limit


def test_a_replacement_character_of_the_text_itself_is_kept(tokenizer: TiktokenTokenizer) -> None:
    assert to_tokens("a\ufffd\ufffd", 50, tokenizer) == "a\ufffd\ufffd"
    assert to_tokens("\ufffd" * 50, 3, tokenizer).strip("\ufffd") == ""


@pytest.mark.parametrize(("limit", "characters"), [(10, 3), (9, 3), (8, 2), (2, 0)])
def test_bytes_are_cut_between_characters(limit: int, characters: int) -> None:
    assert to_bytes(CHINESE, limit) == CHINESE[:characters]


def test_both_limits_hold_and_none_is_none(tokenizer: TiktokenTokenizer) -> None:
    assert cutter(0, 0)(CHINESE) == CHINESE
    assert tokenizer.count(cutter(50, 0)(CHINESE)) <= 50
    assert len(cutter(50, 30)(CHINESE).encode()) <= 30


def test_a_short_text_is_not_counted_at_all() -> None:
    def never() -> TiktokenTokenizer:
        raise AssertionError("the vocabulary was loaded for a short text")

    assert cutter(8191, 0, never)("居里" * 1000) == "居里" * 1000
    with pytest.raises(AssertionError):
        cutter(8191, 0, never)("居里" * 2000)


def test_a_huge_text_is_cut_in_no_time(tokenizer: TiktokenTokenizer) -> None:
    assert tokenizer.count(to_tokens("居里夫人" * 3_000_000, 100, tokenizer)) <= 100
