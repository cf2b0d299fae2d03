"""Spreadsheets to Markdown: each sheet under its name, its rows as tables. It runs in the sandbox only."""

import datetime as dt
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.package import DAMAGE, check, damaged
from runtime.parsing.tables import Row, blocks, cell

WHAT = "a spreadsheet"
MAX_SHEETS = 256


def text(data: bytes) -> Content:
    """Return the sheets in their order, with the values of formulas at the last save. A hidden sheet is read, and
    called hidden.

    Raises InvalidInput for a damaged file, a zip bomb, one with too many sheets, rows or cells, and one without text.
    """
    check(data, WHAT)
    try:
        book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
        sheets = book.worksheets
        if len(sheets) > MAX_SHEETS:
            raise InvalidInput(f"has {len(sheets)} sheets, at most {MAX_SHEETS} are read: split it")
        return joined(block for sheet in sheets for block in _sheet(sheet))
    except (InvalidFileException, *DAMAGE):
        raise damaged(WHAT) from None


def _sheet(sheet: Any) -> Iterator[str]:
    hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
    yield from blocks(_rows(sheet), f"## {' '.join(sheet.title.split())}{hidden}")


def _rows(sheet: ReadOnlyWorksheet) -> Iterator[Row]:
    # The size a file says it has may be wrong, and would cut its rows short.
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(), start=1):
        yield number, [_words(each.value, each.number_format) if each.value is not None else "" for each in row]


def _words(value: Any, number_format: str) -> str:
    """Return a value about as its program shows it: dates without a midnight, percentages, at most 15 digits."""
    if isinstance(value, str):
        return cell(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, int | float):
        return f"{value * 100:.15g}%" if "%" in number_format else f"{value:.15g}"
    return str(value)
