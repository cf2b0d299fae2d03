"""Tables of a PDF page whose cells are ruled, as Markdown in their places. It runs in the sandbox
only.

Without lines a table stays lines of text: where its columns are would be a guess.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pypdfium2

from runtime.parsing.omissions import Omission, Omissions
from runtime.parsing.pdf_columns import page_text
from runtime.parsing.pdf_rules import Grid, grids
from runtime.parsing.tables import cell, with_headers

MAX_SECONDS = 20.0
"""Of a processor for the tables of a file; those of the other pages stay lines of text."""

UNREAD = Omission(
    "1 page was not searched for tables: those of the file take too long",
    "{} pages were not searched for tables: those of the file take too long",
)

_INSET = 1.5
"""Points at the edge of a cell in which its own letters do not stand: pdfium gives every letter
that touches a rectangle.
"""

_LEAST_FILLED = 0.4
"""Share of the cells of a table that have a text: lines of a chart enclose little."""

_MARGIN = 200
"""Characters of a page beside a table that goes on from the page before: its header and footer."""


class _Table(NamedTuple):
    """A table on a page, its rows from above."""

    grid: Grid
    rows: Sequence[Sequence[str]]


class _Continuation(NamedTuple):
    """The table with which a page ends, which may go on on the next."""

    page: int
    columns: Sequence[float]
    header: Sequence[str]


class PdfTables:
    """Reads the tables of one file, page by page."""

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._end = time.process_time() + MAX_SECONDS
        self._open_table: _Continuation | None = None

    def page_text(self, page: pypdfium2.PdfPage, layer: pypdfium2.PdfTextPage, number: int) -> str:
        """Return the text of the page with its tables; without any as `pdf_columns` gives it."""
        width = page.get_width()
        if page.get_rotation():
            return page_text(layer, width)
        if time.process_time() > self._end:
            self._omissions.add(UNREAD)
            return page_text(layer, width)
        tables = list(_tables(page, layer))
        if not tables:
            return page_text(layer, width)
        parts: list[str] = []
        top = page.get_height()
        for table in tables:
            parts.append(page_text(layer, width, (table.grid.top, top)).strip())
            header = self._header_before(table, number) if len("".join(parts)) < _MARGIN else None
            rows = table.rows if header in (None, table.rows[0]) else [header, *table.rows]
            self._open_table = _Continuation(number, table.grid.columns, rows[0])
            parts += with_headers(rows)
            top = table.grid.bottom
        remainder = page_text(layer, width, (0, top)).strip()
        if len(remainder) > _MARGIN:
            self._open_table = None
        return "\n\n".join(filter(None, [*parts, remainder]))

    def _header_before(self, table: _Table, number: int) -> Sequence[str] | None:
        """Return the header of the table that this one continues from the page before."""
        open_table = self._open_table
        if open_table is None or open_table.page != number - 1:
            return None
        columns = table.grid.columns
        is_same = len(columns) == len(open_table.columns) and all(
            abs(place - other_place) < 3
            for place, other_place in zip(columns, open_table.columns, strict=True)
        )
        return open_table.header if is_same else None


def _tables(page: pypdfium2.PdfPage, layer: pypdfium2.PdfTextPage) -> Iterator[_Table]:
    """Yield the tables of a page from above, those alone that have no text beside them."""
    bottom_before = page.get_height()
    for grid in grids(page):
        if grid.top > bottom_before or _has_neighbours(layer, grid):
            continue
        rows = [row for row in _rows(layer, grid) if any(row)]
        if _is_table(rows):
            bottom_before = grid.bottom
            yield _Table(grid, rows)


def _has_neighbours(layer: pypdfium2.PdfTextPage, grid: Grid) -> bool:
    texts_beside = [
        layer.get_text_bounded(right=grid.left_edge - 1, bottom=grid.bottom, top=grid.top),
        layer.get_text_bounded(left=grid.right_edge + 1, bottom=grid.bottom, top=grid.top),
    ]
    return any(text.strip() for text in texts_beside)


def _rows(layer: pypdfium2.PdfTextPage, grid: Grid) -> Iterator[list[str]]:
    """Yield the texts of the cells, row by row. One that goes over several rows stands in each of
    them, one over several columns in the first.
    """
    texts: dict[tuple[float, float, float, float], str] = {}
    for row in range(grid.row_count):
        cells: list[str] = []
        for column in range(grid.column_count):
            place = grid.cell(row, column)
            if place.box not in texts:
                left_edge, bottom, right_edge, top = place.box
                words = layer.get_text_bounded(
                    left=left_edge + _INSET,
                    bottom=bottom + _INSET,
                    right=right_edge - _INSET,
                    top=top - _INSET,
                )
                texts[place.box] = cell(words)
            cells.append(texts[place.box] if place.first_column == column else "")
        yield cells


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether these are rows of a table, and no frames of a drawing."""
    counts = [sum(map(bool, row)) for row in rows]
    cells = sum(len(row) for row in rows)
    rows_of_several = sum(count > 1 for count in counts)
    return (
        rows_of_several >= 2
        and 2 * rows_of_several >= len(rows)
        and sum(counts) >= _LEAST_FILLED * cells
    )
