"""Lines that give the value of a field."""

import pytest

from offline.language.lines import is_field


@pytest.mark.parametrize(
    "line",
    [
        "Date: 3 March",
        "Datum: 3. März",
        "Date : 3 mars",
        "Fecha: 3 de marzo",
        "Цена: 3 €",
        "记录人：李明",
        "**Ort:** Scheune",
    ],
)
def test_a_label_with_a_value_is_a_field(line: str) -> None:
    assert is_field(line)


@pytest.mark.parametrize(
    "line",
    [
        "Prices:",
        "Part II: Use",
        "TOP 3: Kasse",
        "Chapter One: The Sea",
        "第一章：总则",
        "步骤二：洗菜",
        "https://sails.example",
        "He said to all of them: go",
        "It is late.",
    ],
)
def test_announcements_numbered_headings_and_sentences_are_none(line: str) -> None:
    assert not is_field(line)
