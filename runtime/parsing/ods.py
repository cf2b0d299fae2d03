"""OpenDocument spreadsheets to Markdown: each sheet under its name, its rows as tables. It runs in
the sandbox only.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.odf import OdfDocument, opened
from runtime.parsing.odf_story import SHAPES, repetitions
from runtime.parsing.office_parts import attribute, descendants, local
from runtime.parsing.omissions import (
    DELETION,
    FORMULA,
    HIDDEN_COLUMN,
    HIDDEN_ROW,
    HIDDEN_SHEET,
    MAX_SHEETS,
    Omissions,
)
from runtime.parsing.package import DAMAGE, damaged
from runtime.parsing.tables import MAX_CELLS, MAX_ROWS, Row, blocks, cell

WHAT = "an OpenDocument spreadsheet"
_VALUES = ("string-value", "date-value", "time-value", "boolean-value", "value")
_NOT_SHOWN = ("collapse", "filter")


class _Merged(NamedTuple):
    """What a cell that is merged over rows says, and in how many rows below it stands still."""

    words: str
    rows_left: int


def text(data: bytes) -> Content:
    """Return the sheets with what their cells show, comments and shapes. What is hidden is read and
    said.

    Raises InvalidInput for a damaged or protected file, a zip bomb, too many sheets, rows or cells,
    and no text.
    """
    omissions = Omissions()
    try:
        document = opened(data, "spreadsheet", WHAT, omissions)
        sheets = [table for table in document.body if local(table) == "table"]
        if len(sheets) > MAX_SHEETS:
            raise InvalidInput(f"has {len(sheets)} sheets, at most {MAX_SHEETS} are read: split it")
        for tracked_changes in descendants(document.body, "tracked-changes"):
            omissions.add(DELETION, sum(1 for _ in descendants(tracked_changes, "deletion")))
        return joined(
            (block for sheet in sheets for block in _Sheet(sheet, document, omissions).blocks()),
            omissions,
        )
    except DAMAGE:
        raise damaged(WHAT) from None


class _Sheet:
    """Reads one sheet."""

    def __init__(self, sheet: Element, document: OdfDocument, omissions: Omissions) -> None:
        self._sheet = sheet
        self._document = document
        self._omissions = omissions
        self._merged: dict[int, _Merged] = {}
        self._drawings: list[str] = []

    def blocks(self) -> Iterator[str]:
        """Yield the rows in blocks, and the texts of the shapes and charts that lie on the
        sheet.
        """
        is_hidden = attribute(self._sheet, "style-name") in self._document.hidden_style_names
        self._omissions.add(HIDDEN_SHEET, int(is_hidden))
        for column in descendants(self._sheet, "table-column"):
            if attribute(column, "visibility") in _NOT_SHOWN:
                self._omissions.add(HIDDEN_COLUMN, repetitions(column, "number-columns-repeated"))
        name = " ".join(attribute(self._sheet, "name").split())
        yield from blocks(self._rows(), f"## {name}{' (hidden)' if is_hidden else ''}")
        for shapes in self._sheet:
            if local(shapes) == "shapes":
                yield from self._document.story.blocks(shapes)
        yield from self._drawings

    def _rows(self) -> Iterator[Row]:
        place = 0
        for element in descendants(self._sheet, "table-row"):
            repetition_count = repetitions(element, "number-rows-repeated")
            is_hidden = attribute(element, "visibility") in _NOT_SHOWN
            cells = self._cells(element)
            # Programs fill a sheet to its end with one empty row that is repeated.
            shown_count = min(repetition_count, MAX_ROWS + 1) if any(cells) else 0
            self._omissions.add(HIDDEN_ROW, shown_count * is_hidden)
            for row in range(place + 1, place + shown_count + 1):
                yield row, list(cells)
            place += repetition_count

    def _cells(self, row: Element) -> list[str]:
        cells: list[str] = []
        elements = [
            cell_element
            for cell_element in row
            if local(cell_element) in ("table-cell", "covered-table-cell")
        ]
        for cell_element in elements:
            words = self._words(cell_element)
            repetition_count = repetitions(cell_element, "number-columns-repeated")
            if len(cells) + repetition_count > MAX_CELLS:
                if not words:
                    break
                raise InvalidInput(f"a table has more than {MAX_CELLS:,} cells: split it")
            column = len(cells)
            cells += [words] * repetition_count
            if local(cell_element) == "covered-table-cell":
                self._fill(cells, column)
            elif (rows := repetitions(cell_element, "number-rows-spanned")) > 1:
                self._merged[column] = _Merged(words, rows - 1)
        return cells

    def _fill(self, cells: list[str], start: int) -> None:
        """Put what is merged over rows into each of them."""
        for column in range(start, len(cells)):
            merged_cell = self._merged.get(column)
            if merged_cell and merged_cell.rows_left:
                cells[column] = cells[column] or merged_cell.words
                self._merged[column] = merged_cell._replace(rows_left=merged_cell.rows_left - 1)

    def _words(self, element: Element) -> str:
        """Return what a cell shows; without that its value, without a value its formula."""
        texts = Element("cell")
        notes: list[str] = []
        for child in element:
            if local(child) == "annotation":
                notes.append(f"[{self._document.story.comment(child)}]")
            elif local(child) in SHAPES:
                frame = Element("frames")
                frame.append(child)
                self._drawings += self._document.story.blocks(frame)
            else:
                texts.append(child)
        words = self._document.story.on_one_line(texts)
        words = words or next(filter(None, (attribute(element, name) for name in _VALUES)), "")
        if not words and (formula := attribute(element, "formula")):
            self._omissions.add(FORMULA)
            words = f"={formula.partition('=')[2] or formula}"
        return cell(" ".join([words, *notes]).strip())
