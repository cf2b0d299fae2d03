"""Rows of tables with very many random keys: bodies in the order in which they came, and an index
of their keys in sorted runs (`runtime/stores/sqlite/sorted_runs.py`).

An empty row has no body: its number is 0. So a row that only says that it is there, as those of
mentions do, is a key and nothing else.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from contracts.graph import Partition
from runtime.stores.documents.port import INDEXES, Row, Table
from runtime.stores.documents.row_json import Body, encode
from runtime.stores.documents.sqlite.statements import (
    HERE,
    counted,
    decoded,
    partition_parameters,
)
from runtime.stores.sqlite import sorted_runs
from runtime.stores.sqlite.file import Parameters
from runtime.stores.sqlite.lists import among, json_list
from runtime.stores.sqlite.sorted_runs import SortedRuns

NAMES = ("mentions", "embeddings")
"""Tables whose keys are hashes, and that no index but that of their keys is asked."""

PARTITIONS = "partitions"
"""Table of the numbers of partitions."""

MOVED_TOGETHER = 2000
"""Rows of an older table that are moved in one transaction."""

EMPTY = "{}"

assert not any(INDEXES[name] for name in NAMES)

# The only names in SQL text are those of NAMES; every value is a parameter.
# ruff: noqa: S608


def schema_statements() -> dict[str, str]:
    """Return, by the name of a table, the statement that makes it where it is missing."""
    statements = {
        PARTITIONS: (
            f"CREATE TABLE IF NOT EXISTS {PARTITIONS} (number INTEGER PRIMARY KEY, "
            "workspace TEXT NOT NULL, generation INTEGER NOT NULL, UNIQUE (workspace, generation))"
        )
    }
    for name in NAMES:
        statements |= SortedRuns(name).statements()
        statements[_bodies(name)] = (
            f"CREATE TABLE IF NOT EXISTS {_bodies(name)} "
            "(number INTEGER PRIMARY KEY, body NOT NULL)"
        )
    return statements


def records(
    connection: sqlite3.Connection, table: Table, keys: Collection[str]
) -> list[tuple[str, Body]]:
    """Return keys and bodies of the rows that exist among `keys`."""
    return _with_bodies(connection, table, _numbers(connection, table, keys))


def existing_keys(
    connection: sqlite3.Connection, table: Table, keys: Collection[str]
) -> Collection[str]:
    """Return those of `keys` that have a row."""
    return _numbers(connection, table, keys)


def upsert(connection: sqlite3.Connection, table: Table, rows: Sequence[Parameters]) -> None:
    """Replace or add rows."""
    bodies: dict[str, Body] = {key: body for _, _, key, body in rows}
    _write(connection, table, bodies, _numbers(connection, table, bodies))


def count_up(
    connection: sqlite3.Connection,
    table: Table,
    notes: Mapping[str, str],
    rows: Sequence[Parameters],
) -> dict[str, Row]:
    """Write the rows, then the counters; return these. All keys are looked for once."""
    bodies: dict[str, Body] = {key: body for _, _, key, body in rows}
    stored_numbers = _numbers(connection, table, [*bodies, *notes])
    numbers = {key: stored_numbers[key] for key in notes if key in stored_numbers}
    counters = counted(dict(decoded(_with_bodies(connection, table, numbers))), notes)
    bodies |= {key: encode(key, row) for key, row in counters.items()}
    _write(connection, table, bodies, stored_numbers)
    return counters


def delete(connection: sqlite3.Connection, table: Table, keys: Collection[str]) -> None:
    """Delete the rows under these keys, if there are any."""
    space = _space(connection, table)
    numbers = sorted_runs.remove(connection, SortedRuns(table.name), space, keys)
    _delete_bodies(connection, table, numbers)


def drop_some(connection: sqlite3.Connection, table: Table, limit: int) -> int:
    """Delete up to `limit` rows of the partition, and return how many; 0 when none is left."""
    space = _space(connection, table)
    numbers = sorted_runs.remove_some(connection, SortedRuns(table.name), space, limit)
    _delete_bodies(connection, table, numbers)
    return len(numbers)


def page(
    connection: sqlite3.Connection, table: Table, after: str, limit: int
) -> list[tuple[str, Body]]:
    """Return up to `limit` rows with keys greater than `after`, by key."""
    space = _space(connection, table)
    numbers = sorted_runs.page(connection, SortedRuns(table.name), space, after, limit)
    return _with_bodies(connection, table, dict(numbers))


def under(
    connection: sqlite3.Connection, table: Table, prefixes: Collection[str]
) -> list[tuple[str, Body]]:
    """Return the rows whose keys begin with one of `prefixes` and are longer."""
    space = _space(connection, table)
    numbers = sorted_runs.under(connection, SortedRuns(table.name), space, prefixes)
    return _with_bodies(connection, table, numbers)


def partitions(connection: sqlite3.Connection, name: str) -> set[Partition]:
    """Return every partition with a row."""
    sql = f"SELECT number, workspace, generation FROM {PARTITIONS}"
    index = SortedRuns(name)
    return {
        Partition(workspace, generation)
        for space, workspace, generation in connection.execute(sql).fetchall()
        if sorted_runs.has_keys(connection, index, space)
    }


def move_older(connection: sqlite3.Connection, name: str) -> bool:
    """Move some rows of the table that this one was before schema 7; return whether one is left."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone():
        return False
    sql = f"SELECT workspace, generation FROM {name} LIMIT 1"
    partition = connection.execute(sql).fetchone()
    if partition is None:
        connection.execute(f"DROP TABLE {name}")
        return False
    sql = (
        f"SELECT workspace, generation, key, body FROM {name} WHERE {HERE} "
        f"ORDER BY key LIMIT {MOVED_TOGETHER}"
    )
    rows = connection.execute(sql, partition).fetchall()
    upsert(connection, Table(name, Partition(*partition)), rows)
    connection.execute(f"DELETE FROM {name} WHERE {HERE} AND key <= ?", (*partition, rows[-1][2]))
    return True


