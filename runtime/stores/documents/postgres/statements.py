"""The SQL of the document store on PostgreSQL.

The only names in SQL text are those of INDEXES, which `indexed_fields` has checked, and the schema;
every value is a parameter. An index of texts holds their beginnings, because a key of an index has
2,700 bytes at most; it is in the order that `find` asks for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from runtime.stores.documents.port import (
    INDEXES,
    Condition,
    Containing,
    NoneOf,
    Row,
    Table,
    Value,
    Where,
)
from runtime.stores.documents.row_json import (
    decode,
    encode,
    indexed_fields,
    indexed_values,
    whole_numbers,
)
from runtime.stores.texts import read_text, stored_text

HERE = "workspace = $1 AND generation = $2"
PREFIX = 400
"""Characters of a text that its index holds."""

Parameters = list[Any]

_TEXT = 'text COLLATE "C"'
"""Texts in the order of their characters, as every store has them."""


def schema_statements(schema: str) -> dict[str, str]:
    """Return, by the name of a table or an index, the statement that makes it."""
    statements: dict[str, str] = {}
    for name, fields in INDEXES.items():
        columns = "".join(
            f"{column_of(field)} {_TEXT if type_ is str else 'bigint'}, "
            for field, type_ in fields.items()
        )
        statements[name] = (
            f"CREATE TABLE {schema}.{name} (workspace {_TEXT} NOT NULL, "
            f"generation bigint NOT NULL, key {_TEXT} NOT NULL, "
            f"{columns}numbers jsonb NOT NULL, body text NOT NULL, blobs bytea, "
            "PRIMARY KEY (workspace, generation, key))"
        )
        for field, type_ in fields.items():
            statements[f"{name}_{field}"] = (
                f"{_added_column(f'{schema}.{name}', field, type_)}"
                f"CREATE INDEX {name}_{field} ON {schema}.{name} "
                f"(workspace, generation, {_in_index(name, field)} NULLS FIRST, key)"
            )
    return statements


def _added_column(table: str, field: str, type_: type[str] | type[int]) -> str:
    """Return the statements that give a table, which may be of before the field was indexed, its
    column with the numbers of its rows. Texts come with the next write of a row.
    """
    column = column_of(field)
    if type_ is str:
        return f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column} {_TEXT}; "
    return (
        f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column} bigint; "  # noqa: S608
        f"UPDATE {table} SET {column} = (numbers ->> '{field}')::bigint "
        f"WHERE {column} IS NULL AND numbers ->> '{field}' IS NOT NULL; "
    )


def column_of(field: str) -> str:
    """Return the column of an indexed field; the prefix keeps it apart from `key` and `body`."""
    return f"field_{field}"


def record_of(table: Table, key: str, row: Row) -> tuple[Any, ...]:
    """Return the values of a row's columns: key, indexed fields, numbers, body, bytes."""
    values = indexed_values(table, key, row)
    blobs = {name: value for name, value in row.items() if type(value) is bytes}
    plain_row = {name: value for name, value in row.items() if name not in blobs} if blobs else row
    body = encode(key, plain_row, compressed=False)
    return (
        key,
        *(stored_text(value) if isinstance(value, str) else value for value in values),
        orjson.dumps(whole_numbers(row)).decode(),
        body,
        encode(key, blobs) if blobs else None,
    )


def size_of(record: Sequence[Any]) -> int:
    """Return about how many bytes a row takes in a message."""
    return 200 + len(record[0]) + 2 * len(record[-2]) + len(record[-1] or b"")


def row_of(record: Mapping[str, Any]) -> Row:
    """Return the row in a record with its body and its bytes."""
    row = decode(record["body"])
    return row | decode(record["blobs"]) if record["blobs"] is not None else row


def put(schema: str, table: Table, guard: str = "") -> str:
    """Return the statement that writes rows, given by column; with a condition on those that are
    there.
    """
    fields = INDEXES[table.name]
    columns = ["key", *map(column_of, fields), "numbers", "body", "blobs"]
    types = ["text", *("text" if type_ is str else "bigint" for type_ in fields.values())]
    arrays = ", ".join(
        f"${place}::{type_}[]"
        for place, type_ in enumerate((*types, "text", "text", "bytea"), start=3)
    )
    selected = ", ".join(
        f"{column}::jsonb" if column == "numbers" else column for column in columns
    )
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
    names = ", ".join(columns)
    return (
        f"INSERT INTO {schema}.{table.name} AS stored (workspace, generation, {names}) "  # noqa: S608
        f"SELECT $1, $2, {selected} FROM unnest({arrays}) AS new_row ({names}) "
        f"ON CONFLICT (workspace, generation, key) DO UPDATE SET {changes} "
        "WHERE (stored.body, stored.blobs) IS DISTINCT FROM (excluded.body, excluded.blobs)"
        f"{guard}"
    )


