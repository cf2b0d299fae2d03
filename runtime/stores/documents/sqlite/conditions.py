"""The conditions and the order of a query, written so that SQLite takes the index that helps.

Without statistics, which a file that grows does not have, SQLite prefers an index that gives rows
in the wanted order to one that finds the few rows of a condition, and reads all others, too. A plus
before a column hides the column's index.
"""

from runtime.stores.documents.port import Containing, NoneOf, Table, Where
from runtime.stores.documents.sqlite.statements import HERE, column_of, partition_parameters
from runtime.stores.sqlite.file import LOWERED, Parameters
from runtime.stores.sqlite.lists import among, json_list

FEW_VALUES = frozenset({"status"})
"""Fields of few different values: rows are better looked up by any other."""

FEW = 2000
"""Rows that are rather sorted than found by reading others in their order."""


def looked_up(where: Where) -> frozenset[str]:
    """Return the fields by whose indexes the rows are found."""
    names = frozenset(
        name for name, want in where.items() if not isinstance(want, Containing | NoneOf)
    )
    return names - FEW_VALUES or names


def where_clause(table: Table, where: Where) -> tuple[str, Parameters]:
    """Return the condition of a query and its parameters."""
    names = looked_up(where)
    conditions = [
        _not_among(table, column_of(name), want)
        if isinstance(want, NoneOf)
        else _condition(column_of(name) if name in names else f"+{column_of(name)}", want)
        for name, want in where.items()
    ]
    return " AND ".join((HERE, *(sql for sql, _ in conditions))), (
        *partition_parameters(table),
        *(value for _, values in conditions for value in values),
    )


def group_of(by: str, where: Where) -> str:
    """Return the expression by which rows are counted."""
    return column_of(by) if by in (looked_up(where) or {by}) else f"+{column_of(by)}"


def order_clause(order: str, where: Where, *, descending: bool, sorts: bool) -> str:
    """Return by what rows are sorted. `sorts`: they are sorted, not read in their order."""
    way = "DESC" if descending else "ASC"
    if order:
        return f"{'+' if sorts else ''}{column_of(order)} {way}, key {way}"
    # Asked for any of some values by key, SQLite would walk the whole partition in the order of its
    # primary key, too.
    has_list = any(isinstance(want, list) for want in where.values())
    return f"{'+key' if has_list else 'key'} {way}"


def _not_among(table: Table, column: str, want: NoneOf) -> tuple[str, Parameters]:
    """Return the condition that a row is none of those that the index of a column finds: the others
    can then be read in any order without a look at their column.
    """
    keys = f"SELECT key FROM {table.name} WHERE {HERE} AND {among(column)}"  # noqa: S608
    return f"key NOT IN ({keys})", (*partition_parameters(table), json_list(want.values))


def _condition(column: str, want: str | int | list[str] | Containing) -> tuple[str, Parameters]:
    if isinstance(want, Containing):
        texts = json_list([text.lower() for text in want.texts])
        contains = f"instr({LOWERED}({column}), value) > 0"
        return f"EXISTS (SELECT 1 FROM json_each(?) WHERE {contains})", (texts,)  # noqa: S608
    if isinstance(want, list):
        return among(column), (json_list(want),)
    return f"{column} = ?", (want,)
