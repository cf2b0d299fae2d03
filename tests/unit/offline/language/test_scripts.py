"""Characters by script: what counts as Chinese, Japanese or Korean."""

import re

import pytest

from offline.language.scripts import HAN, HAN_AND_KANA, HANGUL, KANA


@pytest.mark.parametrize(
    ("characters", "range"), [("港口々〇豈𠀀", HAN), ("みなとミナト", KANA), ("항구", HANGUL)]
)
def test_each_script_holds_its_own_characters(characters: str, range: str) -> None:
    assert re.fullmatch(f"[{range}]+", characters)
    for other_script in {HAN, KANA, HANGUL} - {range}:
        assert not re.search(f"[{other_script}]", characters)


def test_han_and_kana_are_written_together() -> None:
    assert re.fullmatch(f"[{HAN_AND_KANA}]+", "佐々木さんの港")
    assert not re.search(f"[{HAN_AND_KANA}]", "Latin, Ελληνικά, 항구, 12 。")
