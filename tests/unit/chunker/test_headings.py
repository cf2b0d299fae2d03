"""Which headings are in force where a chunk begins."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contracts.chunking import Chunking
from services.chunker.domain import document
from services.chunker.domain.headings import Outline
from tests.support.chunking import CodePointTokenizer


def path(text: str, marker: str = "HERE") -> tuple[str, ...]:
    """The headings in force at the mark."""
    outline = Outline()
    assert "".join(outline.read([text])) == text
    return outline.at(text.index(marker))


@pytest.mark.parametrize(
    ("text", "expected_headings"),
    [
        ("HERE", ()),
        ("# One\n\nHERE", ("One",)),
        ("# One\n## Two\n### Three\nHERE", ("One", "Two", "Three")),
        ("# One\n## Two\n# Other\nHERE", ("Other",)),
        ("# One\n### Deep\n## Two\nHERE", ("One", "Two")),
        ("## Two ##\nHERE", ("Two",)),
        ("# C#\nHERE", ("C#",)),
        ("# \nHERE", ()),
        ("# One\n#\nHERE", ()),
        ("   # Indented\nHERE", ("Indented",)),
        ("    # Code\nHERE", ()),
        ("#hashtag\nHERE", ()),
        ("####### Seven\nHERE", ()),
        ("# One\r\n\r\nHERE", ("One",)),
        ("# 潮位計 🌊\nHERE", ("潮位計 🌊",)),
        ("One\n===\nHERE", ("One",)),
        ("One\n=\n\nTwo\n---\nHERE", ("One", "Two")),
        ("===\nOne\n===\nHERE", ("One",)),
        ("A line\nand another\n---\nHERE", ()),
        ("- item\n---\nHERE", ()),
        ("| cell\n---\nHERE", ()),
        ("\n---\nHERE", ()),
        ("# One\nTwo\n===\nHERE", ("Two",)),
        ("```\n# comment\n```\nHERE", ()),
        ("# One\n```sh\n# comment\nHERE", ("One",)),
        ("~~~~\n```\n# comment\n~~~\n# two\n~~~~\n# Real\nHERE", ("Real",)),
        ("``` not ` a fence\n# Real\nHERE", ("Real",)),
        ("# " + "x" * 300 + "\nHERE", ("x" * 200,)),
        ("x" * 300 + "\n===\nHERE", ()),
        ("# " + "x" * 3000 + "\nHERE", ()),
        ("# One\nHERE\n# Two", ("One",)),
        ("# One\n\nHERE\n---\n", ("One", "HERE")),
        ("# HERE", ("HERE",)),
        ("~~~ ` a fence\n# comment\nHERE", ()),
    ],
)
def test_the_headings_in_force_at_a_place(text: str, expected_headings: tuple[str, ...]) -> None:
    assert path(text) == expected_headings


def test_a_heading_is_in_force_from_its_own_first_character() -> None:
    assert path("HERE\n===\n") == ("HERE",)
    assert path("# One\n# Two", "# Two") == ("Two",)


LINES = [
    "# One",
    "## Two",
    "Title",
    "===",
    "---",
    "```",
    "~~~",
    "text",
    "",
    "    # code",
    "x" * 1200,
    "# " + "y" * 990,
]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(LINES), max_size=25).map("\n".join),
    st.lists(st.integers(0, 400), max_size=8),
)
def test_headings_are_the_same_however_the_text_comes(text: str, cuts: list[int]) -> None:
    places = sorted({0, *(min(place, len(text)) for place in cuts), len(text)})
    at_once = Outline()
    parts = Outline()
    assert "".join(at_once.read([text])) == text
    position = 0
    for piece in parts.read([text[start:end] for start, end in pairwise(places)] or [text]):
        # What is asked for is what has passed, and no more.
        for offset in range(position, position + len(piece)):
            assert parts.at(offset) == at_once.at(offset)
        position += len(piece)
    assert position == len(text)


def test_a_long_text_without_headings_or_line_breaks_passes_on_while_it_is_read() -> None:
    outline = Outline()
    texts = outline.read(["x" * 50_000] * 3)
    assert len(next(texts)) == 50_000


@pytest.mark.parametrize("how", [{}, {"strategy": "recursive"}, {"split_by_character": "\n\n"}])
def test_chunks_carry_their_headings_and_keep_their_text(how: dict[str, str]) -> None:
    text = (
        "Before.\n\n# Mill\n\nBuilt in 1788.\n\n## Flood\n\nSold in 1831.\n\n# Quay\n\nStill there."
    )
    chunking = Chunking.model_validate({"size": 16, "overlap": 0, **how})
    chunks = list(
        document.chunks("d", document.Source(lambda: [text]), CodePointTokenizer(), chunking)
    )
    for chunk in chunks:
        outline = Outline()
        "".join(outline.read([text]))
        assert chunk.headings == outline.at(chunk.start or 0)
    result = {chunk.headings for chunk in chunks}
    assert {(), ("Mill",), ("Mill", "Flood"), ("Quay",)} <= result


ROOT = Path(__file__).parents[3]
COMMONMARK = MarkdownIt("commonmark").enable("table")


def headings_by_markdown_it(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """The same as `headings`, by a library that reads the whole text at once."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    result: list[tuple[int, tuple[str, ...]]] = []
    inside: list[tuple[int, str]] = []
    tokens = COMMONMARK.parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            level = int(token.tag[1:])
            inside = [heading for heading in inside if heading[0] < level]
            inside += [(level, title)] if (title := inline.content.strip()) else []
            result.append((starts[token.map[0]], tuple(title for _, title in inside)))
    return result


def headings(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Where each heading begins, with the headings that are in force there."""
    outline = Outline()
    list(outline.read([text]))
    places = [offset for offset in range(len(text)) if offset == 0 or text[offset - 1] == "\n"]
    result = [(place, outline.at(place)) for place in places]
    return [after for before, after in pairwise([(0, ()), *result]) if after[1] != before[1]]


def test_our_own_pages_have_the_headings_that_markdown_it_finds() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text("utf-8")
        assert headings(text) == headings_by_markdown_it(text), page.name


def test_front_matter_of_several_lines_is_no_heading_although_commonmark_reads_one() -> None:
    text = "---\ntitle: A page\nauthor: Ada\n---\n\n# One\n"
    assert headings(text) == [(35, ("One",))]
    assert headings_by_markdown_it(text)[0] == (4, ("title: A page\nauthor: Ada",))
