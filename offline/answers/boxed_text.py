"""What bars stand beside and is no table: sentences in a box, and line blocks.

A page that frames a paragraph becomes in Markdown a table that has a header and no row. A line
block of reStructuredText has a bar before each line, and none behind it. Time is linear in the
text.
"""

import re
from collections.abc import Iterator, Sequence

from offline.answers.drawn_tables import BAR, RULE
from offline.language.lines import fence

_SENTENCE = re.compile(r"[^\s|]+\s[^|]*?[.!?…]|[^|]{8,}[。！？]")
"""What makes a cell more than the name of a column."""
_LINE = re.compile(r"(\s*)\|(?:[ \t]+(\S.*))?")
"""A line of a line block: a bar, and what stands behind it."""


def without_boxes(text: str) -> str:
    """Return a text in Markdown in which sentences in a box, and lines of a line block, are
    paragraphs.
    """
    if "|" not in text:
        return text
    return "\n".join(_unboxed(text.split("\n")))


def _unboxed(lines: Sequence[str]) -> Iterator[str]:
    number = 0
    is_fenced = False
    while number < len(lines):
        line = lines[number]
        if fence(line, lines[number - 1] if number else ""):
            is_fenced = not is_fenced
        if not is_fenced and _is_box(lines, number):
            yield from _cells_apart(line)
            number += 2
        elif not is_fenced and _is_barred(line):
            end = _end_of_barred(lines, number)
            yield from _line_block(lines, number, end)
            number = end
        else:
            yield line
            number += 1


def _is_box(lines: Sequence[str], number: int) -> bool:
    """Return whether a line is the header of a table without rows, and has a sentence."""
    line, rule, below = (*lines[number : number + 3], "", "")[:3]
    return (
        line.lstrip().startswith("|")
        and RULE.fullmatch(rule.strip()) is not None
        and not below.lstrip().startswith("|")
        and any(_SENTENCE.match(cell.strip()) for cell in BAR.split(line))
    )


def _cells_apart(row: str) -> Iterator[str]:
    """Yield the cells of a row as paragraphs."""
    for cell in BAR.split(row):
        if cell.strip():
            yield from ("", cell.strip())
    yield ""


def _is_barred(line: str) -> bool:
    """Return whether a line has a bar at its beginning alone."""
    return _LINE.fullmatch(line) is not None and len(BAR.findall(line)) == 1


def _end_of_barred(lines: Sequence[str], start: int) -> int:
    """Return the number of the line behind those with a bar, and those further in that go on with
    them.
    """
    end = start + 1
    while end < len(lines) and (_is_barred(lines[end]) or _is_continuation(lines[end])):
        end += 1
    return end


def _is_continuation(line: str) -> bool:
    is_text = bool(line.strip()) and "|" not in line and fence(line, "") is None
    return line.startswith("  ") and is_text


def _line_block(lines: Sequence[str], start: int, end: int) -> Sequence[str]:
    """Return lines with a bar as a paragraph; as they are where they belong to a table."""
    above = lines[start - 1].strip() if start else ""
    below = lines[end].strip() if end < len(lines) else ""
    if above.startswith(("|", "{|")) or below.startswith("|"):
        return lines[start:end]
    return ("", *map(_without_bar, lines[start:end]), "")


def _without_bar(line: str) -> str:
    """Return a line of a line block without its bar."""
    part = _LINE.fullmatch(line)
    return f"{part[1]}{part[2] or ''}" if part else line.strip()
