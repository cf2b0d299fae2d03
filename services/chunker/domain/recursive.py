"""Cuts at paragraphs, else at lines, sentences, clauses, words, and joins small pieces up to the
size.

The cascade of separators is that of the recursive splitters LightRAG uses, with the marks of
Chinese and of Western writing side by side. A separator stays with the piece before it, blanks
between words with the one behind them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from offline.language.sentences import FULL_STOPS
from runtime.text.token_boundaries import LONGEST
from services.chunker.domain.spans import Span, TokenCodec, strip_span

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


@dataclass(frozen=True, slots=True)
class _Atom:
    """A piece that is not cut any further."""

    start: int
    text: str
    tokens: int


def split_recursively(
    texts: Iterable[str], tokens: TokenCodec, size: int, overlap: int
) -> Iterator[Span]:
    """Yield spans of at most `size` tokens; each repeats the last whole pieces of the one before
    that fit `overlap`.

    Only a single character of more than `size` tokens makes a longer span.
    """
    run: list[_Atom] = []
    total = 0
    for atom in _atoms(texts, tokens, size):
        if run and total + atom.tokens > size:
            yield from _spans(run, tokens, size)
            run = _tail(run, min(overlap, size - atom.tokens))
            total = sum(piece.tokens for piece in run)
        run.append(atom)
        total += atom.tokens
    if run:
        yield from _spans(run, tokens, size)


def _tail(run: list[_Atom], max_tokens: int) -> list[_Atom]:
    """Return the last pieces that together have at most `max_tokens` tokens."""
    begin = len(run)
    while begin > 0 and run[begin - 1].tokens <= max_tokens:
        begin -= 1
        max_tokens -= run[begin].tokens
    return run[begin:]


def _spans(run: list[_Atom], tokens: TokenCodec, size: int) -> Iterator[Span]:
    """Yield the pieces as one span; or as several if, joined, they have more than `size` tokens."""
    text = "".join(atom.text for atom in run)
    count = len(tokens.encode(text))
    if count > size and len(run) > 1:
        middle = len(run) // 2
        yield from _spans(run[:middle], tokens, size)
        yield from _spans(run[middle:], tokens, size)
    elif span := strip_span(text, run[0].start, run[0].start + len(text), count):
        yield span


def _atoms(texts: Iterable[str], tokens: TokenCodec, size: int) -> Iterator[_Atom]:
    start = 0
    for paragraph in _paragraphs(texts):
        yield from _split_atom(
            _Atom(start, paragraph, len(tokens.encode(paragraph))), 0, tokens, size
        )
        start += len(paragraph)


def _split_atom(atom: _Atom, level: int, tokens: TokenCodec, size: int) -> Iterator[_Atom]:
    """Yield the piece, cut at separators from this level on until every part has at most `size`
    tokens.
    """
    if atom.tokens <= size:
        yield atom
        return
    if level == len(_LOWER):
        yield from _split_word(atom, tokens, size)
        return
    start = atom.start
    for text in _cut(atom.text, _LOWER[level]):
        count = atom.tokens if len(text) == len(atom.text) else len(tokens.encode(text))
        yield from _split_atom(_Atom(start, text, count), level + 1, tokens, size)
        start += len(text)


def _split_word(atom: _Atom, tokens: TokenCodec, size: int) -> Iterator[_Atom]:
    """Yield a word that is too long, cut between characters into pieces of at most `size`
    tokens.
    """
    place = 0
    while place < len(atom.text):
        text = atom.text[place : place + 8 * size]
        count = limit = len(tokens.encode(text))
        while count > size and len(text) > 1:
            limit = min(size, limit - 1)
            text = (
                tokens.decode_bytes(tokens.encode(text)[:limit]).decode("utf-8", "ignore")
                or text[:1]
            )
            count = len(tokens.encode(text))
        yield _Atom(atom.start + place, text, count)
        place += len(text)


def _cut(text: str, separator: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for match in separator.finditer(text):
        if start < match.end():
            yield text[start : match.end()]
            start = match.end()
    if start < len(text):
        yield text[start:]


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
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
        *paragraphs, buffer = _split_long(buffer[start:]) or [""]
        yield from paragraphs
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
