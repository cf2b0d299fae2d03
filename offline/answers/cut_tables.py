"""The header of a table that the beginning of a passage cuts off: from the header that the chunker
repeats below, or from what stands before the passage in its document.
"""

import re

from offline.answers.drawn_tables import BAR, RULE, with_markdown_tables

_RULE_END = re.compile(r"[-:| ]*\|")
_BLOCKS = re.compile(r"\n[ \t]*\n")
_LONGEST_HEAD = 8
"""Lines of a header with the rules around it."""


def with_header(text: str, preceding: str) -> str:
    """Return a passage with the header of the table in which it begins, where that is found;
    `preceding` is what stands before it in the document, as far as that is known.
    """
    first, *rest = _BLOCKS.split(text, maxsplit=1)
    lines = first.rstrip("\n").split("\n")
    if any(RULE.fullmatch(line.strip()) for line in lines[1:]) or text.startswith("\n"):
        return text
    is_rule = _RULE_END.fullmatch(lines[0]) is not None
    begins_row = _is_row(lines[0]) or preceding.endswith("\n")
    rows = lines if begins_row and not is_rule else lines[1:]
    partial = lines[: len(lines) - len(rows)]  # a row of which only the end is in the passage
    header = (
        _repeated_header(rows, rest[0] if rest else "")
        or _cut_rule(lines[0], rows, preceding)
        or _head(rows, preceding)
    )
    if not header:
        return text
    return "\n".join(("", *partial, "", *header, *rows)) + "".join(f"\n\n{block}" for block in rest)


def _repeated_header(rows: list[str], below: str) -> list[str]:
    """Return the header that stands right below the rows, which have as many cells."""
    header = below.split("\n")[:2]
    if not rows or not all(map(_is_row, rows)) or len(header) < 2 or not _is_row(header[0]):
        return []
    is_same = all(len(BAR.split(row)) == len(BAR.split(header[0])) for row in rows)
    return header if is_same and RULE.fullmatch(header[1].strip()) else []


def _cut_rule(first: str, rows: list[str], preceding: str) -> list[str]:
    """Return the header where the passage begins within the rule below it."""
    above = preceding.rstrip("-: |\n").rpartition("\n")[2]
    if not _RULE_END.fullmatch(first) or not above.startswith("|") or not all(map(_is_row, rows)):
        return []
    return [f"{above} |", f"|{' --- |' * (len(BAR.split(above)) - 1)}"]


def _head(rows: list[str], preceding: str) -> list[str]:
    """Return the first lines of the table at the end of `preceding` that make a table of the rows,
    too.
    """
    above = _BLOCKS.split(preceding.rstrip("\n"))[-1].split("\n")
    if len(rows) < 2 or len(above) < 2 or preceding.endswith("\n\n"):
        return []
    for count in range(1, min(_LONGEST_HEAD, len(above)) + 1):
        head = above[:count]
        table = with_markdown_tables("\n".join(("", *head, *rows))).split("\n")
        has_names = len(table) > len(rows) and table[1].strip(" |")
        if has_names and RULE.fullmatch(table[2].strip()):
            return head
    return []


def _is_row(line: str) -> bool:
    content = line.strip()
    return len(content) > 1 and content.startswith("|") and content.endswith("|")
