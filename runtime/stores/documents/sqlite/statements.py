"""The SQL of the document store: its schema, and what is read and written inside a transaction.

The only names in SQL text are those of INDEXES, which `indexed_fields` has checked; every value is
a parameter.
"""

import sqlite3  # noqa: I001
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any


from runtime.stores.documents.port import (
    INDEXES,
    OBSOLETE,
    SMALL,
    Row,
    Table,
)
from runtime.stores.documents.row_json import (
    checked_key,
    decode,
    encode,
    indexed_fields,
    indexed_values,
    with_note,
)
from runtime.stores.sqlite.file import Parameters
from runtime.stores.sqlite.lists import among, json_list


HERE = "workspace = ? AND generation = ?"
SMALLEST = -(2**63)


def schema_statements() -> dict[str, str]:
    """Return, by the name of a table or an index, the statement that makes it where it is missing.

    Fields have columns of their own and no declared type, so that SQLite converts nothing. An index
    ends with the key: equal values come out of it in the order that `find` asks for. Tables keep
    their rowid: WITHOUT ROWID is for rows far smaller than these, and made finding by an index four
    times slower. SMALL tables are of that kind.
    """
    statements: dict[str, str] = {}
    for name, fields in INDEXES.items():
        columns = "".join(f"{column_of(field)}, " for field in fields)
        key = "workspace TEXT NOT NULL, generation INTEGER NOT NULL, key TEXT NOT NULL"
        primary = "PRIMARY KEY (workspace, generation, key)"
        kind = " WITHOUT ROWID" if name in SMALL else ""
        statements[name] = (
            f"CREATE TABLE IF NOT EXISTS {name} ({key}, {columns}body TEXT NOT NULL, "
            f"{primary}){kind}"
        )
        for field in fields:
            covered_columns = f"workspace, generation, {column_of(field)}, key"
            statements[f"{name}_{field}"] = (
                f"CREATE INDEX IF NOT EXISTS {name}_{field} ON {name} ({covered_columns})"
            )
    return statements


def make_schema(connection: sqlite3.Connection) -> None:
    """Make the tables, columns and indexes that are missing, and drop obsolete tables. Runs in one
    transaction.
    """
    statements = schema_statements()
    for name, fields in INDEXES.items():
        connection.execute(statements.pop(name))
        _add_columns(connection, name, fields)
    for statement in statements.values():
        connection.execute(statement)
    for name in OBSOLETE:
        connection.execute(f"DROP TABLE IF EXISTS {name}")


def _add_columns(connection: sqlite3.Connection, name: str, fields: Collection[str]) -> None:
    """Add the columns of fields that were indexed only after the table was made, with the values of
    its rows.
    """
    present_columns = {column for _, column, *_ in connection.execute(f"PRAGMA table_info({name})")}
    for field in fields:
        column = column_of(field)
        if column not in present_columns:
            connection.execute(f"ALTER TABLE {name} ADD COLUMN {column}")
            connection.execute(
                f"UPDATE {name} SET {column} = json_extract(body, ?)",  # noqa: S608
                (f"$.{field}",),
            )


def column_of(field: str) -> str:
    """Return the column of an indexed field; the prefix keeps it apart from `key` and `body`."""
    return f"field_{field}"


def upsert(name: str, changed_fields: Collection[str]) -> str:
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
    """Return the query of rows by their keys."""
    indexed_fields(table.name)
    return f"SELECT {columns} FROM {table.name} WHERE {HERE} AND {among('key')}"  # noqa: S608


def select_rows(
    connection: sqlite3.Connection, table: Table, keys: Collection[str]
) -> dict[str, Row]:
    """Return the rows that exist among `keys`, inside a transaction."""
    parameters = (*partition_parameters(table), json_list(list(keys)))
    return dict(decoded(connection.execute(select(table), parameters).fetchall()))


def upsert_rows(
    connection: sqlite3.Connection, table: Table, records: Sequence[Parameters]
) -> None:
    """Replace or add rows, inside a transaction, in the order of their keys: neighbours stand on
    one page.
    """
    ordered_records = sorted(records, key=itemgetter(2))
    for changed_fields, alike in _by_changed_fields(connection, table, ordered_records).items():
        connection.executemany(upsert(table.name, changed_fields), alike)


def _by_changed_fields(
    connection: sqlite3.Connection, table: Table, records: Sequence[Parameters]
) -> dict[tuple[str, ...], list[Parameters]]:
    """Return the records by the indexed fields in which they differ from the rows that are stored;
    none if none is.
    """
    fields = indexed_fields(table.name)
    if not fields:
        return {(): list(records)}
    sql = select(table, ", ".join(("key", *map(column_of, fields))))
    keys = json_list([record[2] for record in records])
    stored_values = {
        key: values
        for key, *values in connection.execute(sql, (*partition_parameters(table), keys))
    }
    groups: dict[tuple[str, ...], list[Parameters]] = defaultdict(list)
    for record in records:
        before = stored_values.get(record[2], record[3:-1])
        changed_fields = (
            name
            for name, old_value, new_value in zip(fields, before, record[3:-1], strict=True)
            if old_value != new_value
        )
        groups[tuple(changed_fields)].append(record)
    return groups


def count_up(
    connection: sqlite3.Connection,
    table: Table,
    notes: Mapping[str, str],
    records: Sequence[Parameters],
) -> dict[str, Row]:
    """Write the rows, then the counters; return these."""
    stored_rows = select_rows(connection, table, [checked_key(key) for key in notes])
    counters = {key: with_note(stored_rows.get(key, {}), note) for key, note in notes.items()}
    upsert_rows(
        connection,
        table,
        [*records, *(record_of(table, key, row) for key, row in counters.items())],
    )
    return counters


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
