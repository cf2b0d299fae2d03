"""What the page of a document in Markdown does not show: nobody can quote it."""

import time

import pytest

from offline.answers.hidden_markup import without_hidden_markup
from offline.answers.quotable_sentences import quotable


def texts(text: str) -> list[str]:
    return [part.text for part in quotable(text)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!-- lint\noff --> Oil it in May. It <!-- no --> shines.", "Oil it in May. It shines."),
        ("Write `<!--` before and `-->` behind it.", "Write `<!--` before and `-->` behind it."),
        ("It begins with <!-- and goes on.", "It begins with <!-- and goes on."),
        ("Oil it in May.\n\n[lamp]: https://a.example/b 'A lamp'\n[b]: c", "Oil it in May."),
        ("> Oil it\n> in May.\n>\n> > 3.2. Wipe it.", "Oil it in May. 3.2. Wipe it."),
        ("> - Oil it in\n>   May.\n>     Wipe it.", "- Oil it in May. Wipe it."),
        ("Oil it<br>in May.<br />Wipe it.", "Oil it in May. Wipe it."),
        ("{% if lit %}Oil it {% include x.html a='b' %}in May.{% endif %}", "Oil it in May."),
        ("4\\. Oil it in May.", "4. Oil it in May."),
        ("| a | b |\n|---|---|\n|   |   |\n| 1 | 2 |", "a: 1; b: 2"),
    ],
)
def test_what_a_page_does_not_show_is_not_quoted(text: str, shown: str) -> None:
    assert " ".join(texts(text)) == shown


def test_footnotes_prompts_and_comparisons_stay() -> None:
    text = "[^1]: Oil it in May.\n\n>>> shine()\n\nIf a > b it shines.\n"
    assert without_hidden_markup(text) == text


@pytest.mark.parametrize(
    "unit", ["<!--", "-->", "<!-- -->", "> ", "[a]: b\n", "[a]:", "<br", "{%", "\t"]
)
def test_oddities_take_linear_time(unit: str) -> None:
    begin = time.process_time()
    without_hidden_markup(unit * (300_000 // len(unit)) + "x")
    assert time.process_time() - begin < 10
