"""Spreadsheets to Markdown: each sheet under its name, its rows as tables. It runs in the sandbox
only.
"""

import datetime as dt
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.drawings import chart_text, paragraphs
from runtime.parsing.number_formats import elapsed, shown
from runtime.parsing.office_parts import OfficeParts, local
from runtime.parsing.omissions import (
    FORMULA,
    HIDDEN_COLUMN,
    HIDDEN_ROW,
    HIDDEN_SHEET,
    MACROS,
    MAX_SHEETS,
    PICTURE,
    Omissions,
)
from runtime.parsing.package import DAMAGE, check, damaged
from runtime.parsing.strict_office import transitional
from runtime.parsing.tables import Row, blocks, cell
from runtime.parsing.xlsx_sheet import Place, SheetExtras, comments_of, sheet_extras
from runtime.workarounds.openpyxl import ReadOnlyWorksheet, part_of

WHAT = "a spreadsheet"


def text(data: bytes) -> Content:
    """Return the sheets in their order with what their cells show, their comments and charts. What
    is hidden is read, a hidden sheet called so; the warnings tell.

    Raises InvalidInput for a damaged file, a zip bomb, one with too many sheets, rows or cells, and
    one without text.
    """
    check(data, WHAT)
    data = transitional(data)
    omissions = Omissions()
    try:
        book = openpyxl.load_workbook(
            BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
        sheets = book.worksheets
        if len(sheets) > MAX_SHEETS:
            raise InvalidInput(f"has {len(sheets)} sheets, at most {MAX_SHEETS} are read: split it")
        reader = _Reader(data, omissions)
        return joined((block for sheet in sheets for block in reader.sheet(sheet)), omissions)
    except (InvalidFileException, *DAMAGE):
        raise damaged(WHAT) from None


class _Reader:
    """Reads the sheets of one workbook."""

    def __init__(self, data: bytes, omissions: Omissions) -> None:
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._parts = OfficeParts(data)
        self._omissions = omissions
        if self._parts.has_macros():
            omissions.note(MACROS)

    def sheet(self, sheet: Any) -> Iterator[str]:
        """Yield the blocks of a sheet."""
        path = part_of(sheet)
        extras = sheet_extras(self._archive, path)
        is_hidden = sheet.sheet_state != "visible"
        self._omissions.add(HIDDEN_SHEET, int(is_hidden))
        self._omissions.add(HIDDEN_ROW, extras.hidden_rows)
        self._omissions.add(HIDDEN_COLUMN, extras.hidden_columns)
        self._omissions.add(FORMULA, len(extras.formulas))
        comments: dict[Place, str] = {}
        drawings: list[str] = []
        for relationship in self._parts.relationships(path).values():
            if relationship.kind in ("comments", "threadedComment"):
                comments |= comments_of(self._archive, relationship.path)
            elif relationship.kind == "drawing":
                drawings += self._drawing(relationship.path)
        title = f"## {' '.join(sheet.title.split())}{' (hidden)' if is_hidden else ''}"
        yield from blocks(_rows(sheet, extras, comments), title)
        yield from drawings

    def _drawing(self, path: str) -> Iterator[str]:
        """Yield the texts of shapes and charts that lie on a sheet, and count its pictures."""
        root = self._parts.xml(path)
        self._omissions.add(PICTURE, sum(local(element) == "pic" for element in root.iter()))
        for element in root.iter():
            if local(element) == "txBody":
                yield paragraphs(element)
        for relationship in self._parts.relationships(path).values():
            if relationship.kind == "chart":
                yield "\n\n".join(chart_text(self._parts.xml(relationship.path)))


def _rows(
    sheet: ReadOnlyWorksheet, extras: SheetExtras, comments: dict[Place, str]
) -> Iterator[Row]:
    # The size a file says it has may be wrong, and would cut its rows short.
    sheet.reset_dimensions()
    filled_cells = dict.fromkeys(extras.merged_cells.values(), "")
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells: list[str] = []
        for column, worksheet_cell in enumerate(row, start=1):
            place = (number, column)
            words = (
                _words(worksheet_cell.value, worksheet_cell.number_format)
                if worksheet_cell.value is not None
                else ""
            )
            words = words or cell(extras.formulas.get(place, ""))
            if place in filled_cells:
                filled_cells[place] = words
            words = words or _of_rows_above(place, extras, filled_cells)
            note = comments.get(place)
            cells.append(f"{words} [Comment: {cell(note)}]".strip() if note else words)
        yield number, cells


def _of_rows_above(place: Place, extras: SheetExtras, filled_cells: dict[Place, str]) -> str:
    """Return what a range that is merged over several rows says, once for each of them."""
    origin = extras.merged_cells.get(place)
    return filled_cells[origin] if origin and origin[1] == place[1] else ""


def _words(value: Any, number_format: str) -> str:
    """Return a value about as its program shows it: dates without a midnight, numbers in their
    format.
    """
    if isinstance(value, str):
        return cell(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
    if isinstance(value, dt.timedelta):
        return elapsed(value, number_format)
    if isinstance(value, int | float):
        return cell(shown(value, number_format))
    return str(value)
