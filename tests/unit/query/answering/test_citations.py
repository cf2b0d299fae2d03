"""Citations of a model's answer: numbers that name no reference are dropped, in whole texts and in
pieces alike.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.answering.citations import CitationFilter, remove_unknown_citations

THREE = {"1", "2", "3"}


@pytest.mark.parametrize(
    ("text", "clean_text"),
    [
        ("Radium glows [9].", "Radium glows."),
        ("Radium glows [1].", "Radium glows [1]."),
        ("Radium [9] glows [2].", "Radium glows [2]."),
        ("Radium glows [1, 9].", "Radium glows [1]."),
        ("Radium glows [9,2;3 8].", "Radium glows [2, 3]."),
        ("Radium glows [1][9].", "Radium glows [1]."),
        ("Radium glows [9][1].", "Radium glows [1]."),
        ("Radium glows [9] [8] [1].", "Radium glows [1]."),
        ("Radium glows [2-5].", "Radium glows [2, 3]."),
        ("Radium glows [1–3].", "Radium glows [1–3]."),
        ("Radium glows [5-7], it does.", "Radium glows, it does."),
        ("Radium glows [^1] and [^7].", "Radium glows [^1] and."),
        ("Radium glows[9]", "Radium glows"),
        ("Radium glows [0]", "Radium glows"),
        ("镭发光[9]。", "镭发光。"),
        ("[9] Radium glows.", "Radium glows."),
        ("- [9] Radium\n[8]\n", "- Radium\n\n"),
        ("In the year [1898] it was found.", "In the year [1898] it was found."),
        ("Look [9](https://example.org/9) up.", "Look [9](https://example.org/9) up."),
        ("Look [it](https://example.org/a[9]) up [9].", "Look [it](https://example.org/a[9]) up."),
        ("An image ![9](a.png)", "An image ![9](a.png)"),
        ("Escaped \\[9] stays.", "Escaped \\[9] stays."),
        ("The code `a[9]` stays [9].", "The code `a[9]` stays."),
        ("The code ``a`[9]`` stays [9].", "The code ``a`[9]`` stays."),
        ("A lone ` ends with its line\nRadium [9].", "A lone ` ends with its line\nRadium."),
        ("```python\nx = a [9]\n```\nRadium [9].", "```python\nx = a [9]\n```\nRadium."),
        ("~~~\nx [9]\n```\ny [9]\n~~~\nRadium [9].", "~~~\nx [9]\n```\ny [9]\n~~~\nRadium."),
        ("```` \n```\nx [9]\n````\nRadium [9].", "```` \n```\nx [9]\n````\nRadium."),
        ("```x [9]``` is a span [9].", "```x [9]``` is a span."),
        ("~~gone~~ [9]", "~~gone~~"),
        ("A list [x] [ ] [] [a] [1a] [-] stays.", "A list [x] [ ] [] [a] [1a] [-] stays."),
        ("Never closed [9", "Never closed [9"),
        ("Too long [" + "1 " * 60 + "9].", "Too long [" + "1 " * 60 + "9]."),
        ("", ""),
    ],
)
def test_only_citations_of_references_that_there_are_stay(text: str, clean_text: str) -> None:
    assert remove_unknown_citations(text, THREE) == clean_text


def test_where_there_are_no_references_no_citation_stays() -> None:
    assert remove_unknown_citations("A [1], B [2, 3].", ()) == "A, B."


ODD = st.lists(
    st.sampled_from(
        [
            "[9]",
            "[1]",
            "[1, 9]",
            "[2-9]",
            "[",
            "]",
            "(",
            ")",
            "](",
            " ",
            "  ",
            "\t",
            "\n",
            "`",
            "```",
            "~~~",
            "\\",
            ".",
            "word",
            "9",
            ",",
            "^",
            "-",
            "–",
            "![",
            "\n    ",
            "[" + " " * 79,
            "文",
        ]
    )
    | st.text(max_size=3),
    max_size=30,
).map("".join)


@given(text=ODD, cuts=st.lists(st.integers(0, 120)))
def test_however_a_text_is_split_the_pieces_join_to_the_same(text: str, cuts: list[int]) -> None:
    places = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
    citations = CitationFilter(THREE)
    pieces = [citations.feed(text[start:end]) for start, end in pairwise(places)]
    assert "".join(pieces) + citations.end() == remove_unknown_citations(text, THREE)


@given(text=ODD)
def test_what_is_known_is_never_touched(text: str) -> None:
    assert remove_unknown_citations(text, {str(number) for number in range(1000)}) == text


@given(text=ODD)
def test_only_what_may_begin_a_citation_is_held_back(text: str) -> None:
    citations = CitationFilter({str(number) for number in range(1000)})
    given_back = ""
    for place, character in enumerate(text, 1):
        given_back += citations.feed(character)
        buffer = text[:place][len(given_back) :]
        assert buffer == "" or buffer.lstrip(" \t") == "" or buffer.lstrip(" \t")[0] in "[]`~\\"
        # The buffer is read again when it is an eighth longer, not with every character.
        assert len(buffer) < 83 + 83 // 8 or set(buffer) <= {"`", "~"}
