"""Comma- and tab-separated values to Markdown tables."""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.omissions import Omission, Omissions
from runtime.parsing.tables import Row, blocks, cell

DELIMITERS = ",\t;|"
MAX_FIELD = 1024 * 1024
"""Characters of one field. A quote that is never closed makes one of all that follows it."""

TOO_WIDE = Omission(
    "1 record has more fields than the first one: their names are not known",
    "{} records have more fields than the first one: their names are not known",
)
MANY_LINES = Omission(
    "1 field goes over several lines: is a quotation mark in it not closed?",
    "{} fields go over several lines: is a quotation mark in them not closed?",
)
_MANY = 3
"""Line breaks of a field with which a quotation mark may be missing."""

_NAMED = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)

_SAMPLE = 100
"""Records from which the delimiter is told."""


def text(source: str) -> Content:
    """Return the table in blocks, its first record being the header. Raises InvalidInput when it
    cannot be read.
    """
    csv.field_size_limit(MAX_FIELD)
    lines = list(StringIO(source, newline=""))
    # Excel's own line, which names the delimiter.
    separator_line = _NAMED.fullmatch(lines[0]) if lines else None
    omissions = Omissions()
    try:
        if separator_line:
            return joined(blocks(_rows(lines[1:], separator_line[1], omissions)), omissions)
        return joined(blocks(_rows(lines, _delimiter(lines), omissions)), omissions)
    except csv.Error as error:
        raise InvalidInput(f"not readable as a table ({error}): save it anew, or as .txt") from None


def _rows(lines: list[str], delimiter: str, omissions: Omissions) -> Iterator[Row]:
    width = 0
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for number, record in enumerate(reader, start=1):
        filled_count = len(record) if not record or record[-1] else len(record) - 1
        # Lines above the table have one field.
        if width < 2:
            width = filled_count
        omissions.add(TOO_WIDE, int(filled_count > width))
        omissions.add(MANY_LINES, sum(field.count("\n") >= _MANY for field in record))
        yield number, [cell(words) for words in record]


def _delimiter(lines: list[str]) -> str:
    """Return the one with which most records have one number of fields, and more than one."""

    def score(delimiter: str) -> tuple[int, int]:
        try:
            sample = list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLE))
        except csv.Error:  # what is no delimiter may make one field of very much
            return 0, 0
        widths = [len(record) for record in sample if len(record) > 1]
        usual_width = max(set(widths), key=widths.count, default=0)
        return widths.count(usual_width), usual_width

    return max(DELIMITERS, key=score)
