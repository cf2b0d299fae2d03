"""Tables as Markdown. A long one is cut into blocks, each with the header, so that a passage of it
explains itself.

Measured with the chunker's windows on sheets of 3, 7 and 20 columns and on one of long texts: with
blocks of 500 characters 0 to 5 % of the rows stand in no passage with a header before them, for 14
to 66 % more tokens than one long table, which leaves 83 to 91 % of its rows alone. "Column: value"
lines cost 16 to 132 % more, and MiniLM found rows in them no better.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from runtime.errors import InvalidInput

MAX_ROWS = 200_000
MAX_CELLS = 1_000_000
"""Of one table; empty ones do not count."""

BLOCK = 500
"""Characters of rows after which the header is repeated."""

_LOOKED_AT = 20
"""Rows at the beginning among which the header is looked for."""

_NUMBER = re.compile(r"[-+]?[\d.,\s']*\d[\d.,\s']*(?:%|[eE][-+]?\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BORDER = re.compile(r"(?<!\\)\|")
_INDENTED = re.compile(r" {4}|\t| {0,3}>")
_RULE = frozenset(" \t|:-")
"""Of Markdown: fences of code, borders of cells, code and quotations, and the characters of the
line below a header.
"""

Row = tuple[int, list[str]]
"""The number of a row, as its program shows it, and its cells."""


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return one table, its first row being the header. An empty one gives an empty text."""
    if not rows:
        return ""
    width = max(map(len, rows))
    head, *body = (list(row) + [""] * (width - len(row)) for row in rows)
    return "\n".join(_line(row) for row in (head, ["---"] * width, *body))


def with_headers(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the tables that the table of a text becomes, its first row being the header, or its
    first two: a long one is cut into blocks that each have it.
    """
    head, body = _named_columns(rows)
    table: list[Sequence[str]] = []
    size = 0
    # A long header at most doubles the text.
    limit = max(BLOCK, sum(map(len, head)))
    for row in body:
        if size >= limit:
            yield markdown([head, *table])
            table = []
            size = 0
        table.append(row)
        size += sum(len(words) + 3 for words in row)
    yield markdown([head, *table])


def with_repeated_headers(text: str) -> str:
    """Return a text in Markdown with the header of a long table at the beginning of each of its
    blocks. What stands in a fence of code stays.
    """
    lines = text.split("\n")
    parts: list[str] = []
    fence = ""
    at = 0
    while at < len(lines):
        if match := _FENCE.match(lines[at]):
            fence = "" if fence and match[1].startswith(fence) else fence or match[1]
        end = at if fence else _end_of_table(lines, at)
        if sum(map(len, lines[at + 2 : end])) > BLOCK:
            rows = [_cells(line) for line in (lines[at], *lines[at + 2 : end])]
            parts.append("\n\n".join(with_headers(rows)))
        else:
            end = max(end, at + 1)
            parts += lines[at:end]
        at = end
    return "\n".join(parts)


def _end_of_table(lines: Sequence[str], start: int) -> int:
    """Return the line behind the table that begins at this one; `start` where none does."""
    rule = lines[start + 1] if start + 1 < len(lines) else ""
    if "|" not in lines[start] or "-" not in rule or not _RULE.issuperset(rule):
        return start
    if _INDENTED.match(lines[start]) or len(_cells(lines[start])) != len(_cells(rule)):
        return start
    end = start + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _cells(line: str) -> list[str]:
    """Return the cells of a row in Markdown, as they stand there."""
    cells = _BORDER.split(line.strip())
    return [words.strip() for words in cells[not cells[0] : len(cells) - (not cells[-1])]]


def blocks(rows: Iterable[Row], heading: str = "") -> Iterator[str]:
    """A long table in blocks: headings, the lines above the table, and tables that all have the
    header.

    `heading` ("## Staff") stands above the first block; the later ones say which rows they have.
    The header is the first row with more than one cell, unless it is mostly numbers: then columns
    have the letters of a spreadsheet. Raises InvalidInput for a table with too many rows or cells.
    """
    filled_rows = _bounded(rows)
    start = list(islice(filled_rows, _LOOKED_AT))
    if not start:
        return
    wide = next((place for place, (_, cells) in enumerate(start) if _count(cells) > 1), 0)
    above = start[:wide]
    start = start[wide:]
    yield heading
    yield "\n\n".join(" ".join(cell for cell in cells if cell) for _, cells in above)
    if _is_data(start[0][1]):
        header: Sequence[str] = _letters(start)
    else:
        header, body = _named_columns([cells for _, cells in start])
        start = start[len(start) - len(body) :]
    table = list[Row]()
    size = 0
    first = True
    for row in chain(start, filled_rows):
        table.append(row)
        size += sum(len(cell) + 3 for cell in row[1])
        if size >= BLOCK:
            yield from _block(header, table, "" if first else heading, first=first)
            table = []
            size = 0
            first = False
    if table or first:
        yield from _block(header, table, "" if first else heading, first=first)


def cell(words: str) -> str:
    """Return the words of a cell on one line, as Markdown wants them."""
    return " ".join(words.split()).replace("|", "\\|")


def _block(header: Sequence[str], table: list[Row], heading: str, *, first: bool) -> Iterator[str]:
    if not first:
        rows = f"rows {table[0][0]} to {table[-1][0]}"
        yield f"{heading}, {rows}" if heading else rows.capitalize() + ":"
    yield markdown([header, *(cells for _, cells in table)])


def _bounded(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows that are not empty, without empty cells at their ends."""
    count = cells_seen = 0
    for number, cells in rows:
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        count += 1
        cells_seen += _count(cells)
        if count > MAX_ROWS or cells_seen > MAX_CELLS:
            raise InvalidInput(
                f"a table has more than {MAX_ROWS:,} rows or {MAX_CELLS:,} cells: split it"
            )
        yield number, cells


def _count(cells: Sequence[str]) -> int:
    return sum(map(bool, cells))


def _named_columns(
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
    if not has_gaps or any(_is_number(subnames[at]) for at in columns):
        return names, body
    cells = [_at(row, at) for row in body[1:_LOOKED_AT] for at in columns]
    if 2 * sum(bool(_NUMBER.fullmatch(words)) for words in cells) <= _count(cells):
        return names, body
    joined_names = [
        f"{groups[at]} {words}" if at in columns else words or _at(names, at)
        for at, words in enumerate(subnames)
    ]
    return [*joined_names, *names[len(joined_names) :]], body[1:]


def _spread(names: Sequence[str], width: int) -> list[str]:
    """Return the names of so many columns, each over the gaps that follow it."""
    spread_names: list[str] = []
    for at in range(width):
        spread_names.append(_at(names, at) or (spread_names[-1] if spread_names else ""))
    return spread_names


def _at(cells: Sequence[str], place: int) -> str:
    return cells[place] if place < len(cells) else ""


def _is_data(cells: Sequence[str]) -> bool:
    """Return whether a first row is no header: most of it is numbers. Years do head columns."""
    return 2 * sum(map(_is_number, cells)) > _count(cells)


def _is_number(words: str) -> bool:
    """Return whether a cell is a number and no year, as columns have for a name."""
    return bool(_NUMBER.fullmatch(words) and not _YEAR.fullmatch(words))


def _letters(rows: Sequence[Row]) -> list[str]:
    """Return A, B, … Z, AA, …: as many as the widest of these rows has cells."""
    return [_letter(number) for number in range(max(len(cells) for _, cells in rows))]


def _letter(number: int) -> str:
    return ("" if number < 26 else _letter(number // 26 - 1)) + chr(ord("A") + number % 26)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
