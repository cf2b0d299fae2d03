"""Tables that reStructuredText, AsciiDoc and MediaWiki write as lists, as comma-separated values,
or with a cell in each line.
"""

import csv
import re
from collections.abc import Iterator, Sequence

Row = list[str]
Table = tuple[list[Row], int]
"""The rows, the header first, and the number of the line after them."""

_DIRECTIVE = re.compile(r"(\s*)\.\. (list|csv)-table::\s*(.*)")
_OPTION = re.compile(r"\s+:([\w-]+):\s*(.*)")
_ITEM = re.compile(r"(\s*)\* - ?(.*)")
_CELL = re.compile(r"(\s*)- ?(.*)")
_ATTRIBUTES = re.compile(r"\[(.*)\]")
_COLUMNS = re.compile(r"cols\s*=\s*\"?([^\"\]]+)\"?")
_COPIES = re.compile(r"\s*(\d+)\*")
_BAR = re.compile(r"(?:(?<=\s)|^)(?:\d+(?:\.\d+)?[+*])?(?:[.^<>]{0,3}[aehlmsdv]?)\|")
"""What begins a cell of AsciiDoc, with how far it reaches and how it is set."""
_BORDER = re.compile(r"\|={3,}")
_WIKI_ATTRIBUTES = re.compile(r"[^\[\]|]*\|\s*")
"""What says how a cell of MediaWiki looks, before its words."""
_WIKI_CELLS = re.compile(r"\|\||!!")
_MOST_WIKI_LINES = 500
"""Lines among which the end of a table of MediaWiki is looked for."""


def directive_table(lines: Sequence[str], start: int) -> Table | None:
    """Read a `list-table` or a `csv-table` of reStructuredText."""
    directive = _DIRECTIVE.fullmatch(lines[start])
    if directive is None:
        return None
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > len(directive[1])):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    options = {
        option[1]: option[2] for line in lines[start:end] if (option := _OPTION.fullmatch(line))
    }
    body = [line for line in lines[start + 1 : end] if not _OPTION.fullmatch(line)]
    rows = list(_list_rows(body)) if directive[2] == "list" else _csv_rows(body)
    header = _csv_rows([options["header"]]) if "header" in options else []
    has_header = bool(header) or options.get("header-rows", "0") != "0"
    return _headed([*header, *rows], end, has_header=has_header)


def directive_title(line: str) -> str:
    """Return the title of the table that a line of reStructuredText begins; empty for another."""
    directive = _DIRECTIVE.fullmatch(line)
    return directive[3].strip() if directive else ""


def _list_rows(lines: Sequence[str]) -> Iterator[Row]:
    row: Row = []
    indent = -1
    for line in lines:
        if (item := _ITEM.fullmatch(line)) and indent in (-1, len(item[1])):
            indent = len(item[1])
            if row:
                yield row
            row = [item[2].strip()]
        elif row and (cell := _CELL.fullmatch(line)) and len(cell[1]) == indent + 2:
            row.append(cell[2].strip())
        elif row and line.strip():
            row[-1] = f"{row[-1]} {line.strip()}".strip()
    if row:
        yield row


def _csv_rows(lines: Sequence[str]) -> list[Row]:
    reader = csv.reader((line.strip() for line in lines), skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in reader if any(row)]


def asciidoc_table(lines: Sequence[str], start: int) -> Table | None:
    """Read a table of AsciiDoc, between two borders."""
    attributes = _ATTRIBUTES.fullmatch(lines[start].strip())
    first = start + 1 if attributes else start
    if first >= len(lines) or not _BORDER.fullmatch(lines[first].strip()):
        return None
    end = first + 1
    while end < len(lines) and not _BORDER.fullmatch(lines[end].strip()):
        end += 1
    body = [line.strip() for line in lines[first + 1 : end]]
    names = attributes[1] if attributes else ""
    cells = list(_cells(body))
    width = _width(names) or len(list(_cells(_first_line(body))))
    if not width or len(cells) % width:
        return None
    rows = [cells[at : at + width] for at in range(0, len(cells), width)]
    is_apart = len(body) > 1 and bool(body[0]) and not body[1]
    has_header = "header" in names or (is_apart and len(rows) > 1)
    return _headed(rows, min(end + 1, len(lines)), has_header=has_header)


def _first_line(body: Sequence[str]) -> list[str]:
    return [line for line in body if line][:1]


def _width(attributes: str) -> int:
    """Return how many columns the attributes of a table name; 0 where they do not."""
    columns = _COLUMNS.search(attributes)
    if columns is None:
        return 0
    if copies := _COPIES.match(columns[1]):
        return int(copies[1])
    return len(re.split(r"[,;]", columns[1].strip().strip(",;")))


def _cells(lines: Sequence[str]) -> Iterator[str]:
    cell: list[str] | None = None
    for line in lines:
        pieces = _BAR.split(line)
        if cell is not None and pieces[0].strip():
            cell.append(pieces[0].strip())
        for piece in pieces[1:]:
            if cell is not None:
                yield " ".join(filter(None, cell))
            cell = [piece.strip()]
    if cell is not None:
        yield " ".join(filter(None, cell))


def mediawiki_table(lines: Sequence[str], start: int) -> Table | None:
    """Read a table of MediaWiki, from `{|` to `|}`."""
    if not lines[start].lstrip().startswith("{|"):
        return None
    body = [line.strip() for line in lines[start + 1 : start + 1 + _MOST_WIKI_LINES]]
    if "|}" not in body:
        return None
    body = body[: body.index("|}")]
    rows = list(_wiki_rows(body))
    has_header = any(line.startswith("!") for line in body)
    return _headed(rows, start + len(body) + 2, has_header=has_header)


def _wiki_rows(lines: Sequence[str]) -> Iterator[Row]:
    row: Row = []
    for line in lines:
        if line.startswith("|-"):
            if row:
                yield row
            row = []
        elif line.startswith(("|", "!")) and not line.startswith("|+"):
            cells = _WIKI_CELLS.split(line[1:])
            row += [_WIKI_ATTRIBUTES.sub("", cell, count=1).strip() for cell in cells]
        elif row and line:
            row[-1] = f"{row[-1]} {line}".strip()
    if row:
        yield row


def _headed(rows: list[Row], end: int, *, has_header: bool) -> Table | None:
    """Return the table with a header, whose names are empty where it has none."""
    width = max(map(len, rows), default=0)
    if width < 2:
        return None
    if not has_header:
        rows = [[""] * width, *rows]
    padded_rows = [[*row, *[""] * (width - len(row))] for row in rows]
    return [[cell.replace("|", "\\|") for cell in row] for row in padded_rows], end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
