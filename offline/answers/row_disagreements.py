"""Whether rows of tables say different things of the same: the row has the same name, the tables
are about the same, and a column of the same name has another quantity.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from offline.answers.disagreements import Quantity, disagree, quantities_in, times_in
from offline.answers.quotable_sentences import Quotable
from offline.answers.relevance import terms
from offline.answers.table_subjects import is_told_by_subject, table_subject
from offline.language.languages import language_of

SHORT = 3
"""Words that a cell has at most which names something; longer ones are remarks."""

_PROPERTY = re.compile(
    r"(?:[-*+•·–]\s+)?[*_]{0,2}(?P<name>[^.:：;|]{1,60}?)[*_]{0,2}\s*[:：][*_]{0,2}\s*"
    r"(?P<value>[^;|]{1,80})$"
)
"""A property in a list or in a line of its own: `Weight: 3 kg`."""
_IDENTIFIER = re.compile(
    r"(?:no|nr|nummer|number|#|№|id|code|ref|reference|article|artikel|position|pos|page|seite"
    r"|version|edition|row|line|zeile|years?|months?|days?|date|time|quarter|weeks?|jahr|monat|tag"
    r"|datum|zeit|quartal|woche|année|mois|jour|date|año|mes|día|fecha|год|месяц|дата|年|月|日期"
    r"|编号)(?!\w)",
    re.IGNORECASE,
)
"""Columns that tell rows apart, whatever numbers they have."""
_SIGNS = re.compile(r"[*_`\[\]]")
_WORD = re.compile(r"\w+")
_DURATION = re.compile(
    r"second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr|jour|heure|semaine"
    r"|mois|ans?$|hora|día|semana|mes|año|секунд|минут|час|дн|день|недел|месяц|год|лет|天|周|月|年",
    re.IGNORECASE,
)
"""Units that may take the place of each other: nobody writes three months as six weeks."""

Cells = Sequence[tuple[str, str]]


def parts_disagree(
    first: Quotable, second: Quotable, first_file: str = "", second_file: str = ""
) -> bool:
    """Return whether the parts of documents, whose files have these names, seem to say different
    things of the same. Rows, and properties in lists, are compared only where the captions and
    headings above them say the same; sentences by their words.
    """
    rows = [part for part in map(_as_row, (first, second)) if part.cells]
    if rows:
        subject = table_subject(first, first_file)
        other_subject = table_subject(second, second_file)
        leaves_nothing_open = any(map(is_told_by_subject, rows))
        if not subject.may_be(other_subject, is_told_by_subject=leaves_nothing_open):
            return False
    if first.cells and second.cells:
        return _rows_disagree(first.cells, second.cells)
    return disagree(first.plain, second.plain)


def _as_row(part: Quotable) -> Quotable:
    """Return a property as a row of a table that has no names of columns; others as they are."""
    match = None if part.cells else _PROPERTY.match(part.plain)
    if not match:
        return part
    # The third cell: what it is about need not be told by the subject alone.
    return replace(part, cells=(("", match["name"]), ("", match["value"]), ("", "")))


def _rows_disagree(first: Cells, second: Cells) -> bool:
    name, other_name = first[0][1], second[0][1]
    columns = dict(_columns(first))
    other_columns = dict(_columns(second))
    shared_columns = [column for column in columns if column in other_columns]
    is_one_table = 2 * len(shared_columns) >= min(len(columns), len(other_columns))
    if _name(name) != _name(other_name) or not is_one_table:
        return False
    is_found = False
    for column in shared_columns:
        cell, other_cell = columns[column], other_columns[column]
        if _tells_apart(column, cell, other_cell, is_behind_value=is_found):
            return False
        is_found = is_found or _values_disagree(cell, other_cell)
    return is_found


def _columns(cells: Cells) -> Iterator[tuple[str, str]]:
    """Yield the cells behind the first one by the names of their columns, which has the unit."""
    for column, words in cells[1:]:
        yield " ".join(_WORD.findall(column.casefold())) + _unit_sign(column), words


def _unit_sign(column: str) -> str:
    return "".join(sign for sign in column if sign in "%€$£¥₽°")


def _name(words: str) -> tuple[str, ...]:
    """Return the name of a row without marks."""
    return tuple(_WORD.findall(_SIGNS.sub("", words).casefold()))


def _tells_apart(column: str, cell: str, other_cell: str, *, is_behind_value: bool) -> bool:
    """Return whether the cells of a column say that the rows are about different things."""
    if _name(cell) == _name(other_cell):
        return False
    if _IDENTIFIER.match(column) or times_in(cell) != times_in(other_cell):
        return True
    if quantities_in(cell) and quantities_in(other_cell):
        return False
    words = terms(cell, language_of(cell))
    other_words = terms(other_cell, language_of(other_cell))
    is_remark = max(len(words), len(other_words)) > SHORT
    return not is_remark and not (is_behind_value and words & other_words)


def _values_disagree(cell: str, other_cell: str) -> bool:
    """Return whether cells have other quantities of one unit, or other durations."""
    quantities = quantities_in(cell)
    other_quantities = quantities_in(other_cell)
    if not quantities or not other_quantities or quantities & other_quantities:
        return False
    return any(
        _are_comparable(quantity, other_quantity)
        for quantity in quantities
        for other_quantity in other_quantities
    )


def _are_comparable(quantity: Quantity, other_quantity: Quantity) -> bool:
    if quantity.unit == other_quantity.unit or not (quantity.unit and other_quantity.unit):
        return quantity.number != other_quantity.number
    return all(_DURATION.match(item.unit) is not None for item in (quantity, other_quantity))
