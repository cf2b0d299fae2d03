"""Spans of a text, which every chunking strategy returns and chunks are made of, and the tokenizer
it needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class TokenCodec(Protocol):
    """The methods of a tokenizer that chunking needs."""

    def encode(self, text: str) -> list[int]: ...
    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, without the blanks around it. `start` and `end` count characters of the
    text.

    `content` is `text[start:end]`, but for a character that a border of tokens cuts in two: that
    one lies within `start` and `end` of both sides, and U+FFFD stands for it in their contents.
    """

    start: int
    end: int
    content: str
    tokens: int
    """Tokens of the span with the blanks around it."""


def strip_span(text: str, start: int, end: int, tokens: int) -> Span | None:
    """Return the span for a text between two offsets, without the blanks around it; None for blanks
    alone.
    """
    content = text.strip()
    if not content:
        return None
    leading = len(text) - len(text.lstrip())
    trailing = len(text) - len(text.rstrip())
    return Span(start + leading, end - trailing, content, tokens)