def insert(schema: str, table: Table) -> str:
    """Return the statement that adds rows, given by column, and returns the keys of those that
    were not there.
    """
    statement = put(schema, table)
    return f"{statement.partition(' DO UPDATE ')[0]} DO NOTHING RETURNING key"


def not_older(place: int) -> str:
    """Return the condition that the stored number named by a parameter is not greater."""
    return (
        f" AND coalesce((stored.numbers ->> ${place})::bigint <= "
        f"(excluded.numbers ->> ${place})::bigint, true)"
    )


def columns_of(records: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the values of the rows by column, in the order of the keys."""
    ordered_records = sorted(records, key=lambda record: record[0])
    return [list(column) for column in zip(*ordered_records, strict=True)]


def select(schema: str, table: Table, columns: str = "key, body, blobs") -> str:
    """Return the beginning of a query of one partition."""
    indexed_fields(table.name)
    return f"SELECT {columns} FROM {schema}.{table.name} WHERE {HERE}"  # noqa: S608


def delete(schema: str, table: Table) -> str:
    """Return the beginning of a statement that deletes in one partition."""
    indexed_fields(table.name)
    return f"DELETE FROM {schema}.{table.name} WHERE {HERE}"  # noqa: S608


def delete_some(schema: str, table: Table) -> str:
    """Return the statement that deletes so many rows of a partition."""
    few_rows = f"{select(schema, table, 'ctid')} LIMIT $3"
    return f"{delete(schema, table)} AND ctid = ANY(ARRAY({few_rows}))"


def value_of(value: Value) -> Value:
    """Return the value of an indexed field as the row has it."""
    return read_text(value) if isinstance(value, str) else value


def shown_value(value: str | int) -> str:
    """Return the value of an indexed field as a count shows it."""
    return read_text(value) if isinstance(value, str) else str(value)


def where_clause(table: Table, where: Where, collation: str, parameters: Parameters) -> str:
    """Return the conditions of a query, and add their values to its parameters."""
    indexed_fields(table.name, *where)
    return "".join(
        f" AND {_condition(table.name, name, value, collation, parameters)}"
        for name, value in where.items()
    )


def order_of(table: Table, order: str, *, descending: bool) -> str:
    """Return the order of a query: rows without the field first, then by key."""
    indexed_fields(table.name, *filter(None, [order]))
    way = "DESC" if descending else "ASC"
    nulls = "LAST" if descending else "FIRST"
    names = [_in_index(table.name, order), column_of(order)] if order else []
    return " ORDER BY " + ", ".join(
        [*(f"{name} {way} NULLS {nulls}" for name in names), f"key {way}"]
    )


def partitions(schema: str, name: str) -> str:
    """Return the query of every partition with a row, found by leaps through the primary key."""
    of_table = f"SELECT workspace, generation FROM {schema}.{name}"  # noqa: S608
    first = "ORDER BY workspace, generation LIMIT 1"
    return (
        f"WITH RECURSIVE spaces AS (({of_table} {first}) UNION ALL SELECT beyond.* FROM spaces, "  # noqa: S608
        f"LATERAL ({of_table} WHERE (workspace, generation) > (spaces.workspace, "
        f"spaces.generation) {first}) beyond) SELECT workspace, generation FROM spaces"
    )


def _in_index(name: str, field: str) -> str:
    """Return what the index of a field holds of it."""
    column = column_of(field)
    return f"left({column}, {PREFIX})" if INDEXES[name][field] is str else column


def _condition(
    name: str, field: str, want: Condition, collation: str, parameters: Parameters
) -> str:
    column = column_of(field)
    if isinstance(want, Containing):
        parameters.append([stored_text(text.lower()) for text in want.texts])
        lowered = f'lower({column} COLLATE "{collation}")'
        return (
            f"EXISTS (SELECT 1 FROM unnest(${len(parameters)}::text[]) AS part "  # noqa: S608
            f"WHERE position(part IN {lowered}) > 0)"
        )
    if isinstance(want, NoneOf):
        parameters.append([stored_text(text) for text in want.values])
        return f"({column} = ANY(${len(parameters)}::text[])) IS NOT TRUE"
    type_ = INDEXES[name][field]
    fitting = [value for value in _listed(want) if type(value) is type_]
    if type_ is int:
        parameters.append(fitting)
        return f"{column} = ANY(${len(parameters)}::bigint[])"
    parameters.append([stored_text(value) for value in fitting if isinstance(value, str)])
    place = f"${len(parameters)}::text[]"
    beginnings = f"ARRAY(SELECT left(value, {PREFIX}) FROM unnest({place}) AS value)"  # noqa: S608
    return f"(left({column}, {PREFIX}) = ANY({beginnings}) AND {column} = ANY({place}))"


def _listed(want: str | int | list[str]) -> Sequence[str | int]:
    """Return the values that a field may have."""
    return want if isinstance(want, list) else [want]
