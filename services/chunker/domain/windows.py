"""Windows of tokens that overlap, over a whole text or over each piece between two separators. LightRAG's sizes."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

from runtime.errors import Poison
from runtime.text.token_boundaries import LONGEST, pieces
from services.chunker.domain.passages import Passage, TokenCodec, strip_passage

Rule = Literal["windows", "whole", "whole-only"]
"""What becomes of a text that fits into one window: `windows`, a second one may repeat its end; `whole`, one passage.
`whole-only` refuses a text that does not fit.
"""

_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes that go on with a character of UTF-8. Every other byte begins one."""


def split_by_tokens(
    texts: Iterable[str], tokens: TokenCodec, size: int, overlap: int, rule: Rule = "windows", start: int = 0
) -> Generator[Passage, None, int]:
    """Windows of `size` tokens, each beginning `overlap` tokens before the last one ends; blank ones are left out.

    The last window may lie wholly inside the overlap. `start` is the place of the first character; the place behind
    the last one is returned. Raises Poison where the rule refuses the text.
    """
    waiting: list[int] = []
    at, cut = start, False
    for piece in pieces(texts):
        waiting += tokens.encode(piece)
        begin = 0
        while len(waiting) - begin > size:
            if rule == "whole-only":
                raise Poison(f"the piece that begins at character {start:,} has more than {size:,} tokens")
            yield from _window(waiting[begin : begin + size], tokens, at)
            at += _count_characters(tokens.decode_bytes(waiting[begin : begin + size - overlap]))
            begin, cut = begin + size - overlap, True
        del waiting[:begin]
    stride = size - overlap if rule == "windows" or cut else size
    for begin in range(0, len(waiting), stride):
        yield from _window(waiting[begin : begin + size], tokens, at)
        at += _count_characters(tokens.decode_bytes(waiting[begin : begin + stride]))
    return at


def split_by_character(
    texts: Iterable[str], tokens: TokenCodec, size: int, overlap: int, separator: str, *, only: bool
) -> Iterator[Passage]:
    """The pieces between the separators, never merged; one that is longer than `size` in windows.

    With `only`, such a piece is refused: Poison.
    """
    rule: Rule = "whole-only" if only else "whole"
    items = _split(texts, separator)
    start = 0
    for first in items:
        section = chain([first or ""], iter(items.__next__, None))
        start = (yield from split_by_tokens(section, tokens, size, overlap, rule, start)) + len(separator)


def _split(texts: Iterable[str], separator: str) -> Iterator[str | None]:
    """The texts joined, in pieces, at least one before each separator and behind the last; None for a separator."""
    waiting = ""
    for text in texts:
        *whole, waiting = (waiting + text).split(separator)
        for piece in whole:
            yield piece
            yield None
        if len(waiting) > LONGEST:
            # What could be the beginning of a separator waits for the rest of it.
            sure = len(waiting) - len(separator) + 1
            yield waiting[:sure]
            waiting = waiting[sure:]
    yield waiting


def _window(window: Sequence[int], tokens: TokenCodec, at: int) -> Iterator[Passage]:
    """The passage of a window before which `at` characters begin."""
    data = tokens.decode_bytes(window)
    torn = data[:1] != data[:1].translate(None, _CONTINUATION)
    found = strip_passage(data.decode("utf-8", "replace"), at - torn, at + _count_characters(data), len(window))
    if found:
        yield found


def _count_characters(data: bytes) -> int:
    """How many characters begin in these bytes."""
    return len(data.translate(None, _CONTINUATION))
