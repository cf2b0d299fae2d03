"""The text of a PDF page in the order of reading: of two columns that a program drew line by line,
one comes first.

A page is left as it was drawn unless it has lines of prose on both sides of a gap, drawn by turns:
a table has short cells, and most programs draw one column after the other.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pypdfium2

FEWEST_LINES = 5
"""Lines of prose that each of two columns has at least."""

LONGEST_PAGE = 3000
"""Rectangles of text of a page that are looked at."""

_PROSE = 18
"""Characters of a line of prose in a column, at least."""

_FILLED = 0.6
"""The part of a column's width that the usual line of prose fills."""

_MOST_TURNS = 0.35
"""Share of changes between the columns, from line to line, with which they were drawn by turns."""


class Line(NamedTuple):
    """A line of text and its edges, in units that grow to the right and upwards."""

    left_edge: float
    bottom: float
    right_edge: float
    top: float
    text: str


def page_text(
    layer: pypdfium2.PdfTextPage, width: float, band: tuple[float, float] | None = None
) -> str:
    """Return the text of a page that is this many points wide; with a band what stands between
    these points from below.
    """
    bottom, top = band or (None, None)
    plain_text = layer.get_text_bounded(bottom=bottom, top=top).replace("\r\n", "\n")
    count = layer.count_rects()
    if not 2 * FEWEST_LINES <= count <= LONGEST_PAGE:
        return plain_text
    rectangles = [layer.get_rect(index) for index in range(count)]
    if band:
        rectangles = [
            rectangle
            for rectangle in rectangles
            if band[0] <= (rectangle[1] + rectangle[3]) / 2 <= band[1]
        ]
    gap = _gap(rectangles, width)
    if gap is None:
        return plain_text
    lines = [
        Line(*rectangle, text=layer.get_text_bounded(*rectangle).strip())
        for rectangle in rectangles
    ]
    ordered_lines = _by_columns([line for line in lines if line.text], gap)
    return "\n".join(line.text for line in ordered_lines) or plain_text


def ordered_columns(lines: Sequence[Line], width: float) -> Sequence[Line]:
    """Return the lines of a page of two columns, one after the other; none for any other page."""
    gap = _gap([line[:4] for line in lines], width) if len(lines) >= 2 * FEWEST_LINES else None
    return [] if gap is None else _by_columns(lines, gap)


def _gap(rectangles: Sequence[tuple[float, float, float, float]], width: float) -> float | None:
    """Return a place in the middle of the page that few rectangles cross; None without one."""
    max_crossing = len(rectangles) // 5
    for step in range(21):
        place = width * (0.5 + (step // 2) * 0.01 * (1 if step % 2 else -1))
        crossing = sum(left_edge < place < right_edge for left_edge, _, right_edge, _ in rectangles)
        beside = min(
            sum(right_edge <= place for _, _, right_edge, _ in rectangles),
            sum(r[0] >= place for r in rectangles),
        )
        if crossing <= max_crossing and beside >= FEWEST_LINES:
            return place
    return None


def _by_columns(lines: Sequence[Line], gap: float) -> Sequence[Line]:
    """Return the lines of the left column before those of the right one; none where they were not
    drawn by turns.
    """
    left_lines = [line for line in lines if line.right_edge <= gap]
    right_lines = [line for line in lines if line.left_edge >= gap]
    if not (_is_prose(left_lines) and _is_prose(right_lines)):
        return []
    sides = [
        line.left_edge >= gap for line in lines if line.right_edge <= gap or line.left_edge >= gap
    ]
    turns = sum(side != next_side for side, next_side in pairwise(sides))
    if turns < _MOST_TURNS * len(sides):
        return []
    parts: list[Line] = []
    bounds = sorted(
        (line for line in lines if line.left_edge < gap < line.right_edge),
        key=lambda line: -line.top,
    )
    for across in [*bounds, None]:
        bottom = across.bottom if across else float("-inf")
        for column in (left_lines, right_lines):
            parts += [line for line in column if line.bottom > bottom]
            column[:] = [line for line in column if line.bottom <= bottom]
        parts += [across] if across else []
    return parts


def _is_prose(column: Sequence[Line]) -> bool:
    if len(column) < FEWEST_LINES:
        return False
    width = max(line.right_edge for line in column) - min(line.left_edge for line in column)
    filled_shares = sorted(
        (line.right_edge - line.left_edge) / width if width else 0.0 for line in column
    )
    lengths = sorted(len(line.text) for line in column)
    return (
        lengths[len(lengths) // 2] >= _PROSE and filled_shares[len(filled_shares) // 2] >= _FILLED
    )
