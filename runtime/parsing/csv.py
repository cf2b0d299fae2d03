"""Comma- and tab-separated values to Markdown tables."""

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.tables import Row, blocks, cell

DELIMITERS = ",\t;|"
MAX_FIELD = 1024 * 1024
"""Characters of one field. A quote that is never closed makes one of all that follows it."""

_SAMPLE = 100
"""Records from which the delimiter is told."""


def text(source: str) -> Content:
    """Return the table in blocks, its first record being the header. Raises InvalidInput when it cannot be read."""
    csv.field_size_limit(MAX_FIELD)
    lines = list(StringIO(source, newline=""))
    try:
        return joined(blocks(_rows(lines, _delimiter(lines))))
    except csv.Error as error:
        raise InvalidInput(f"not readable as a table ({error}): save it anew, or as .txt") from None


def _rows(lines: list[str], delimiter: str) -> Iterator[Row]:
    for number, record in enumerate(csv.reader(lines, delimiter=delimiter, skipinitialspace=True), start=1):
        yield number, [cell(words) for words in record]


def _delimiter(lines: list[str]) -> str:
    """Return the one with which most records have one number of fields, and more than one."""

    def score(delimiter: str) -> tuple[int, int]:
        try:
            sample = list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLE))
        except csv.Error:  # what is no delimiter may make one field of very much
            return 0, 0
        widths = [len(record) for record in sample if len(record) > 1]
        usual = max(set(widths), key=widths.count, default=0)
        return widths.count(usual), usual

    return max(DELIMITERS, key=score)
