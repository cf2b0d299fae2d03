"""The page tells the notes of answers without a model in Chinese by their words: it has those that
are written here.
"""

from pathlib import Path

import pytest

from offline.answers.extractive_answer import NEAREST, NO_MODEL, NO_MODEL_READ, NOT_SAID

TEXTS = Path(__file__).resolve().parents[4] / "web/src/texts/server/zh.ts"


@pytest.mark.parametrize("note", [NO_MODEL, NO_MODEL_READ, NOT_SAID, NEAREST])
def test_the_page_has_a_translation_of_each_note(note: str) -> None:
    assert f'"{note}":' in TEXTS.read_text("utf-8")
