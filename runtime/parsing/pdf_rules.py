"""The lines that a PDF page draws, and the grids that they make. It runs in the sandbox only."""

from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_float, c_int
from dataclasses import dataclass
from typing import NamedTuple, cast

import pypdfium2
from pypdfium2 import raw

MAX_SEGMENTS = 20_000
MAX_CROSSINGS = 100_000
MAX_CELLS = 5_000
"""Of the paths of a page, of its lines, and of one grid: what has more is a drawing."""

TOLERANCE = 3.0
"""Points by which lines may miss each other."""

_SHORTEST = 4.0
"""Points of a line, at least."""


Point = tuple[float, float]


class Rule(NamedTuple):
    """A line along an axis: its place across it, and where it begins and ends."""

    at: float
    start: float
    end: float

    def covers(self, place: float) -> bool:
        """Return whether it runs past the place."""
        return self.start - TOLERANCE <= place <= self.end + TOLERANCE


class Cell(NamedTuple):
    """A cell: left, bottom, right and top edge, and the first of the columns that it goes over."""

    box: tuple[float, float, float, float]
    first_column: int


@dataclass(frozen=True)
class Grid:
    """Lines that cross: places of columns from the left, of rows from above."""

    columns: Sequence[float]
    rows: Sequence[float]
    across: Sequence[Rule]
    upright: Sequence[Rule]

    @property
    def left_edge(self) -> float:
        """Return the left edge."""
        return self.columns[0]

    @property
    def right_edge(self) -> float:
        """Return the right edge."""
        return self.columns[-1]

    @property
    def top(self) -> float:
        """Return the top edge."""
        return self.rows[0]

    @property
    def bottom(self) -> float:
        """Return the bottom edge."""
        return self.rows[-1]

    @property
    def row_count(self) -> int:
        """Return how many rows it has."""
        return len(self.rows) - 1

    @property
    def column_count(self) -> int:
        """Return how many columns it has."""
        return len(self.columns) - 1

    def cell(self, row: int, column: int) -> Cell:
        """Return the cell that stands in this row and column, as far as no line ends it."""
        middle_x = (self.columns[column] + self.columns[column + 1]) / 2
        middle_y = (self.rows[row] + self.rows[row + 1]) / 2
        begin, end = _extent(self.columns, column, self.upright, middle_y)
        top_row, end_row = _extent(self.rows, row, self.across, middle_x)
        box = (self.columns[begin], self.rows[end_row], self.columns[end], self.rows[top_row])
        return Cell(box, begin)


def grids(page: pypdfium2.PdfPage) -> list[Grid]:
    """Return the grids of at least two rows and columns, from above."""
    rules = _rules(page)
    across = _joined(rule for lies, rule in rules if lies)
    upright = _joined(rule for lies, rule in rules if not lies)
    if len(across) * len(upright) > MAX_CROSSINGS:
        return []
    candidates = [_grid(*group) for group in _groups(across, upright)]
    return sorted(filter(None, candidates), key=lambda grid: -grid.top)


def _extent(
    places: Sequence[float], index: int, rules: Sequence[Rule], middle: float
) -> tuple[int, int]:
    """Return the indexes of the places at which lines end the cell that begins at this one."""
    begin = index
    end = index + 1
    while begin > 0 and not _is_ruled(rules, places[begin], middle):
        begin -= 1
    while end < len(places) - 1 and not _is_ruled(rules, places[end], middle):
        end += 1
    return begin, end


def _is_ruled(rules: Sequence[Rule], at: float, place: float) -> bool:
    return any(abs(rule.at - at) <= TOLERANCE and rule.covers(place) for rule in rules)


def _grid(across: Sequence[Rule], upright: Sequence[Rule]) -> Grid | None:
    """Return the grid of lines that cross; outer ones may be missing, where others go on."""
    if not across or not upright:
        return None
    ends = [min(rule.start for rule in across), max(rule.end for rule in across)]
    columns = _places([*(rule.at for rule in upright), *ends])
    ends = [min(rule.start for rule in upright), max(rule.end for rule in upright)]
    rows = _places([*(rule.at for rule in across), *ends])
    cells = (len(columns) - 1) * (len(rows) - 1)
    if len(columns) < 3 or len(rows) < 3 or cells > MAX_CELLS:
        return None
    return Grid(columns, rows[::-1], across, upright)


def _places(values: Iterable[float]) -> list[float]:
    """Return the values in order, those that are nearly the same as one."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > TOLERANCE:
            places.append(value)
    return places


def _groups(
    across: Sequence[Rule], upright: Sequence[Rule]
) -> Iterator[tuple[Sequence[Rule], Sequence[Rule]]]:
    """Yield lines that hang together."""
    remaining = [(True, rule) for rule in across] + [(False, rule) for rule in upright]
    while remaining:
        group = [remaining.pop()]
        for is_across, rule in group:
            touching = [
                (lies, crossing)
                for lies, crossing in remaining
                if lies != is_across and rule.covers(crossing.at) and crossing.covers(rule.at)
            ]
            group += touching
            remaining = [line for line in remaining if line not in touching]
        yield [rule for kind, rule in group if kind], [rule for kind, rule in group if not kind]


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Return the lines, those that continue or cover each other as one."""
    lines: dict[float, list[Rule]] = {}
    at = float("-inf")
    for rule in sorted(rules):
        if rule.at - at > TOLERANCE:
            at = rule.at
        lines.setdefault(at, []).append(rule)
    joined_rules: list[Rule] = []
    for at, parts in lines.items():
        start = float("inf")
        end = float("-inf")
        for part in sorted(parts, key=lambda part: part.start):
            if part.start > end + TOLERANCE and end > start:
                joined_rules.append(Rule(at, start, end))
                start = part.start
            start = min(start, part.start)
            end = max(end, part.end)
        joined_rules.append(Rule(at, start, end))
    return [rule for rule in joined_rules if rule.end - rule.start >= _SHORTEST]


def _rules(page: pypdfium2.PdfPage) -> list[tuple[bool, Rule]]:
    """Return the lines of the page along its axes, and of each whether it lies; none of a drawing
    with very many.
    """
    kinds = [raw.FPDF_PAGEOBJ_PATH]
    paths = cast("Iterator[pypdfium2.PdfObject]", page.get_objects(filter=kinds, max_depth=2))
    rules: list[tuple[bool, Rule]] = []
    count = 0
    for path in paths:
        count += raw.FPDFPath_CountSegments(path)
        if count > MAX_SEGMENTS:
            return []
        for (x, y), (next_x, next_y) in _edges(path):
            if abs(y - next_y) <= 1 and abs(x - next_x) > abs(y - next_y):
                rules.append((True, Rule(y, min(x, next_x), max(x, next_x))))
            elif abs(x - next_x) <= 1:
                rules.append((False, Rule(x, min(y, next_y), max(y, next_y))))
    return rules


def _edges(path: pypdfium2.PdfObject) -> Iterator[tuple[Point, Point]]:
    """Yield the straight edges of a path that is drawn, where they stand on the page."""
    fill = c_int()
    stroke = c_int()
    raw.FPDFPath_GetDrawMode(path, byref(fill), byref(stroke))
    if not fill.value and not stroke.value:
        return
    matrix = path.get_matrix()
    container = cast("pypdfium2.PdfObject | None", path.container)
    if container is not None:
        matrix = matrix.multiply(container.get_matrix())
    begin = pen = (0.0, 0.0)
    x = c_float()
    y = c_float()
    for index in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = matrix.on_point(x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            begin = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield pen, point
        pen = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield pen, begin
            pen = begin
