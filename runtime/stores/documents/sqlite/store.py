"""Rows in one SQLite file: the document store of a single machine, shared by all its services."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from contracts.graph import Partition
from runtime.batching import batched
from runtime.stores.documents import schema
from runtime.stores.documents.port import INDEXES, Row, Table
from runtime.stores.documents.row_json import (
    Where,
    checked_key,
    checked_swap,
    decode,
    encode,
    indexed_fields,
    indexed_values,
    version_field,
)
from runtime.stores.documents.sqlite.file import Parameters, SqliteFile

BATCH = 2000
"""Rows in one transaction: its cost is spread over many rows, yet other processes wait only milliseconds for it."""

# The only names in SQL text are those of INDEXES, which `indexed` has checked; every value is a parameter.
# ruff: noqa: S608

_HERE = "workspace = ? AND generation = ?"
_SMALLEST = -(2**63)


class SqliteRows:
    """`Rows` in the file `path`, made with its folder when missing.

    `timeout`: seconds that a write waits for the other processes, and as long for the other tasks of this one,
    before it raises `Unavailable`.
    """

    def __init__(self, path: Path, *, timeout: float = 10.0) -> None:
        self._file = SqliteFile(path, timeout=timeout)

    async def prepare(self) -> None:
        """Make the file, its tables and its indexes, and record the schema's version."""
        for statement in _schema().values():
            await self._file.write(statement)
        await schema.enter(self)

    async def missing(self) -> list[str]:
        """Return the tables and indexes that the file does not have. Makes an empty file where there is none."""
        existing = {name for (name,) in await self._file.read("SELECT name FROM sqlite_master")}
        return [f"{name} is not there" for name in _schema() if name not in existing]

    async def ping(self) -> None:
        """Read the file."""
        await self._file.read("SELECT count(*) FROM sqlite_master")

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`, some thousands a query."""
        indexed_fields(table.name)
        sql = f"SELECT key, body FROM {table.name} WHERE {_HERE} AND {_among('key')}"
        rows: dict[str, Row] = {}
        for batch in batched(keys, BATCH):
            rows.update(_rows(await self._file.read(sql, (*_partition_parameters(table), _json(batch)))))
        return rows

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows, some thousands a transaction."""
        sql = _upsert(table.name)
        for batch in batched(rows.items(), BATCH):
            await self._file.write_all(sql, [_record(table, key, row) for key, row in batch])

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater."""
        sql = f"{_upsert(table.name)} WHERE coalesce(json_extract(body, '$.' || ?), {_SMALLEST}) <= ?"
        guards = {key: version_field(key, row, field) for key, row in rows.items()}
        for batch in batched(rows.items(), BATCH):
            await self._file.write_all(sql, [(*_record(table, key, row), field, guards[key]) for key, row in batch])

    async def swap(self, table: Table, key: str, expected: int | None, row: Row) -> bool:
        """Compare and set in one statement."""
        record = _record(table, key, checked_swap(key, expected, row))
        if expected is None:
            return bool(await self._file.write(f"{_insert(table.name)} DO NOTHING RETURNING 1", record))
        columns = ", ".join(f"{column} = ?" for column in _contents(table.name))
        same = f"{_HERE} AND key = ? AND json_extract(body, '$.rev') = ?"
        sql = f"UPDATE {table.name} SET {columns} WHERE {same} RETURNING 1"
        return bool(await self._file.write(sql, (*record[3:], *record[:3], expected)))

    async def increment(self, table: Table, keys: Collection[str]) -> dict[str, int]:
        """Count up, some thousands a transaction, then read."""
        more = "json_set(body, '$.n', coalesce(json_extract(body, '$.n'), 0) + 1)"
        sql = f"{_insert(table.name)} DO UPDATE SET body = {more}"
        counters = dict.fromkeys(map(checked_key, keys))
        for batch in batched(counters, BATCH):
            await self._file.write_all(sql, [_record(table, key, {"n": 1}) for key in batch])
        return {key: row["n"] for key, row in (await self.get(table, counters)).items()}

    async def find(
        self,
        table: Table,
        where: Where,
        *,
        order: str = "",
        descending: bool = False,
        skip: int = 0,
        limit: int = 0,
    ) -> list[tuple[str, Row]]:
        """Filter, sort and cut in the database. Rows without the field `order` come first."""
        indexed_fields(table.name, *where, *filter(None, [order]))
        condition, parameters = _condition(table, where)
        way = "DESC" if descending else "ASC"
        # Asked for any of some values by key, SQLite would walk the whole space in the order of its primary key rather
        # than look them up and sort the few it finds; the plus hides from it that the key is ordered already.
        last = "key" if order or not any(isinstance(value, list) for value in where.values()) else "+key"
        sorting = ", ".join(f"{column} {way}" for column in (*map(_column, filter(None, [order])), last))
        sql = f"SELECT key, body FROM {table.name} WHERE {condition} ORDER BY {sorting} LIMIT ? OFFSET ?"
        return list(_rows(await self._file.read(sql, (*parameters, limit or -1, skip))))

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Count by value; rows without the field are left out."""
        indexed_fields(table.name, by, *where)
        condition, parameters = _condition(table, where)
        column = _column(by)
        sql = f"SELECT {column}, count(*) FROM {table.name} WHERE {condition} AND {column} IS NOT NULL GROUP BY 1"
        return {str(value): number for value, number in await self._file.read(sql, parameters)}

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Remove these rows, some thousands a transaction."""
        indexed_fields(table.name)
        sql = f"DELETE FROM {table.name} WHERE {_HERE} AND {_among('key')}"
        for batch in batched(keys, BATCH):
            await self._file.write(sql, (*_partition_parameters(table), _json(batch)))

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        indexed_fields(table.name)
        sql = f"SELECT key, body FROM {table.name} WHERE {_HERE} AND key > ? ORDER BY key LIMIT ?"
        return list(_rows(await self._file.read(sql, (*_partition_parameters(table), after, max(limit, 0)))))

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row, found by leaps through the primary key: one short query each."""
        indexed_fields(name)
        sql = f"SELECT workspace, generation FROM {name} WHERE (workspace, generation) > (?, ?) ORDER BY 1, 2 LIMIT 1"
        partitions: set[Partition] = set()
        last: Parameters = ("", _SMALLEST)
        while rows := await self._file.read(sql, last):
            last = rows[0]
            partitions.add(Partition(*last))
        return partitions

    async def drop(self, table: Table) -> None:
        """Remove the rows batch by batch, so that other writers get their turn in between."""
        indexed_fields(table.name)
        some = f"SELECT rowid FROM {table.name} WHERE {_HERE} LIMIT {BATCH}"
        sql = f"DELETE FROM {table.name} WHERE rowid IN ({some}) RETURNING 1"
        while await self._file.write(sql, _partition_parameters(table)):
            pass

    async def close(self) -> None:
        """Close the file."""
        await self._file.close()


def _schema() -> dict[str, str]:
    """Return, by the name of a table or an index, the statement that makes it where it is missing.

    Fields have columns of their own and no declared type, so that SQLite converts nothing. An index ends with the
    key: equal values come out of it in the order that `find` asks for. Tables keep their rowid: WITHOUT ROWID is
    for rows far smaller than these, and made finding by an index four times slower.
    """
    statements: dict[str, str] = {}
    for name, fields in INDEXES.items():
        columns = "".join(f"{_column(field)}, " for field in fields)
        key = "workspace TEXT NOT NULL, generation INTEGER NOT NULL, key TEXT NOT NULL"
        primary = "PRIMARY KEY (workspace, generation, key)"
        statements[name] = f"CREATE TABLE IF NOT EXISTS {name} ({key}, {columns}body TEXT NOT NULL, {primary})"
        for field in fields:
            covered = f"workspace, generation, {_column(field)}, key"
            statements[f"{name}_{field}"] = f"CREATE INDEX IF NOT EXISTS {name}_{field} ON {name} ({covered})"
    return statements


def _column(field: str) -> str:
    """Return the column of an indexed field; the prefix keeps it apart from `key` and `body`."""
    return f"field_{field}"


def _contents(name: str) -> tuple[str, ...]:
    """Return the columns of a table that are not its key."""
    return (*map(_column, indexed_fields(name)), "body")


def _insert(name: str) -> str:
    """Return an INSERT statement up to ON CONFLICT; the caller adds what to do then."""
    columns = ("workspace", "generation", "key", *_contents(name))
    marks = ", ".join("?" for _ in columns)
    return f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT (workspace, generation, key)"


def _upsert(name: str) -> str:
    """Return an INSERT statement that replaces an existing row."""
    return f"{_insert(name)} DO UPDATE SET " + ", ".join(f"{column} = excluded.{column}" for column in _contents(name))


def _partition_parameters(table: Table) -> tuple[str, int]:
    """Return the parameters of `_HERE`."""
    return table.partition.workspace, table.partition.generation


def _record(table: Table, key: str, row: Row) -> Parameters:
    """Return the parameters of an INSERT."""
    indexed_fields(table.name)
    return (*_partition_parameters(table), key, *indexed_values(table, key, row), encode(key, row))


def _among(column: str) -> str:
    """Return the condition that a column has one of a JSON list's values, which may exceed the limit on parameters."""
    return f"{column} IN (SELECT value FROM json_each(?))"


def _json(items: Sequence[str]) -> str:
    """Return the values as a JSON list."""
    return orjson.dumps(items).decode()


def _condition(table: Table, where: Where) -> tuple[str, Parameters]:
    """Return the condition of a query and its parameters."""
    lists = {name: isinstance(value, list) for name, value in where.items()}
    parts = [_among(_column(name)) if lists[name] else f"{_column(name)} = ?" for name in where]
    values = [_json(value) if isinstance(value, list) else value for value in where.values()]
    return " AND ".join((_HERE, *parts)), (*_partition_parameters(table), *values)


def _rows(records: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Row]]:
    """Return keys and decoded rows from pairs of key and body."""
    return ((key, decode(body)) for key, body in records)
