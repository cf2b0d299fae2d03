"""The tables of the document store in a SQLite file: made, brought to this schema, and which module
reads and writes each.
"""

import sqlite3
from collections.abc import Collection

from runtime.stores.documents.port import INDEXES, OBSOLETE, Value
from runtime.stores.documents.row_json import Body, decode
from runtime.stores.documents.sqlite import plain_rows, run_rows
from runtime.stores.documents.sqlite.statements import column_of


def rows_of(name: str):
    """Return the module with the functions for a table: both have the same."""
    return run_rows if name in run_rows.NAMES else plain_rows


def schema_statements() -> dict[str, str]:
    """Return, by the name of a table or an index, the statement that makes it where it is missing.

    Fields have columns of their own and no declared type, so that SQLite converts nothing. An index
    ends with the key: equal values come out of it in the order that `find` asks for. Tables keep
    their rowid: WITHOUT ROWID is for rows far smaller than these, and made finding by an index four
    times slower.
    """
    statements = run_rows.schema_statements()
    for name, fields in INDEXES.items():
        if name in run_rows.NAMES:
            continue
        columns = "".join(f"{column_of(field)}, " for field in fields)
        key = "workspace TEXT NOT NULL, generation INTEGER NOT NULL, key TEXT NOT NULL"
        primary = "PRIMARY KEY (workspace, generation, key)"
        statements[name] = (
            f"CREATE TABLE IF NOT EXISTS {name} ({key}, {columns}body TEXT NOT NULL, {primary})"
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
        if fields:
            connection.execute(statements.pop(name))
            _add_columns(connection, name, fields)
    for statement in statements.values():
        connection.execute(statement)
    for name in OBSOLETE:
        connection.execute(f"DROP TABLE IF EXISTS {name}")


def move_older_rows(connection: sqlite3.Connection) -> bool:
    """Move some rows of tables that were made in another way before schema 7; return whether more
    may be left.
    """
    return any(run_rows.move_older(connection, name) for name in run_rows.NAMES)


def _add_columns(connection: sqlite3.Connection, name: str, fields: Collection[str]) -> None:
    """Add the columns of fields that were indexed only after the table was made, with the values of
    its rows.
    """
    present_columns = {column for _, column, *_ in connection.execute(f"PRAGMA table_info({name})")}
    for field in fields:
        column = column_of(field)
        if column not in present_columns:
            connection.execute(f"ALTER TABLE {name} ADD COLUMN {column}")
            connection.create_function("lightstream_field", 2, _field, deterministic=True)
            connection.execute(
                f"UPDATE {name} SET {column} = lightstream_field(body, ?)",  # noqa: S608
                (field,),
            )


def _field(body: Body, field: str) -> Value:
    """Return a field of a row; SQLite itself reads no compressed one."""
    return decode(body).get(field)
