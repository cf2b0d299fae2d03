"""Rows of most tables: a table of SQLite each, with its index of keys and those of its fields.

The only names in SQL text are those of INDEXES, which `indexed_fields` has checked; every value is
a parameter.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter

from contracts.graph import Partition
from runtime.stores.documents.port import Row, Table
from runtime.stores.documents.row_json import Body, indexed_fields
from runtime.stores.documents.sqlite.statements import (
    HERE,
    SMALLEST,
    column_of,
    counted,
    decoded,
    partition_parameters,
    record_of,
    select,
    upsert_statement,
)
from runtime.stores.sqlite.file import Parameters
from runtime.stores.sqlite.lists import among, json_list

# ruff: noqa: S608


def records(
    connection: sqlite3.Connection, table: Table, keys: Collection[str]
) -> list[tuple[str, Body]]:
    """Return keys and bodies of the rows that exist among `keys`."""
    parameters = (*partition_parameters(table), json_list(list(keys)))
    return connection.execute(select(table), parameters).fetchall()


def existing_keys(
    connection: sqlite3.Connection, table: Table, keys: Collection[str]
) -> Collection[str]:
    """Return those of `keys` that have a row."""
    parameters = (*partition_parameters(table), json_list(list(keys)))
    return [key for (key,) in connection.execute(select(table, "key"), parameters)]


def upsert(connection: sqlite3.Connection, table: Table, rows: Sequence[Parameters]) -> None:
    """Replace or add rows, in the order of their keys: neighbours stand on one page."""
    ordered_rows = sorted(rows, key=itemgetter(2))
    for changed_fields, alike in _by_changed_fields(connection, table, ordered_rows).items():
        connection.executemany(upsert_statement(table.name, changed_fields), alike)


def count_up(
    connection: sqlite3.Connection,
    table: Table,
    notes: Mapping[str, str],
    rows: Sequence[Parameters],
) -> dict[str, Row]:
    """Write the rows, then the counters; return these."""
    counters = counted(dict(decoded(records(connection, table, notes))), notes)
    counter_rows = [record_of(table, key, row) for key, row in counters.items()]
    upsert(connection, table, [*rows, *counter_rows])
    return counters


def delete(connection: sqlite3.Connection, table: Table, keys: Collection[str]) -> None:
    """Delete the rows under these keys, if there are any."""
    sql = f"DELETE FROM {table.name} WHERE {HERE} AND {among('key')}"
    connection.execute(sql, (*partition_parameters(table), json_list(list(keys))))


def drop_some(connection: sqlite3.Connection, table: Table, limit: int) -> int:
    """Delete up to `limit` rows of the partition, and return how many; 0 when none is left."""
    keys = f"SELECT key FROM {table.name} WHERE {HERE} LIMIT ?"
    sql = f"DELETE FROM {table.name} WHERE {HERE} AND key IN ({keys})"
    here = partition_parameters(table)
    return connection.execute(sql, (*here, *here, limit)).rowcount


def page(
    connection: sqlite3.Connection, table: Table, after: str, limit: int
) -> list[tuple[str, Body]]:
    """Return up to `limit` rows with keys greater than `after`, by key."""
    sql = f"SELECT key, body FROM {table.name} WHERE {HERE} AND key > ? ORDER BY key LIMIT ?"
    return connection.execute(sql, (*partition_parameters(table), after, limit)).fetchall()


def under(
    connection: sqlite3.Connection, table: Table, prefixes: Collection[str]
) -> list[tuple[str, Body]]:
    """Return the rows whose keys begin with one of `prefixes` and are longer: one range of the
    primary key after the other.
    """
    # "~" is the last character of a key, so nothing stands between the prefix with ~ and with the
    # one after it.
    beyond = "it.key > prefix.value AND it.key < prefix.value || char(127)"
    sql = (
        f"SELECT it.key, it.body FROM json_each(?) AS prefix CROSS JOIN {table.name} AS it"
        f" WHERE it.workspace = ? AND it.generation = ? AND {beyond}"
    )
    parameters = (json_list(list(prefixes)), *partition_parameters(table))
    return connection.execute(sql, parameters).fetchall()


def partitions(connection: sqlite3.Connection, name: str) -> set[Partition]:
    """Return every partition with a row, found by leaps through the primary key: one short query
    each.
    """
    sql = (
        f"SELECT workspace, generation FROM {name} WHERE (workspace, generation) > (?, ?) "
        "ORDER BY 1, 2 LIMIT 1"
    )
    existing_partitions: set[Partition] = set()
    parameters: Parameters = ("", SMALLEST)
    while record := connection.execute(sql, parameters).fetchone():
        parameters = record
        existing_partitions.add(Partition(*record))
    return existing_partitions


def _by_changed_fields(
    connection: sqlite3.Connection, table: Table, rows: Sequence[Parameters]
) -> dict[tuple[str, ...], list[Parameters]]:
    """Return the rows by the indexed fields in which they differ from those that are stored; none
    if none is.
    """
    fields = indexed_fields(table.name)
    if not fields:
        return {(): list(rows)}
    sql = select(table, ", ".join(("key", *map(column_of, fields))))
    keys = json_list([row[2] for row in rows])
    stored_values = {
        key: values
        for key, *values in connection.execute(sql, (*partition_parameters(table), keys))
    }
    groups: dict[tuple[str, ...], list[Parameters]] = defaultdict(list)
    for row in rows:
        before = stored_values.get(row[2], row[3:-1])
        changed_fields = (
            name
            for name, old_value, new_value in zip(fields, before, row[3:-1], strict=True)
            if old_value != new_value
        )
        groups[tuple(changed_fields)].append(row)
    return groups
