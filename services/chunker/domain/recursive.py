"""Cutting where a reader would: at paragraphs, else lines, sentences, clauses, words; small pieces are put together.

The cascade of separators is that of the recursive splitters LightRAG uses, with the marks of Chinese and of Western
writing side by side. A separator stays with the piece before it, blanks between words with the one behind them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runtime.text.sentences import FULL_STOPS
from runtime.text.token_boundaries import LONGEST
from services.chunker.domain.passages import Passage, TokenCodec, strip_passage

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+")
_LOWER = (
    re.compile(r"\n"),
    re.compile(rf"(?<![{FULL_STOPS}…])[{FULL_STOPS}…]++[”’」』）】》]*+|(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s)"),
    re.compile(r"[，；：、]|[,;:](?=\s)"),
    re.compile(r"(?<=\S)(?=\s)"),
)
"""A text is cut behind each match. Possessive and never tried again inside a run of marks: linear for any text."""


@dataclass(frozen=True, slots=True)
class _Atom:
    """A piece that is not cut any further."""

    start: int
    text: str
    tokens: int


def split_recursively(texts: Iterable[str], tokens: TokenCodec, size: int, overlap: int) -> Iterator[Passage]:
    """Passages of at most `size` tokens; each repeats the last whole pieces of the one before that fit `overlap`.

    Only a single character of more than `size` tokens makes a longer one.
    """
    run: list[_Atom] = []
    total = 0
    for atom in _atoms(texts, tokens, size):
        if run and total + atom.tokens > size:
            yield from _passages(run, tokens, size)
            run = _tail(run, min(overlap, size - atom.tokens))
            total = sum(kept.tokens for kept in run)
        run.append(atom)
        total += atom.tokens
    if run:
        yield from _passages(run, tokens, size)


def _tail(run: list[_Atom], room: int) -> list[_Atom]:
    """The last pieces that together fit the room."""
    begin = len(run)
    while begin > 0 and run[begin - 1].tokens <= room:
        begin -= 1
        room -= run[begin].tokens
    return run[begin:]


def _passages(run: list[_Atom], tokens: TokenCodec, size: int) -> Iterator[Passage]:
    """The pieces as one passage; as two where, rarely, together they have more tokens than each for itself."""
    text = "".join(atom.text for atom in run)
    count = len(tokens.encode(text))
    if count > size and len(run) > 1:
        middle = len(run) // 2
        yield from _passages(run[:middle], tokens, size)
        yield from _passages(run[middle:], tokens, size)
    elif found := strip_passage(text, run[0].start, run[0].start + len(text), count):
        yield found


def _atoms(texts: Iterable[str], tokens: TokenCodec, size: int) -> Iterator[_Atom]:
    start = 0
    for paragraph in _paragraphs(texts):
        yield from _smaller(_Atom(start, paragraph, len(tokens.encode(paragraph))), 0, tokens, size)
        start += len(paragraph)


def _smaller(atom: _Atom, level: int, tokens: TokenCodec, size: int) -> Iterator[_Atom]:
    """The piece, or what it is made of, down to the level at which everything fits."""
    if atom.tokens <= size:
        yield atom
        return
    if level == len(_LOWER):
        yield from _torn(atom, tokens, size)
        return
    start = atom.start
    for text in _cut(atom.text, _LOWER[level]):
        count = atom.tokens if len(text) == len(atom.text) else len(tokens.encode(text))
        yield from _smaller(_Atom(start, text, count), level + 1, tokens, size)
        start += len(text)


def _torn(atom: _Atom, tokens: TokenCodec, size: int) -> Iterator[_Atom]:
    """A word without an end, between characters, in pieces as long as they may be."""
    place = 0
    while place < len(atom.text):
        text = atom.text[place : place + 8 * size]
        count = room = len(tokens.encode(text))
        while count > size and len(text) > 1:
            room = min(size, room - 1)
            text = tokens.decode_bytes(tokens.encode(text)[:room]).decode("utf-8", "ignore") or text[:1]
            count = len(tokens.encode(text))
        yield _Atom(atom.start + place, text, count)
        place += len(text)


def _cut(text: str, separator: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for found in separator.finditer(text):
        if start < found.end():
            yield text[start : found.end()]
            start = found.end()
    if start < len(text):
        yield text[start:]


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    """The texts joined, in paragraphs; a very long one in parts, cut at the greatest separator it has."""
    waiting = ""
    for text in texts:
        waiting += text
        start = 0
        for found in _PARAGRAPH.finditer(waiting):
            # A separator at the very end may go on in the next text.
            if found.end() < len(waiting):
                yield from _bounded(waiting[start : found.end()])
                start = found.end()
        *whole, waiting = _bounded(waiting[start:]) or [""]
        yield from whole
    if waiting:
        yield waiting


def _bounded(paragraph: str) -> list[str]:
    """The paragraph in parts of at most the length that is tokenised at once."""
    parts: list[str] = []
    while len(paragraph) > LONGEST:
        head = paragraph[:LONGEST]
        ends = (max((found.end() for found in level.finditer(head)), default=0) for level in _LOWER)
        end = next(filter(None, ends), LONGEST)
        parts.append(paragraph[:end])
        paragraph = paragraph[end:]
    return [*parts, paragraph] if paragraph else parts
