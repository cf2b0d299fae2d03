"""Tables that are drawn with characters, written as tables of Markdown with bars around each row.

These are grids (`+---+---+`), columns below a rule in pieces (`=====  ===`, `-----  ---`), tables
of Markdown without outer bars, and three or more columns that blanks keep apart. Tables without a
header stay as they are. Time is linear in the text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

_BORDER = re.compile(r"\+(?:[-=:]+\+)+")
_DRAWN = re.compile(r"\+[-=:]{2,}\+?|[-=:]{2,}\+")
_WORD = re.compile(r"\w")
BAR = re.compile(r"(?<!\\)\|")
"""What stands between cells, unless it is escaped."""
_OPEN_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?")
"""The line below a header of Markdown, whether or not bars stand around it."""
_PIECES = re.compile(r"=+(?: +=+)+|-{2,}(?: +[-=:]{2,})+")
_PIECE = re.compile(r"[=-]+")
_FULL_RULE = re.compile(r"[-=_]{3,}(?: +[-=_]{3,})*")
_GAP = re.compile(r"[ \u3000]*\t[ \u3000]*|[ \u3000]{2,}")
_STOP = re.compile(r"[.!?…。！？]$")
_DIGIT = re.compile(r"\d")
_MAY_HAVE = re.compile(r"\+[-=]|-{2}:? *\||[=-]{2} +[=-]{2}|\S(?:[ \u3000]*\t| {2,}|\u3000{2})")
_FILLER = "\0"
"""Stands behind a wide character, so that places in a line are columns on a screen."""
_FEWEST_COLUMNS = 3
_FEWEST_LINES = 3
_MOST_LINES = 500
"""Lines among which the last rule of a table is looked for."""
_LONGEST_NAME = 4
"""Words of the name of a column that nothing but blanks marks as one."""

_Row = list[str]
_Table = tuple[list[_Row], int]
"""The rows, the header first, and the number of the line after them."""


def with_markdown_tables(text: str) -> str:
    """Return the text with its drawn tables as tables of Markdown, as far in as they stood."""
    if not _MAY_HAVE.search(text):
        return text
    return "\n".join(_rewritten(text.split("\n")))


def _rewritten(lines: Sequence[str]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        table = next(filter(None, (read(lines, number) for read in _READERS)), None)
        if table is None:
            yield lines[number]
            number += 1
            continue
        rows, end = table
        line = lines[number]
        indent = line[: len(line) - len(line.lstrip())]
        header, *body = (f"{indent}| {' | '.join(row)} |" for row in rows)
        yield from (header, f"{indent}|{' --- |' * len(rows[0])}", *body)
        number = end


def _grid(lines: Sequence[str], start: int) -> _Table | None:
    """Read a table with a border between its rows, or around its header and its body alone."""
    top = lines[start].strip()
    if not _BORDER.fullmatch(top) or (start and lines[start - 1].strip().startswith(("|", "+"))):
        return None
    groups: list[list[_Row]] = [[]]
    end = start + 1
    while end < len(lines) and (line := lines[end].strip()).startswith(("|", "+")):
        is_border = _DRAWN.search(line) is not None
        cells = _grid_cells(_DRAWN.sub(_opened, line), top)
        if any(map(_WORD.search, cells)):  # of a border, a cell that spans several rows
            groups[-1].append(cells)
        if is_border:
            groups.append([])
        end += 1
    header, *body = [group for group in groups if group] or [[]]
    if not body or not header:
        return None
    if len(body) == 1 and "+=" not in "".join(lines[start:end]):  # as databases print them
        return [_merged(header), *_continued(body[0])], end
    return [_merged(group) for group in (header, *body)], end


def _opened(border: re.Match[str]) -> str:
    """Return blanks between bars in place of a border."""
    return f"|{' ' * (len(border[0]) - 2)}|"


def _grid_cells(line: str, top: str) -> _Row:
    """Return the cells of a line of a grid; one that spans several columns is in the first."""
    cells = BAR.split(line.removeprefix("|").removesuffix("|"))
    edges = [place for place, character in enumerate(top) if character == "+"]
    if len(cells) == len(edges) - 1:
        return [cell.strip() for cell in cells]
    spread = _spread(line)
    return [
        _cell(BAR.split(spread[edge + 1 :])[0]) if spread[edge : edge + 1] == "|" else ""
        for edge in edges[:-1]
    ]


def _in_pieces(lines: Sequence[str], start: int) -> _Table | None:
    """Read a table of reStructuredText or Pandoc, whose rule shows where its columns begin."""
    rule = lines[start].strip()
    if _PIECES.fullmatch(rule):
        return _between_rules(lines, start) if rule.startswith("=") else None
    below = lines[start + 1] if start + 1 < len(lines) else ""
    if not rule or not below.strip().startswith("--") or not _PIECES.fullmatch(below.strip()):
        return None
    end = start + 2
    while end < len(lines) and lines[end].strip() and not _FULL_RULE.fullmatch(lines[end].strip()):
        end += 1
    rows = [_columns(line, below) for line in lines[start + 2 : end]]
    if end < len(lines) and _FULL_RULE.fullmatch(lines[end].strip()):
        end += 1
    return ([_columns(lines[start], below), *_continued(rows)], end) if rows else None


def _between_rules(lines: Sequence[str], start: int) -> _Table | None:
    """Read a simple table of reStructuredText: a rule above and below its header and at its end."""
    rule = lines[start]
    rules = [start]
    for end in range(start + 1, min(len(lines), start + _MOST_LINES)):
        if lines[end].strip() == rule.strip():
            rules.append(end)
            if len(rules) == 3:
                break
        elif not lines[end].strip() and len(rules) == 2 and rules[1] == end - 1:
            return None  # without a header
    if len(rules) < 3:
        return None
    _, middle, last = rules
    header = [_columns(line, rule) for line in lines[start + 1 : middle]]
    body = [
        _columns(line, rule)
        for line in lines[middle + 1 : last]
        if line.strip() and not _FULL_RULE.fullmatch(line.strip())
    ]
    return ([_merged(header), *_continued(body)], last + 1) if header and body else None


def _columns(line: str, rule: str) -> _Row:
    """Return the cells of a line whose columns begin where the pieces of the rule do."""
    spread = _spread(line.expandtabs())
    starts = [piece.start() for piece in _PIECE.finditer(rule.expandtabs())]
    cuts = [0]
    for start in starts[1:]:
        is_inside = spread[start - 1 : start].strip() and spread[start : start + 1].strip()
        cuts.append(spread.rfind(" ", 0, start) + 1 if is_inside else start)
    return [_cell(spread[cut:end]) for cut, end in zip(cuts, [*cuts[1:], len(spread)], strict=True)]


def _open(lines: Sequence[str], start: int) -> _Table | None:
    """Read a table of Markdown without the bars around its rows."""
    rule = lines[start + 1].strip() if start + 1 < len(lines) else ""
    line = lines[start].strip()
    is_closed = line.startswith("|") and line.endswith("|") and rule.startswith("|")
    if "|" not in line or is_closed or not _OPEN_RULE.fullmatch(rule):
        return None
    end = start + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    rows = (lines[start], *lines[start + 2 : end])
    return [[cell.strip() for cell in _open_cells(row)] for row in rows], end


def _open_cells(line: str) -> list[str]:
    return BAR.split(line.strip().removeprefix("|").removesuffix("|"))


def _aligned(lines: Sequence[str], start: int) -> _Table | None:
    """Read lines of as many cells, which blanks keep apart, below names without a digit."""
    header = _GAP.split(lines[start].strip())
    above = lines[start - 1].strip() if start else ""
    if (
        len(header) < _FEWEST_COLUMNS
        or len(_GAP.split(above)) == len(header)
        or _DIGIT.search(lines[start])
        or all(map(_STOP.search, header[:-1]))
        or not all(name[:1].isalpha() and len(name.split()) <= _LONGEST_NAME for name in header)
    ):
        return None
    gap = _GAP.search(lines[start], lines[start].find(header[0]))
    second_column = len(_spread(lines[start][: gap.end() if gap else 0].expandtabs()))
    end = start + 1
    rows: list[_Row] = []
    while end < len(lines) and (line := lines[end].strip()):
        row = _GAP.split(line)
        is_rule = end == start + 1 and _FULL_RULE.fullmatch(line) is not None
        if not is_rule and (len(row) != len(header) or _indent(lines[end]) >= second_column):
            break
        rows += [] if is_rule else [row]
        end += 1
    if len(rows) < _FEWEST_LINES - 1 or not any(map(_DIGIT.search, lines[start + 1 : end])):
        return None
    return [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)], end


_READERS: tuple[Callable[[Sequence[str], int], _Table | None], ...] = (
    _grid,
    _in_pieces,
    _open,
    _aligned,
)


def _merged(rows: Sequence[_Row]) -> _Row:
    """Return the lines of one row as one."""
    width = max(map(len, rows))
    padded_rows = [[*row, *[""] * (width - len(row))] for row in rows]
    return [" ".join(filter(None, cells)) for cells in zip(*padded_rows, strict=True)]


def _continued(rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows with the lines that have nothing in the first column in the one above."""
    result: list[_Row] = []
    for row in rows:
        if result and not row[0]:
            result[-1] = _merged([result[-1], row])
        else:
            result.append(row)
    return result


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def _spread(line: str) -> str:
    """Return the line with a filler behind each character that is two columns wide."""
    return "".join(
        character + _FILLER if unicodedata.east_asian_width(character) in "WF" else character
        for character in line
    )


def _cell(spread: str) -> str:
    return spread.replace(_FILLER, "").strip().replace("|", "\\|")
