"""Cuts at paragraphs, else at lines, sentences, clauses, words, and joins small pieces up to the
size.

The cascade of separators is that of the recursive splitters LightRAG uses, with the marks of
Chinese and of Western writing side by side. A separator stays with the piece before it, blanks
between words with the one behind them.
"""

import re
from collections.abc import Iterable, Iterator

from offline.language.sentences import FULL_STOPS
from runtime.text.token_boundaries import LONGEST
from services.chunker.domain.pieces import Piece, joined_spans, last_pieces
from services.chunker.domain.spans import Span, TokenCodec

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+")
_LOWER = (
    re.compile(r"\n"),
    re.compile(
        rf"(?<![{FULL_STOPS}…])[{FULL_STOPS}…]++[”’」』）】》]*+|(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s)"
    ),
    re.compile(r"[，；：、]|[,;:](?=\s)"),
    re.compile(r"(?<=\S)(?=\s)"),
)
"""A text is cut behind each match. Possessive and never tried again inside a run of marks: linear
for any text.
"""


def split_recursively(
    texts: Iterable[str], tokens: TokenCodec, size: int, overlap: int
) -> Iterator[Span]:
    """Yield spans of at most `size` tokens; each repeats the last whole pieces of the one before
    that fit `overlap`.

    Only a single character of more than `size` tokens makes a longer span.
    """
    run: list[Piece] = []
    total = 0
    for piece in _pieces(texts, tokens, size):
        if run and total + piece.tokens > size:
            yield from joined_spans(run, tokens, size)
            run = last_pieces(run, min(overlap, size - piece.tokens))
            total = sum(tail_piece.tokens for tail_piece in run)
        run.append(piece)
        total += piece.tokens
    if run:
        yield from joined_spans(run, tokens, size)


def _pieces(texts: Iterable[str], tokens: TokenCodec, size: int) -> Iterator[Piece]:
    start = 0
    for paragraph in paragraphs(texts):
        yield from split_piece(Piece.of(paragraph, start, tokens), tokens, size)
        start += len(paragraph)


def split_piece(piece: Piece, tokens: TokenCodec, size: int, level: int = 0) -> Iterator[Piece]:
    """Yield the piece, cut at separators from this level on until every part has at most `size`
    tokens.
    """
    if piece.tokens <= size:
        yield piece
        return
    if level == len(_LOWER):
        yield from _split_word(piece, tokens, size)
        return
    start = piece.start
    for text in _cut(piece.text, _LOWER[level]):
        is_uncut = len(text) == len(piece.text)
        part = piece if is_uncut else Piece.of(text, start, tokens)
        yield from split_piece(part, tokens, size, level + 1)
        start += len(text)


def _split_word(piece: Piece, tokens: TokenCodec, size: int) -> Iterator[Piece]:
    """Yield a word that is too long, cut between characters into pieces of at most `size`
    tokens.
    """
    place = 0
    while place < len(piece.text):
        text = piece.text[place : place + 8 * size]
        count = limit = len(tokens.encode(text))
        while count > size and len(text) > 1:
            limit = min(size, limit - 1)
            text = (
                tokens.decode_bytes(tokens.encode(text)[:limit]).decode("utf-8", "ignore")
                or text[:1]
            )
            count = len(tokens.encode(text))
        yield Piece(piece.start + place, text, count)
        place += len(text)


def _cut(text: str, separator: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for match in separator.finditer(text):
        if start < match.end():
            yield text[start : match.end()]
            start = match.end()
    if start < len(text):
        yield text[start:]


def paragraphs(texts: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of the joined texts; very long ones in parts, cut at the highest
    separator in them.
    """
    buffer = ""
    for text in texts:
        buffer += text
        start = 0
        for match in _PARAGRAPH.finditer(buffer):
            # A separator at the very end may go on in the next text.
            if match.end() < len(buffer):
                yield from _split_long(buffer[start : match.end()])
                start = match.end()
        *complete_parts, buffer = _split_long(buffer[start:]) or [""]
        yield from complete_parts
    if buffer:
        yield buffer


def _split_long(paragraph: str) -> list[str]:
    """Return the paragraph in parts of at most `LONGEST` characters, which the tokenizer reads at
    once.
    """
    parts: list[str] = []
    while len(paragraph) > LONGEST:
        head = paragraph[:LONGEST]
        ends = (max((match.end() for match in level.finditer(head)), default=0) for level in _LOWER)
        end = next(filter(None, ends), LONGEST)
        parts.append(paragraph[:end])
        paragraph = paragraph[end:]
    return [*parts, paragraph] if paragraph else parts
