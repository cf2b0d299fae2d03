"""Repeats the header of a long table of a Markdown text, so that a passage of it explains itself.

Measured with the chunker's windows on sheets of 3, 7 and 20 columns and on one of long texts: with
blocks of 500 characters 0 to 5 % of the rows stand in no passage with a header before them, for 14
to 66 % more tokens than one long table, which leaves 83 to 91 % of its rows alone. "Column: value"
lines cost 16 to 132 % more, and MiniLM found rows in them no better.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

BLOCK = 500
"""Characters of rows after which the header is repeated."""

LOOKED_AT = 20
"""Rows at the beginning among which the header is looked for."""

MOST_GROWTH = 2
"""How many times more bytes a text may have with its headers repeated."""

LONGEST_LINE = 100_000
"""Characters of a line that may be a row; a longer one ends a table."""

_NUMBER = re.compile(r"[-+]?[\d.,\s']*\d[\d.,\s']*(?:%|[eE][-+]?\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BORDER = re.compile(r"(?<!\\)\|")
_INDENTED = re.compile(r" {4}|\t| {0,3}>")
_RULE = frozenset(" \t|:-")
"""Of Markdown: fences of code, borders of cells, code and quotations, and the characters of the
line below a header.
"""

_END: tuple[None, list[int]] = (None, [])


class _Edit(NamedTuple):
    """Characters of the result, and how many of the text they stand for."""

    text: str
    source_length: int


def with_repeated_headers(
    texts: Iterable[tuple[str, list[int]]],
) -> Iterator[tuple[str, list[int]]]:
    """Yield the text, which comes in pieces, with the header of each long table at the beginning of
    each of its blocks. What stands in a fence of code stays. At most one block is held.

    With the pieces come ascending places in the text; they leave as places in the result, with the
    piece that they lie in.
    """
    tables = _Tables()
    pending_places: deque[int] = deque()
    source_place = result_place = 0
    for text, places in chain(texts, (_END,)):
        pending_places += places
        pieces: list[str] = []
        here: list[int] = []
        for edit in tables.rest() if text is None else tables.read(text):
            while pending_places and pending_places[0] < source_place + edit.source_length:
                inside = min(pending_places.popleft() - source_place, len(edit.text))
                here.append(result_place + inside)
            pieces.append(edit.text)
            source_place += edit.source_length
            result_place += len(edit.text)
        if text is None:
            here += (result_place for _ in pending_places)
        yield "".join(pieces), here


class _Tables:
    """The tables of a text, which is read piece by piece."""

    def __init__(self) -> None:
        self._buffer = ""
        self._is_inside_line = False
        self._fence = ""
        self._above: str | None = None
        """The line before, which heads a table if the next one is a rule."""
        self._table: _Table | None = None

    def read(self, text: str) -> Iterator[_Edit]:
        *lines, last_line = text.split("\n")
        for line in lines:
            yield from self._line(f"{self._buffer}{line}\n")
            self._buffer = ""
        self._buffer += last_line
        if len(self._buffer) > LONGEST_LINE:
            yield from self._leave()
            yield _kept(self._buffer)
            self._buffer = ""
            self._is_inside_line = True

    def rest(self) -> Iterator[_Edit]:
        if self._buffer:
            yield from self._line(self._buffer)
        yield from self._leave()

    def _line(self, line: str) -> Iterator[_Edit]:
        if self._is_inside_line:
            self._is_inside_line = False
            yield _kept(line)
        elif len(line) > LONGEST_LINE:
            yield from self._leave()
            yield _kept(line)
        elif self._table and "|" in line:
            yield from self._table.add(line)
        elif self._above is not None and _is_rule(line, self._above):
            self._table = _Table(self._above, line)
            self._above = None
        else:
            yield from self._leave()
            yield from self._outside(line)

    def _outside(self, line: str) -> Iterator[_Edit]:
        if match := _FENCE.match(line):
            is_end = self._fence and match[1].startswith(self._fence)
            self._fence = "" if is_end else self._fence or match[1]
        if "|" in line and not self._fence and not _INDENTED.match(line):
            self._above = line
        else:
            yield _kept(line)

    def _leave(self) -> Iterator[_Edit]:
        """Yield what is held: no row follows."""
        if self._table:
            yield from self._table.held()
            self._table = None
        if self._above is not None:
            yield _kept(self._above)
            self._above = None


class _Table:
    """One table. The lines of its first block are held: only a table that has more is changed."""

    def __init__(self, names: str, rule: str) -> None:
        self._lines = [names, rule]
        # Then no header is longer than the rows between two of it.
        self._limit = max(BLOCK, len(f"{names}{rule}".encode()))
        self._header = ""
        """What is repeated; empty while the first block is held."""
        self._size = 0

    def add(self, line: str) -> Iterator[_Edit]:
        if self._size >= self._limit:
            if not self._header:
                yield from self._first_block()
            yield _Edit(f"\n{self._header}", 0)
            self._size = 0
        self._size += _size(cells(line))
        if self._header:
            yield _row(line)
        else:
            self._lines.append(line)

    def held(self) -> Iterator[_Edit]:
        """Yield the lines that are held, as they are."""
        yield from map(_kept, self._lines)
        self._lines = []

    def _first_block(self) -> Iterator[_Edit]:
        """Yield the first block, and take its header."""
        names, _, *rows = self._lines
        joined_names, body = named_columns([cells(line) for line in (names, *rows)])
        self._header = f"{table_line(joined_names)}\n{table_line(['---'] * len(joined_names))}\n"
        lines_below = rows[len(rows) - len(body) :]
        yield _Edit(self._header, sum(map(len, self._lines)) - sum(map(len, lines_below)))
        yield from map(_row, lines_below)
        self._lines = []


def _size(row: list[str]) -> int:
    """Return the size of a row, as that of a table which a file has, without empty cells at its
    end.
    """
    while row and not row[-1]:
        row.pop()
    return sum(len(words) + 3 for words in row)


def _row(line: str) -> _Edit:
    """Return a row without what some fill its cells up with."""
    end = "\n" if line.endswith("\n") else ""
    return _Edit(table_line(cells(line)) + end, len(line))


def _kept(text: str) -> _Edit:
    return _Edit(text, len(text))


def _is_rule(line: str, names: str) -> bool:
    """Return whether a line below the names of columns makes a table of them."""
    rule = line.strip()
    return "-" in rule and _RULE.issuperset(rule) and len(cells(names)) == len(cells(rule))


def cells(line: str) -> list[str]:
    """Return the cells of a row in Markdown, as they stand there."""
    parts = _BORDER.split(line.strip())
    return [words.strip() for words in parts[not parts[0] : len(parts) - (not parts[-1])]]


def table_line(row: Sequence[str]) -> str:
    """Return a row in Markdown."""
    return f"| {' | '.join(row)} |"


def named_columns(
    rows: Sequence[Sequence[str]],
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the names of the columns, and the rows below.

    Two rows name them where the first has names over several columns, as a year over its quarters:
    the second has words in the gaps of the first, and below them are mostly numbers.
    """
    names = rows[0]
    body = rows[1:]
    if len(body) < 2:
        return names, body
    subnames = body[0]
    groups = _spread(names, len(subnames))
    columns = [at for at, words in enumerate(subnames) if words and groups[at] not in ("", words)]
    has_gaps = any(not _at(names, at) for at in columns)
    if not has_gaps or any(is_number(subnames[at]) for at in columns):
        return names, body
    below = [words for row in body[1:LOOKED_AT] for at in columns if (words := _at(row, at))]
    if 2 * sum(bool(_NUMBER.fullmatch(words)) for words in below) <= len(below):
        return names, body
    joined_names = [
        f"{groups[at]} {words}" if at in columns else words or _at(names, at)
        for at, words in enumerate(subnames)
    ]
    return [*joined_names, *names[len(joined_names) :]], body[1:]


def is_number(words: str) -> bool:
    """Return whether a cell is a number and no year, as columns have for a name."""
    return bool(_NUMBER.fullmatch(words) and not _YEAR.fullmatch(words))


def _spread(names: Sequence[str], width: int) -> list[str]:
    """Return the names of so many columns, each over the gaps that follow it."""
    spread_names: list[str] = []
    for at in range(width):
        spread_names.append(_at(names, at) or (spread_names[-1] if spread_names else ""))
    return spread_names


def _at(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""
