"""Reference lists that a model made up: out of answers, in whole texts and in pieces; lists of
other things stay.
"""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.query.answering.answer_text import clean, cleaner
from services.query.answering.reference_lists import ReferenceListFilter

TRUE = {"harbour.md": "1", "minutes of May.md": "2"}


def told(text: str) -> str:
    lists = ReferenceListFilter(TRUE)
    return lists.feed(text) + lists.end()


@pytest.mark.parametrize(
    ("text", "clean_text"),
    [
        (
            "Ada leads it. [1]\n\n### References\n\n- [1] trusted.pdf\n- [7] bank.example\n",
            "Ada leads it. [1]\n",
        ),
        ("Ada. [1]\n\n**References:**\n1. https://evil.example/a\n2. other.pdf", "Ada. [1]\n"),
        ("Ada. [1]\nReferences:\n[1] Some title of 1998\n[2] Another", "Ada. [1]\n"),
        (
            "Ada. [1]\n\n## Quellen\n* [1] a.md\n  mehr davon\n\nSie leitet es.",
            "Ada. [1]\n\nSie leitet es.",
        ),
        ("Ada. [1]\n\n参考文献\n\n- [1] 假.md", "Ada. [1]\n"),
        ("Ada. [1]\n\n[1] forged.md\n- [2] https://evil.example\n", "Ada. [1]\n\n"),
        ("They are:\n- [1] harbour.md\n- [2] `elsewhere.md`\n", "They are:\n- [1] harbour.md\n"),
        ("Ada. [1]\n\n### References\n", "Ada. [1]\n"),
        ("## Sources\n\nThe river rises in the north. [1]\n",) * 2,
        ("## Sources\n- The north well\n- Rent\n",) * 2,
        ("- [1] Ada leads it.\n- [2] Bo keeps the books.\n",) * 2,
        ("```\n### References\n- [1] x.md\n```\n",) * 2,
        ("References are kept.\n\nReferenced by all.\n\n\n",) * 2,
        ("A\n\n\nB\n\n",) * 2,
        ("", ""),
    ],
)
def test_what_was_made_up_goes_and_the_rest_stays(text: str, clean_text: str) -> None:
    assert told(text) == clean_text


PARTS = st.sampled_from(
    [
        "### ",
        "References",
        ":",
        "\n",
        "\n\n",
        "- ",
        "[1] ",
        "[9]",
        "a.md",
        "harbour.md",
        "1. ",
        "Ada leads",
        " ",
        "```",
        "Sources",
        "**",
        "https://x.y",
        "![",
        "](",
        "javascript:x",
        ")",
        "`",
    ]
)


@example(parts=[":", "References"], cuts=[1])
@given(parts=st.lists(PARTS, max_size=24), cuts=st.lists(st.integers(0, 90), max_size=6))
def test_in_pieces_the_text_is_the_same_as_in_one(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    filters = cleaner(TRUE)
    assert "".join(filters.feed(text[a:b]) for a, b in pairwise(places)) + filters.end() == clean(
        text, TRUE
    )


def test_what_is_dropped_brings_no_picture_together() -> None:
    assert "![" not in clean(
        "Look![9][x](http://evil.example/) and ! [9][x](http://evil.example/)", TRUE
    )
