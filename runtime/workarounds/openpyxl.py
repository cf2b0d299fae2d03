"""openpyxl 3.1.5: a sheet that is read row by row does not say which part of the package it is.

Comments, drawings and what is hidden stand in parts of their own, which are found from the sheet's;
openpyxl reads them only with the whole sheet in memory. Upstream: none found.
May go when `test_a_sheet_read_by_rows_says_its_part_nowhere_else` fails
(`tests/unit/runtime/test_workarounds.py`).
"""

import posixpath

from openpyxl.worksheet._read_only import ReadOnlyWorksheet

__all__ = ["ReadOnlyWorksheet", "part_of"]


def part_of(sheet: ReadOnlyWorksheet) -> str:
    """Return the path of the sheet's part inside the package."""
    path = str(sheet._worksheet_path)  # pyright: ignore
    return posixpath.normpath(path.lstrip("/"))
