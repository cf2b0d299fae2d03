"""Pieces of a text that are not cut any further, which spans are joined of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from services.chunker.domain.spans import Span, TokenCodec, strip_span


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text; `start` counts characters of the text."""

    start: int
    text: str
    tokens: int

    @classmethod
    def of(cls, text: str, start: int, tokens: TokenCodec) -> Self:
        """Return the piece with its tokens counted."""
        return cls(start, text, len(tokens.encode(text)))


def joined_spans(run: Sequence[Piece], tokens: TokenCodec, size: int) -> Iterator[Span]:
    """Yield the pieces as one span; or as several if, joined, they have more than `size` tokens."""
    text = "".join(piece.text for piece in run)
    count = len(tokens.encode(text))
    if count > size and len(run) > 1:
        middle = len(run) // 2
        yield from joined_spans(run[:middle], tokens, size)
        yield from joined_spans(run[middle:], tokens, size)
    elif span := strip_span(text, run[0].start, run[0].start + len(text), count):
        yield span


def last_pieces(run: list[Piece], max_tokens: int) -> list[Piece]:
    """Return the last pieces that together have at most `max_tokens` tokens."""
    begin = len(run)
    while begin > 0 and run[begin - 1].tokens <= max_tokens:
        begin -= 1
        max_tokens -= run[begin].tokens
    return run[begin:]
