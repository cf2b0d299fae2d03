"""What a model thought aloud is no part of its answer."""

import pytest

from runtime.text.thinking import without_thinking


@pytest.mark.parametrize(
    ("answer", "rest"),
    [
        ("<think>hm</think>{}", "{}"),
        ("\n <THINK>a\nb</THINK>\n{}", "\n{}"),
        ("<think>cut off", ""),
        ("the opening tag is missing\n</think>\n{}", "\n{}"),
        ("no thoughts", "no thoughts"),
        ("the passage says <think>this</think>", "the passage says <think>this</think>"),
    ],
)
def test_thoughts_at_the_beginning_are_left_out(answer: str, rest: str) -> None:
    assert without_thinking(answer) == rest
