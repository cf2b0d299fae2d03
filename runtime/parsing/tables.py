"""Tables as Markdown. A long one is cut into blocks, each with the header, so that a passage of it
explains itself; the chunker does it with tables that came as Markdown.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from runtime.errors import InvalidInput
from runtime.text.table_headers import BLOCK, LOOKED_AT, is_number, named_columns, table_line

MAX_ROWS = 200_000
MAX_CELLS = 1_000_000
"""Of one table; empty ones do not count."""

Row = tuple[int, list[str]]
"""The number of a row, as its program shows it, and its cells."""


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return one table, its first row being the header. An empty one gives an empty text."""
    if not rows:
        return ""
    width = max(map(len, rows))
    head, *body = (list(row) + [""] * (width - len(row)) for row in rows)
    return "\n".join(table_line(row) for row in (head, ["---"] * width, *body))


def with_headers(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the tables that the table of a text becomes, its first row being the header, or its
    first two: a long one is cut into blocks that each have it.
    """
    head, body = named_columns(rows)
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


def blocks(rows: Iterable[Row], heading: str = "") -> Iterator[str]:
    """A long table in blocks: headings, the lines above the table, and tables that all have the
    header.

    `heading` ("## Staff") stands above the first block; the later ones say which rows they have.
    The header is the first row with more than one cell, unless it is mostly numbers: then columns
    have the letters of a spreadsheet. Raises InvalidInput for a table with too many rows or cells.
    """
    filled_rows = _bounded(rows)
    start = list(islice(filled_rows, LOOKED_AT))
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
        header, body = named_columns([cells for _, cells in start])
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


def _is_data(cells: Sequence[str]) -> bool:
    """Return whether a first row is no header: most of it is numbers. Years do head columns."""
    return 2 * sum(map(is_number, cells)) > _count(cells)


def _letters(rows: Sequence[Row]) -> list[str]:
    """Return A, B, … Z, AA, …: as many as the widest of these rows has cells."""
    return [_letter(number) for number in range(max(len(cells) for _, cells in rows))]


def _letter(number: int) -> str:
    return ("" if number < 26 else _letter(number // 26 - 1)) + chr(ord("A") + number % 26)
