"""Cuts a text, or each piece between two separators, into overlapping windows of tokens, as
LightRAG does.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

from runtime.errors import Poison
from runtime.text.token_boundaries import LONGEST, pieces
from services.chunker.domain.spans import Span, TokenCodec, strip_span

Rule = Literal["windows", "whole", "whole-only"]
"""How a text that fits into one window is cut: with `windows`, a second window may repeat its end;
with `whole`, not.

`whole-only` also rejects a text that does not fit into one window.
"""

_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes that continue a character in UTF-8; every other byte begins one."""


def split_by_tokens(
    texts: Iterable[str],
    tokens: TokenCodec,
    size: int,
    overlap: int,
    rule: Rule = "windows",
    start: int = 0,
) -> Generator[Span, None, int]:
    """Yield windows of `size` tokens, each beginning `overlap` tokens before the last one ends;
    blank ones are skipped.

    The last window may lie wholly inside the overlap. `start` is the offset of the first character;
    returns the offset behind the last one. Raises Poison if the rule rejects the text.
    """
    buffer: list[int] = []
    offset = start
    has_windows = False
    for piece in pieces(texts):
        buffer += tokens.encode(piece)
        begin = 0
        while len(buffer) - begin > size:
            if rule == "whole-only":
                raise Poison(
                    f"the piece that begins at character {start:,} has more than {size:,} tokens"
                )
            yield from _window(buffer[begin : begin + size], tokens, offset)
            offset += _count_characters(tokens.decode_bytes(buffer[begin : begin + size - overlap]))
            begin = begin + size - overlap
            has_windows = True
        del buffer[:begin]
    stride = size - overlap if rule == "windows" or has_windows else size
    for begin in range(0, len(buffer), stride):
        yield from _window(buffer[begin : begin + size], tokens, offset)
        offset += _count_characters(tokens.decode_bytes(buffer[begin : begin + stride]))
    return offset


def split_by_character(
    texts: Iterable[str],
    tokens: TokenCodec,
    size: int,
    overlap: int,
    separator: str,
    *,
    only_character: bool,
) -> Iterator[Span]:
    """Yield the pieces between separators, never merged; a piece of more than `size` tokens in
    windows.

    Raises Poison for such a piece if `only_character` is set.
    """
    rule: Rule = "whole-only" if only_character else "whole"
    items = _split(texts, separator)
    start = 0
    for first in items:
        section = chain([first or ""], iter(items.__next__, None))
        start = (yield from split_by_tokens(section, tokens, size, overlap, rule, start)) + len(
            separator
        )


def _split(texts: Iterable[str], separator: str) -> Iterator[str | None]:
    """Yield the joined texts in pieces, at least one on either side of each separator; None stands
    for a separator.
    """
    buffer = ""
    for text in texts:
        *complete_pieces, buffer = (buffer + text).split(separator)
        for piece in complete_pieces:
            yield piece
            yield None
        if len(buffer) > LONGEST:
            # The end of the buffer may be the beginning of a separator: it stays.
            safe_end = len(buffer) - len(separator) + 1
            yield buffer[:safe_end]
            buffer = buffer[safe_end:]
    yield buffer


def _window(window: Sequence[int], tokens: TokenCodec, offset: int) -> Iterator[Span]:
    """Yield the span of a window, unless it is blank. `offset` characters begin before it."""
    data = tokens.decode_bytes(window)
    cut_before = data[:1] != data[:1].translate(None, _CONTINUATION)
    span = strip_span(
        data.decode("utf-8", "replace"),
        offset - cut_before,
        offset + _count_characters(data),
        len(window),
    )
    if span:
        yield span


def _count_characters(data: bytes) -> int:
    """Return how many characters begin in these bytes."""
    return len(data.translate(None, _CONTINUATION))
