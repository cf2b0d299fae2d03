"""The cells of a Word table in their columns, whatever rows of it are cut short or merged."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from runtime.errors import InvalidInput
from runtime.parsing.office_parts import attribute, child, number
from runtime.parsing.tables import MAX_CELLS

MAX_COLUMNS = 63
"""Columns of a table: Word makes no more."""


class Grid:
    """A table while it is read. A merged cell stands once, the places that it covers are empty."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self._cells = 0

    def begin_row(self, columns_before: str) -> None:
        """Begin a row that leaves out this many columns before its first cell."""
        self.rows.append([""] * number(columns_before, 0, MAX_COLUMNS))

    def add(self, properties: Element | None, read: Callable[[], str]) -> None:
        """Add a cell to the last row. Raises InvalidInput for a table of too many."""
        merge = child(properties, "vMerge")
        is_covered = merge is not None and attribute(merge, "val", "continue") == "continue"
        text = "" if child(properties, "cellDel") is not None else read()
        # A cell that is covered has no text of its own, but for programs that put some there.
        is_repeated = is_covered and bool(self.rows[:-1])
        row = self.rows[-1]
        row.append("" if is_repeated and text == self._above(len(row)) else text)
        span = max(1, number(attribute(child(properties, "gridSpan"), "val"), 1, MAX_COLUMNS))
        row += [""] * min(span - 1, MAX_COLUMNS - len(row))
        self._cells += span
        if self._cells > MAX_CELLS:
            raise InvalidInput(f"a table has more than {MAX_CELLS:,} cells: split it")

    def _above(self, column: int) -> str:
        """Return the text of the cell above, which may stand several rows higher."""
        for row in reversed(self.rows[:-1]):
            if column < len(row) and row[column]:
                return row[column]
        return ""