def _write(
    connection: sqlite3.Connection,
    table: Table,
    bodies: Mapping[str, Body],
    stored_numbers: Mapping[str, int],
) -> None:
    """Write rows, of which those with a number are there already."""
    (greatest,) = connection.execute(f"SELECT max(number) FROM {_bodies(table.name)}").fetchone()
    next_number = (greatest or 0) + 1
    new_keys: dict[str, int] = {}
    changes: list[tuple[Body, int, Body]] = []
    for key, body in bodies.items():
        number = stored_numbers.get(key)
        if number:
            changes.append((body, number, body))
        elif body != EMPTY:
            new_keys[key] = next_number
            next_number += 1
        elif number is None:
            new_keys[key] = 0
    connection.executemany(
        f"INSERT INTO {_bodies(table.name)} VALUES (?, ?)",
        [(number, bodies[key]) for key, number in new_keys.items() if number],
    )
    sql = f"UPDATE {_bodies(table.name)} SET body = ? WHERE number = ? AND body != ?"
    connection.executemany(sql, changes)
    space = _space(connection, table, make=True)
    index = SortedRuns(table.name)
    # Rows that were empty and are no more: their keys get other numbers.
    sorted_runs.remove(connection, index, space, new_keys.keys() & stored_numbers.keys())
    sorted_runs.add(connection, index, space, new_keys)


def _numbers(connection: sqlite3.Connection, table: Table, keys: Collection[str]) -> dict[str, int]:
    space = _space(connection, table)
    return sorted_runs.find(connection, SortedRuns(table.name), space, keys)


def _with_bodies(
    connection: sqlite3.Connection, table: Table, numbers: Mapping[str, int]
) -> list[tuple[str, Body]]:
    """Return keys and bodies of rows with these numbers, in their order."""
    sql = f"SELECT number, body FROM {_bodies(table.name)} WHERE {among('number')}"
    wanted = sorted(number for number in numbers.values() if number)
    bodies: dict[int, Body] = {0: EMPTY}
    if wanted:
        bodies |= dict(connection.execute(sql, (json_list(wanted),)))
    return [(key, bodies[number]) for key, number in numbers.items()]


def _delete_bodies(connection: sqlite3.Connection, table: Table, numbers: Sequence[int]) -> None:
    sql = f"DELETE FROM {_bodies(table.name)} WHERE {among('number')}"
    connection.execute(sql, (json_list(numbers),))


def _space(connection: sqlite3.Connection, table: Table, *, make: bool = False) -> int:
    """Return the number of the partition; 0, which none has, where it is not there."""
    sql = f"SELECT number FROM {PARTITIONS} WHERE {HERE}"
    parameters = partition_parameters(table)
    if record := connection.execute(sql, parameters).fetchone():
        return record[0]
    if not make:
        return 0
    sql = f"INSERT INTO {PARTITIONS} (workspace, generation) VALUES (?, ?) RETURNING number"
    return connection.execute(sql, parameters).fetchall()[0][0]


def _bodies(name: str) -> str:
    return f"{name}_bodies"
