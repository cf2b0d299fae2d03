"""Lines that were recognized on a page, as its text: columns one after the other, what stands in a
row together, and a blank line between paragraphs.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from runtime.parsing.pdf_columns import Line, ordered_columns

SAME_ROW = 0.5
"""The part of its height that a piece of a row shares with the row."""

PARAGRAPH = 0.9
"""The gap between two paragraphs at least, as a part of a line's height."""


def in_reading_order(lines: Sequence[Line], width: float) -> str:
    """Return the text of a page that is this many pixels wide."""
    columns = ordered_columns(lines, width)
    rows = list(columns or _rows(lines))
    if not rows:
        return ""
    height = median(row.top - row.bottom for row in rows)
    parts = [rows[0].text]
    for above, row in pairwise(rows):
        gap = above.bottom - row.top
        # A column that begins again at the top is no paragraph.
        parts.append("\n\n" if gap > PARAGRAPH * height else "\n")
        parts.append(row.text)
    return "".join(parts)


def _rows(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines from top to bottom, with what stands beside one another as one."""
    row: list[Line] = []
    for line in sorted(lines, key=lambda line: -(line.top + line.bottom)):
        if row and not _is_beside(row[-1], line):
            yield _joined(row)
            row = []
        row.append(line)
    if row:
        yield _joined(row)


def _is_beside(line: Line, neighbour: Line) -> bool:
    shared_height = min(line.top, neighbour.top) - max(line.bottom, neighbour.bottom)
    height = min(line.top - line.bottom, neighbour.top - neighbour.bottom)
    return shared_height > SAME_ROW * height


def _joined(row: Sequence[Line]) -> Line:
    row = sorted(row, key=lambda line: line.left_edge)
    return Line(
        row[0].left_edge,
        min(line.bottom for line in row),
        row[-1].right_edge,
        max(line.top for line in row),
        " ".join(line.text for line in row),
    )
