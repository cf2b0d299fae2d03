"""Cutting where a text has borders: at headings (`paragraph`), where the subject changes
(`semantic`).
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import Poison
from services.chunker.domain import semantic
from services.chunker.domain.paragraphs import split_by_paragraphs
from services.chunker.domain.semantic import split_by_meaning
from services.chunker.domain.spans import Span
from tests.support.chunking import CodePointTokenizer

TOKENS = CodePointTokenizer()
TEXT = "".join(
    f"# Part {part}\n\n"
    + "".join(f"## Section {part}.{section}\n\n{'word ' * 12}\n\n" for section in (1, 2))
    for part in (1, 2, 3)
)


def by_paragraphs(text: str, size: int, overlap: int = 0) -> list[Span]:
    return list(split_by_paragraphs([text], TOKENS, size, overlap))


def vector(text: str) -> Sequence[float]:
    """Return what the first letters tell: a subject of its own for each."""
    return (1.0, 0.0) if text[0] in "Aa" else (0.0, 1.0)


def test_sections_are_chunks_and_small_ones_are_joined() -> None:
    assert [span.content.split("\n")[0] for span in by_paragraphs(TEXT, 100)] == [
        "# Part 1",
        "## Section 1.2",
        "# Part 2",
        "## Section 2.2",
        "# Part 3",
        "## Section 3.2",
    ]
    # Less than three quarters of the size are not enough, and of two headings the higher one cuts.
    assert [span.content.split("\n")[0] for span in by_paragraphs(TEXT, 240)] == [
        "# Part 1",
        "# Part 2",
        "# Part 3",
    ]


def test_a_heading_stays_with_its_text_and_no_scrap_is_left() -> None:
    text = "One two three.\n\n" * 3 + "## Title\n\n" + "Four five six.\n\n" * 9
    spans = by_paragraphs(text, 80)
    assert not any(span.content.endswith("Title") for span in spans)
    assert min(span.tokens for span in spans) >= 80 // 4


def test_inside_a_section_whole_paragraphs_are_repeated() -> None:
    paragraphs = [f"Paragraph {number} of it.\n\n" for number in range(9)]
    spans = by_paragraphs("".join(paragraphs), 100, overlap=30)
    assert all(second.start < first.end for first, second in pairwise(spans))
    assert all(span.content.startswith("Paragraph") for span in spans)


@given(text=st.text(alphabet="ab #\n|.。-"), size=st.integers(2, 40), overlap=st.integers(0, 20))
def test_whatever_the_text_every_letter_is_in_a_chunk_of_the_size(
    text: str, size: int, overlap: int
) -> None:
    cuts: Iterable[list[Span]] = (
        by_paragraphs(text, size, min(overlap, size // 2)),
        list(split_by_meaning([text], TOKENS, size, vector)),
    )
    for spans in cuts:
        covered = {place for span in spans for place in range(span.start, span.end)}
        assert not [
            letter for place, letter in enumerate(text) if letter.strip() and place not in covered
        ]
        assert all(span.tokens <= size for span in spans)
        assert all(text[span.start : span.end] == span.content for span in spans)
        assert [span.start for span in spans] == sorted(span.start for span in spans)


def test_a_chunk_ends_where_the_subject_changes() -> None:
    text = "All about apples here. " * 12 + "Boats sail on the sea. " * 12
    spans = list(split_by_meaning([text], TOKENS, 400, vector))
    assert [span.content[:3] for span in spans] == ["All", "Boa"]
    assert spans == list(split_by_meaning([text[:50], text[50:]], TOKENS, 400, vector))


def test_a_text_of_too_many_sentences_names_other_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "MAX_SENTENCES", 2)
    with pytest.raises(Poison, match="3 sentences, `semantic` takes at most 2: choose `paragraph`"):
        list(split_by_meaning(["One is. Two is. Three is."], TOKENS, 40, vector))
