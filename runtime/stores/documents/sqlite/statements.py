"""The SQL of the document store's tables, and the values that go into it and come out.

The only names in SQL text are those of INDEXES, which `indexed_fields` has checked; every value is
a parameter.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from runtime.stores.documents.port import Row, Table
from runtime.stores.documents.row_json import (
    checked_key,
    decode,
    encode,
    indexed_fields,
    indexed_values,
    with_note,
)
from runtime.stores.sqlite.file import Parameters
from runtime.stores.sqlite.lists import among

HERE = "workspace = ? AND generation = ?"
SMALLEST = -(2**63)


def column_of(field: str) -> str:
    """Return the column of an indexed field; the prefix keeps it apart from `key` and `body`."""
    return f"field_{field}"


def upsert_statement(name: str, changed_fields: Collection[str]) -> str:
    """Return an INSERT statement that replaces body and `changed_fields` fields of an existing row,
    unless it is the same.

    SQLite writes each index of a column that is set, even to the value it had.
    """
    columns = ("workspace", "generation", "key", *map(column_of, indexed_fields(name)), "body")
    placeholders = ", ".join("?" for _ in columns)
    changes = ", ".join(
        f"{column} = excluded.{column}" for column in (*map(column_of, changed_fields), "body")
    )
    return (
        f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({placeholders})"  # noqa: S608
        " ON CONFLICT (workspace, generation, key)"
        f" DO UPDATE SET {changes} WHERE body != excluded.body"
    )


def select(table: Table, columns: str = "key, body") -> str:
    """Return the query of rows by their keys.

    Left to itself, SQLite reads all of the partition where some other index has these columns.
    """
    indexed_fields(table.name)
    by_key = f"{table.name} INDEXED BY sqlite_autoindex_{table.name}_1"
    return f"SELECT {columns} FROM {by_key} WHERE {HERE} AND {among('key')}"  # noqa: S608


def partition_parameters(table: Table) -> tuple[str, int]:
    """Return the parameters of `HERE`."""
    return table.partition.workspace, table.partition.generation


def record_of(table: Table, key: str, row: Row) -> Parameters:
    """Return the parameters of an INSERT."""
    indexed_fields(table.name)
    return (*partition_parameters(table), key, *indexed_values(table, key, row), encode(key, row))


def decoded(records: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Row]]:
    """Return keys and decoded rows from pairs of key and body."""
    return ((key, decode(body)) for key, body in records)


def counted(stored_rows: Mapping[str, Row], notes: Mapping[str, str]) -> dict[str, Row]:
    """Return the counters of these keys, each one higher than it is stored, with its note."""
    return {
        key: with_note(stored_rows.get(checked_key(key), {}), note) for key, note in notes.items()
    }
