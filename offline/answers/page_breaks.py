"""Leaves out what the pages of a printed document repeat: running headers, footers, and the
numbers of the pages.
"""

import re
from collections import Counter

_COLUMNS = re.compile(r"\S\s{3,}\S")
_MANUAL = re.compile(r"\S.*\s{3,}\S*\w\(\d\w{0,3}\)\s*$|\S*\w\(\d\w{0,3}\)\s{3,}\S")
"""A header or footer of a manual page: `systemd 252    SYSTEMD.TIMER(5)`."""
_PAGE = re.compile(
    r"(?:.*\s{2,})?[\[(–-]?\s*(?:page|seite|стр(?:аница|\.)?|página|pág\.|p\.)\s*\d{1,4}"
    r"(?:\s*(?:/|of|von|из|de|sur)\s*\d{1,4})?\s*[\])–-]?(?:\s{2,}.*)?|第\s*\d{1,4}\s*页",
    re.I,
)
_NUMBER_ALONE = re.compile(r"[–-]?\s*\d{1,4}\s*[–-]?")
_DIGITS = re.compile(r"\d+")
_LONGEST = 120


def without_page_breaks(text: str) -> str:
    """Return the text without the lines that stand at page breaks.

    These are: lines with the name of a manual page at a margin, with a page number, with a number
    alone between blank lines, and lines of several columns that are repeated but for their numbers.
    """
    if not _may_have(text):
        return text
    lines = text.replace("\f", "\n\n").split("\n")
    counts_by_shape = Counter(_shape(line) for line in lines if _COLUMNS.search(line))
    body_lines: list[str] = []
    for number, line in enumerate(lines):
        if _is_furniture(line) or (
            counts_by_shape[_shape(line)] > 1
            and not line.lstrip().startswith("|")
            and _stands_apart(lines, number)
        ):
            continue
        if _NUMBER_ALONE.fullmatch(line.strip()) and _stands_apart(lines, number):
            continue
        body_lines.append(line)
    return "\n".join(body_lines)


def _may_have(text: str) -> bool:
    return "\f" in text or _DIGITS.search(text) is not None


def _is_furniture(line: str) -> bool:
    if len(line) > _LONGEST or not line.strip() or line.lstrip().startswith("|"):
        return False
    return (not line[0].isspace() and _MANUAL.match(line) is not None) or (
        _PAGE.fullmatch(line.strip()) is not None
    )


def _shape(line: str) -> str:
    """Return a line without what differs from page to page."""
    return " ".join(_DIGITS.sub("0", line).split())


def _stands_apart(lines: list[str], number: int) -> bool:
    """Return whether a blank line, or an end of the text, is above or below a line."""
    above = lines[number - 1] if number else ""
    below = lines[number + 1] if number + 1 < len(lines) else ""
    return not above.strip() or not below.strip()
