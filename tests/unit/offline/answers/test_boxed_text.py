"""Sentences in a box, and line blocks, which bars make look like tables."""

import pytest

from offline.answers.boxed_text import without_boxes
from offline.answers.quotable_sentences import quotable


def texts(text: str) -> list[str]:
    return [part.text for part in quotable(text)]


def test_sentences_in_a_box_are_read() -> None:
    box = "| In short: it is lit at dusk. Nobody pays. |\n| --- |\n"
    assert texts(f"A lamp.\n\n{box}\nIt shines.\n") == [
        "A lamp.",
        "In short: it is lit at dusk.",
        "Nobody pays.",
        "It shines.",
    ]
    assert texts("| 这盏灯在黄昏时点亮。 | 没有人需要付钱给它。 |\n| --- | --- |\n") == [
        "这盏灯在黄昏时点亮。",
        "没有人需要付钱给它。",
    ]


def test_lines_of_a_line_block_are_read() -> None:
    block = "| Oil the lamp in May. Use a cloth\n  that is dry.\n|\n| Wipe it.\n"
    assert texts(f"A lamp.\n\n{block}\nIt shines.\n") == [
        "A lamp.",
        "Oil the lamp in May.",
        "Use a cloth that is dry.",
        "Wipe it.",
        "It shines.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "| Lamp | Oil |\n| --- | --- |\n| Big | It burns. |\n",
        "| Lamp. |\n| --- |\n| It is big. |\n",
        "| Lamp | Oil in litres |\n| --- | --- |\n",
        "```\n| Oil it in May.\n```\n",
        "| Lamp\n|---\n| It is big.\n",
        "{|\n| It is big.\n|}\n",
        "cat lamps | sort\n",
        "It is lit. | It shines.\n",
    ],
)
def test_tables_and_code_stay_what_they_are(text: str) -> None:
    assert without_boxes(text) == text


def test_many_bars_take_linear_time() -> None:
    block = "| Lamp\n  of brass\n" * 20_000
    assert without_boxes(f"{block}| Lamp | Oil |\n") == f"{block}| Lamp | Oil |\n"
