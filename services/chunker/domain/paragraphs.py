"""Cuts at headings, else at ends of paragraphs, else as `recursive` does: the strategy that
LightRAG calls `paragraph_semantic`.

A section that is long enough is a chunk of its own, small ones are joined with those behind them.
"""

from collections.abc import Iterable, Iterator

from services.chunker.domain.headings import Outline
from services.chunker.domain.packing import GLUED, BorderedPiece, packed
from services.chunker.domain.pieces import Piece, joined_spans
from services.chunker.domain.recursive import paragraphs, split_piece
from services.chunker.domain.spans import Span, TokenCodec

_PARAGRAPH = 100.0
_INSIDE_PARAGRAPH = 101.0
"""Weights of borders. That of a heading is its depth."""


def split_by_paragraphs(
    texts: Iterable[str], tokens: TokenCodec, size: int, overlap: int
) -> Iterator[Span]:
    """Yield spans of at most `size` tokens; inside a section each repeats the last whole pieces of
    the one before that fit `overlap`.
    """
    for run in packed(_pieces(texts, tokens, size), size, overlap):
        yield from joined_spans(run, tokens, size)


def _pieces(texts: Iterable[str], tokens: TokenCodec, size: int) -> Iterator[BorderedPiece]:
    """Yield the pieces of all paragraphs; a heading is glued to what follows it."""
    outline = Outline()
    start = 0
    weight = _PARAGRAPH
    for paragraph in paragraphs(outline.read(texts)):
        end = start + len(paragraph)
        headings = list(outline.entered(end))
        if not headings or headings[0][0] > start:
            headings.insert(0, (start, 0))
        ends = [offset for offset, _ in headings[1:]] + [end]
        for (offset, depth), part_end in zip(headings, ends, strict=True):
            text = paragraph[offset - start : part_end - start]
            section = Piece.of(text, offset, tokens)
            weight = float(depth) if depth and weight != GLUED else weight
            for piece in split_piece(section, tokens, size):
                yield BorderedPiece(piece, weight, ends=0 < weight < _PARAGRAPH)
                weight = _INSIDE_PARAGRAPH
            weight = GLUED if depth and _is_heading_alone(text) else _PARAGRAPH
        start = end


def _is_heading_alone(text: str) -> bool:
    """Return whether a text that begins with a heading has nothing else."""
    lines = text.strip().split("\n")
    return len(lines) == 1 or (len(lines) == 2 and not lines[0].startswith("#"))
