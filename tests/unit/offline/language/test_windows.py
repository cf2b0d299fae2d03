"""Windows have whole sentences, all of them, and are few and short enough."""

import pytest

from offline.language.windows import MOST_WINDOWS, has_windows, windows_of

BUILT_IN = "all-MiniLM-L6-v2-int8-dynamic@0"


def text_of(sentences: int) -> str:
    return " ".join(f"Rule {n} says that nobody runs in room {n}." for n in range(sentences))


@pytest.mark.parametrize("sentences", [30, 100, 3000])
def test_windows_have_every_sentence_once(sentences: int) -> None:
    text = text_of(sentences)
    windows = windows_of(BUILT_IN, text)
    assert 2 <= len(windows) <= MOST_WINDOWS
    assert " ".join(windows) == text
    if sentences == 100:
        assert max(map(len, windows)) < 850


def test_a_sentence_longer_than_a_window_is_one_of_its_own() -> None:
    long_sentence = f"It {'really ' * 200}ends."
    windows = windows_of(BUILT_IN, f"Before. {long_sentence} Behind.")
    assert windows == ["Before.", long_sentence, "Behind."]


def test_short_passages_and_paid_embedders_have_none() -> None:
    assert windows_of(BUILT_IN, text_of(3)) == []
    assert windows_of("text-embedding-3-small", text_of(100)) == []
    assert has_windows(BUILT_IN)
    assert not has_windows("text-embedding-3-small")
