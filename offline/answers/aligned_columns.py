"""Columns that blanks keep apart, or dots that lead from a name to its value: price lists,
timetables, what a thing has.
"""

import re
import unicodedata
from collections.abc import Sequence

from offline.answers.markup_tables import Row, Table

FULL_RULE = re.compile(r"[-=_]{3,}(?: +[-=_]{3,})*")
_GAP = re.compile(r"[ \u3000]*\t[ \u3000]*|[ \u3000]{2,}")
_STOP = re.compile(r"[.!?…。！？]$")
_DIGIT = re.compile(r"\d")
_DOTTED = re.compile(r"\s*(\S.*?)\s*(?:\.{4,}|(?:\. ){4,}\.?|…{2,})\s*(\S.{0,40}?)\s*")
_PAGE = re.compile(r"\d{1,3}|[ivxl]{1,6}")
_CODE = re.compile(r"[#<>{}\[|/\\$]|-\S|//")
"""What a cell begins with that belongs to code, or is an option."""
FILLER = "\0"
"""Stands behind a wide character, so that places in a line are columns on a screen."""
_FEWEST_COLUMNS = 3
_FEWEST_LINES = 3
_LONGEST_NAME = 4
"""Words of the name of a column that nothing but blanks marks as one."""
_LONGEST_VALUE = 40
_FEWEST_PAGES = 4
"""Lines that end with ascending numbers of pages and are a table of contents."""


def aligned_columns(lines: Sequence[str], start: int) -> Table | None:
    """Read lines of as many cells, which blanks keep apart. Three or more have names without a
    digit above them; of two, at least half of the values have a digit.
    """
    cells = _GAP.split(lines[start].strip())
    above = lines[start - 1].strip() if start else ""
    if len(cells) < 2 or len(_GAP.split(above)) == len(cells):
        return None
    if len(cells) == 2:
        return _timetable(lines, start, cells) or _pairs(lines, start)
    return _timetable(lines, start, cells) or _named_columns(lines, start, cells)


def _named_columns(lines: Sequence[str], start: int, header: Row) -> Table | None:
    if (
        _DIGIT.search(lines[start])
        or all(map(_STOP.search, header[:-1]))
        or not all(name[:1].isalpha() and len(name.split()) <= _LONGEST_NAME for name in header)
    ):
        return None
    gap = _GAP.search(lines[start], lines[start].find(header[0]))
    second_column = len(spread(lines[start][: gap.end() if gap else 0].expandtabs()))
    end = start + 1
    rows: list[Row] = []
    while end < len(lines) and (line := lines[end].strip()):
        row = _GAP.split(line)
        is_rule = end == start + 1 and FULL_RULE.fullmatch(line) is not None
        if not is_rule and (len(row) != len(header) or _indent(lines[end]) >= second_column):
            break
        rows += [] if is_rule else [row]
        end += 1
    if len(rows) < _FEWEST_LINES - 1 or not any(map(_DIGIT.search, lines[start + 1 : end])):
        return None
    return _escaped([header, *rows]), end


def _timetable(lines: Sequence[str], start: int, names: Row) -> Table | None:
    """Read rows whose names stand in a column without a name of its own."""
    end = start + 1
    rows: list[Row] = []
    while end < len(lines) and lines[end].strip():
        row = _GAP.split(lines[end].strip())
        if len(row) != len(names) + 1 or _indent(lines[end]) >= _indent(lines[start]):
            break
        rows.append(row)
        end += 1
    if len(rows) < _FEWEST_LINES - 1 or not any(map(_DIGIT.search, lines[start + 1 : end])):
        return None
    return _escaped([["", *names], *rows]), end


def _pairs(lines: Sequence[str], start: int) -> Table | None:
    """Read names with their values, which begin or end in one column."""
    rows: list[Row] = []
    begins: set[int] = set()
    ends: set[int] = set()
    is_wide = True
    end = start
    indent = _indent(lines[start])
    while end < len(lines) and _is_pair(lines[end]) and _indent(lines[end]) == indent:
        line = lines[end].rstrip().expandtabs()
        rows.append(_GAP.split(lines[end].strip()))
        before = line[: -len(rows[-1][1])]
        begins.add(len(spread(before)))
        ends.add(len(spread(line)))
        is_wide = is_wide and before.endswith("   ")  # as lines of prose set to a width have not
        end += 1
    if len(rows) < 2 or (len(begins) > 1 and (len(ends) > 1 or not is_wide)):
        return None
    telling = [_DIGIT.search(value) is not None for _, value in rows]
    if 2 * sum(telling) < len(rows):
        return None
    has_header = len(rows) >= _FEWEST_LINES and not telling[0] and all(telling[1:])
    return _escaped(rows if has_header else [["", ""], *rows]), end


def _is_pair(line: str) -> bool:
    cells = _GAP.split(line.strip())
    return (
        len(cells) == 2
        and len(cells[1]) <= _LONGEST_VALUE
        and _STOP.search(cells[1]) is None
        and not cells[0].endswith((":", "：", ",", ";"))
        and not any(map(_CODE.match, cells))
    )


def dotted_lines(lines: Sequence[str], start: int) -> Table | None:
    """Read names that dots lead to their values, unless these are pages of chapters."""
    if start and _DOTTED.fullmatch(lines[start - 1]):
        return None
    rows: list[Row] = []
    end = start
    while end < len(lines) and (match := _DOTTED.fullmatch(lines[end])):
        rows.append([match[1], match[2]])
        end += 1
    if len(rows) < 2:
        return None
    pages = [value for _, value in rows if _PAGE.fullmatch(value)]
    numbers = [int(page) for page in pages if page.isdigit()]
    if len(pages) == len(rows) >= _FEWEST_PAGES and numbers == sorted(numbers):
        return None
    return _escaped([["", ""], *rows]), end


def _escaped(rows: Sequence[Row]) -> list[Row]:
    return [[cell.replace("|", "\\|") for cell in row] for row in rows]


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def spread(line: str) -> str:
    """Return the line with a filler behind each character that is two columns wide."""
    return "".join(
        character + FILLER if unicodedata.east_asian_width(character) in "WF" else character
        for character in line
    )
