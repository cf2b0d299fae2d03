"""Tables that are drawn with characters, written as tables of Markdown with bars around each row.

These are grids (`+---+---+`, `┌───┬───┐`), columns below a rule in pieces (`=====  ===`,
`-----  ---`), tables of Markdown without outer bars, columns that blanks or dots keep apart, and
those of reStructuredText, AsciiDoc and MediaWiki. Time is linear in the text.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from offline.answers.aligned_columns import (
    FILLER,
    FULL_RULE,
    aligned_columns,
    dotted_lines,
    spread,
)
from offline.answers.markup_tables import (
    Row,
    Table,
    asciidoc_table,
    directive_table,
    directive_title,
    mediawiki_table,
)

_BOX_TOP = re.compile(r"^[ \t]*[┌╔╭][─═━┬╦╤╥]+[┐╗╮][ \t]*$", re.MULTILINE)
_BOX = (
    dict.fromkeys(map(ord, "│║┃"), "|")
    | dict.fromkeys(map(ord, "─═━"), "-")
    | dict.fromkeys(map(ord, "┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╭╮╰╯╤╥╧╨╪╫╞╡╟╢"), "+")
)
"""Characters of boxes, and those with which a grid is drawn."""
_BORDER = re.compile(r"\+(?:[-=:]+\+)+")
_DRAWN = re.compile(r"\+[-=:]{2,}\+?|[-=:]{2,}\+")
_WORD = re.compile(r"\w")
BAR = re.compile(r"(?<!\\)\|")
"""What stands between cells, unless it is escaped."""
RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
"""The line below a header of Markdown, with bars around it."""
_OPEN_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?")
"""The line below a header of Markdown, whether or not bars stand around it."""
_CLOSED = re.compile(r"\|[^|].*\|")
_PIECES = re.compile(r"=+(?: +=+)+|-{2,}(?: +[-=:]{2,})+")
_PIECE = re.compile(r"[=-]+")
_MAY_HAVE = re.compile(
    r"\+[-=]|-{2}:? *\||[=-]{2} +[=-]{2}|\S(?:[ \u3000]*\t| {2,}|\u3000{2})|\|===|-table::"
    r"|^[ \t]*\||\.{4}|(?:\. ){4}|…{2}",
    re.MULTILINE,
)
_MOST_LINES = 500
"""Lines among which the last rule of a table is looked for."""


def with_markdown_tables(text: str) -> str:
    """Return the text with its drawn tables as tables of Markdown, as far in as they stood."""
    if _BOX_TOP.search(text):
        text = text.translate(_BOX)
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
        if title := directive_title(line):
            yield from (f"{title}:", "")
        indent = line[: len(line) - len(line.lstrip())]
        header, *body = (f"{indent}| {' | '.join(row)} |" for row in rows)
        yield from (header, f"{indent}|{' --- |' * len(rows[0])}", *body)
        number = end


def _grid(lines: Sequence[str], start: int) -> Table | None:
    """Read a table with a border between its rows, or around its header and its body alone."""
    top = lines[start].strip()
    if not _BORDER.fullmatch(top) or (start and lines[start - 1].strip().startswith(("|", "+"))):
        return None
    groups: list[list[Row]] = [[]]
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


def _grid_cells(line: str, top: str) -> Row:
    """Return the cells of a line of a grid; one that spans several columns is in the first."""
    cells = BAR.split(line.removeprefix("|").removesuffix("|"))
    edges = [place for place, character in enumerate(top) if character == "+"]
    if len(cells) == len(edges) - 1:
        return [cell.strip() for cell in cells]
    spread_line = spread(line)
    return [
        _cell(BAR.split(spread_line[edge + 1 :])[0]) if spread_line[edge : edge + 1] == "|" else ""
        for edge in edges[:-1]
    ]


def _in_pieces(lines: Sequence[str], start: int) -> Table | None:
    """Read a table of reStructuredText or Pandoc, whose rule shows where its columns begin."""
    rule = lines[start].strip()
    if _PIECES.fullmatch(rule):
        return _between_rules(lines, start) if rule.startswith("=") else None
    below = lines[start + 1] if start + 1 < len(lines) else ""
    if not rule or not below.strip().startswith("--") or not _PIECES.fullmatch(below.strip()):
        return None
    end = start + 2
    while end < len(lines) and lines[end].strip() and not FULL_RULE.fullmatch(lines[end].strip()):
        end += 1
    rows = [_columns(line, below) for line in lines[start + 2 : end]]
    if end < len(lines) and FULL_RULE.fullmatch(lines[end].strip()):
        end += 1
    return ([_columns(lines[start], below), *_continued(rows)], end) if rows else None


def _between_rules(lines: Sequence[str], start: int) -> Table | None:
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
    if len(rules) == 2 and lines[-1].strip() and rules[1] < len(lines) - 1:
        rules.append(len(lines))  # the end of the passage cuts it
    if len(rules) < 3:
        return None
    _, middle, last = rules
    header = [_columns(line, rule) for line in lines[start + 1 : middle]]
    body = [
        _columns(line, rule)
        for line in lines[middle + 1 : last]
        if line.strip() and not FULL_RULE.fullmatch(line.strip())
    ]
    return ([_merged(header), *_continued(body)], last + 1) if header and body else None


def _columns(line: str, rule: str) -> Row:
    """Return the cells of a line whose columns begin where the pieces of the rule do."""
    spread_line = spread(line.expandtabs())
    starts = [piece.start() for piece in _PIECE.finditer(rule.expandtabs())]
    cuts = [0]
    for start in starts[1:]:
        is_inside = all(map(str.strip, spread_line[start - 1 : start + 1]))
        is_inside = is_inside and len(spread_line) > start
        cuts.append(spread_line.rfind(" ", 0, start) + 1 if is_inside else start)
    ends = [*cuts[1:], len(spread_line)]
    return [_cell(spread_line[cut:end]) for cut, end in zip(cuts, ends, strict=True)]


def _open(lines: Sequence[str], start: int) -> Table | None:
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


def _unruled(lines: Sequence[str], start: int) -> Table | None:
    """Read rows between bars that have neither header nor rule; not at the beginning of a passage,
    where the header may have been cut off.
    """
    if not start or "|" in lines[start - 1]:
        return None
    end = start
    while end < len(lines) and _CLOSED.fullmatch(lines[end].strip()):
        end += 1
    rows = [[cell.strip() for cell in _open_cells(line)] for line in lines[start:end]]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return None
    if any(_OPEN_RULE.fullmatch(line.strip()) or _BORDER.search(line) for line in lines[start:end]):
        return None
    return [[""] * len(rows[0]), *rows], end


_READERS: tuple[Callable[[Sequence[str], int], Table | None], ...] = (
    directive_table,
    asciidoc_table,
    mediawiki_table,
    _grid,
    _in_pieces,
    _open,
    _unruled,
    dotted_lines,
    aligned_columns,
)


def _merged(rows: Sequence[Row]) -> Row:
    """Return the lines of one row as one."""
    width = max(map(len, rows))
    padded_rows = [[*row, *[""] * (width - len(row))] for row in rows]
    return [" ".join(filter(None, cells)) for cells in zip(*padded_rows, strict=True)]


def _continued(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the lines that have nothing in the first column in the one above."""
    result: list[Row] = []
    for row in rows:
        if result and not row[0]:
            result[-1] = _merged([result[-1], row])
        else:
            result.append(row)
    return result


def _cell(spread_line: str) -> str:
    return spread_line.replace(FILLER, "").strip().replace("|", "\\|")
