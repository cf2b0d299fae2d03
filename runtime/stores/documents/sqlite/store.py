"""Rows in one SQLite file: the document store of a single machine, shared by all its services."""

import sqlite3
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from contracts.graph import Partition
from runtime.batching import batched
from runtime.stores.documents import schema
from runtime.stores.documents.port import Change, Parser, Row, Table, Value, Where
from runtime.stores.documents.row_json import Body, indexed_fields, version_field
from runtime.stores.documents.sqlite import run_rows
from runtime.stores.documents.sqlite.conditions import (
    FEW,
    group_of,
    looked_up,
    order_clause,
    where_clause,
)
from runtime.stores.documents.sqlite.statements import column_of, decoded, record_of
from runtime.stores.documents.sqlite.tables import (
    make_schema,
    move_older_rows,
    rows_of,
    schema_statements,
)
from runtime.stores.sqlite.file import Parameters, SqliteFile
from runtime.stores.sqlite.lists import json_list

BATCH = 2000
"""Rows in one transaction: its cost is spread over many rows, yet other processes wait only
milliseconds for it.
"""

MOST = 20_000
"""Small rows in one transaction: counters and what they count stand on the same pages, which are
written once.
"""

# The only names in SQL text are those of INDEXES, which `indexed_fields` has checked; every value
# is a parameter. ruff: noqa: S608


T = TypeVar("T")


class SqliteRows:
    """`Rows` in the file `path`, made with its folder when missing.

    `timeout`: seconds that a write waits for the other processes, and as long for the other tasks
    of this one, before it raises `Unavailable`.
    """

    def __init__(self, path: Path, *, timeout: float = 10.0) -> None:
        self._file = SqliteFile(path, timeout=timeout)

    async def prepare(self) -> None:
        """Make the file, its tables and its indexes, and record the schema's version."""
        # Before anything of a newer program is touched; its version is a row, which needs its
        # table.
        version_table = schema_statements()[schema.TABLE.name]
        await self._file.transact(lambda connection: connection.execute(version_table))
        await schema.refuse_newer(self)
        await self._file.transact(make_schema)
        # The version first: an older program would take a half of the rows for all.
        await schema.enter(self)
        while await self._file.transact(move_older_rows):
            pass

    async def missing(self) -> list[str]:
        """Return the tables and indexes that the file does not have. Makes an empty file where
        there is none.
        """
        existing = {name for (name,) in await self._file.read("SELECT name FROM sqlite_master")}
        return [f"{name} is not there" for name in schema_statements() if name not in existing]

    async def ping(self) -> None:
        """Read the file."""
        await self._file.read("SELECT count(*) FROM sqlite_master")

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`, some thousands a query."""
        return dict(decoded(await self._records(table, keys)))

    async def get_parsed(
        self, table: Table, keys: Collection[str], parser: Parser[T]
    ) -> dict[str, T]:
        """Return what the parser makes of rows."""
        return {key: parser.of(body) for key, body in await self._records(table, keys)}

    async def _records(self, table: Table, keys: Collection[str]) -> list[tuple[str, Body]]:
        """Return the keys and bodies of the rows that exist among `keys`."""
        indexed_fields(table.name)
        read = rows_of(table.name).records
        records: list[tuple[str, Body]] = []
        for batch in batched(keys, BATCH):
            records += await self._file.query(partial(read, table=table, keys=batch))
        return records

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that have a row, some thousands a query."""
        indexed_fields(table.name)
        read = rows_of(table.name).existing_keys
        existing_keys: set[str] = set()
        for batch in batched(keys, BATCH):
            existing_keys.update(await self._file.query(partial(read, table=table, keys=batch)))
        return existing_keys

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows, some thousands a transaction."""
        for batch in batched(rows.items(), BATCH):
            records = [record_of(table, key, row) for key, row in batch]
            write = rows_of(table.name).upsert
            await self._file.transact(partial(write, table=table, rows=records))

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater."""
        guards = {key: version_field(key, row, field) for key, row in rows.items()}
        for batch in batched(rows.items(), BATCH):
            records = {key: record_of(table, key, row) for key, row in batch}

            def write(
                connection: sqlite3.Connection, records: Mapping[str, Parameters] = records
            ) -> None:
                stored_rows = _stored_rows(connection, table, records)
                versions = {key: row.get(field) for key, row in stored_rows.items()}
                greater = {
                    key
                    for key, version in versions.items()
                    if version is not None and version > guards[key]
                }
                newer = [record for key, record in records.items() if key not in greater]
                rows_of(table.name).upsert(connection, table, newer)

            await self._file.transact(write)

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        """Read, change and write in one transaction."""

        def write(connection: sqlite3.Connection) -> dict[str, Row]:
            rows = dict(change(_stored_rows(connection, table, keys)))
            records = [record_of(table, key, row) for key, row in rows.items()]
            rows_of(table.name).upsert(connection, table, records)
            return rows

        return await self._file.transact(write) if keys else {}

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Store and count in one transaction, or in several where there are very many rows."""
        if not notes and not rows:
            return {}
        *first, last_batch = list(batched(rows.items(), MOST)) or [[]]
        for batch in first:
            await self.put(table, dict(batch))
        records = [record_of(table, key, row) for key, row in last_batch]
        count = partial(rows_of(table.name).count_up, table=table, notes=notes, rows=records)
        return await self._file.transact(count)

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
        if table.name in run_rows.NAMES:
            return await self._all_rows(table, descending=descending, skip=skip, limit=limit)
        condition, parameters = where_clause(table, where)
        names = looked_up(where)
        # With a condition on the field of the order itself, one index serves both.
        needs_sorting = bool(order and names) and order not in names
        sorts = needs_sorting and (not limit or await self._are_few(table, condition, parameters))
        sorting = order_clause(order, where, descending=descending, sorts=sorts)
        sql = (
            f"SELECT key, body FROM {table.name} WHERE {condition} ORDER BY {sorting} LIMIT ? "  # noqa: S608
            "OFFSET ?"
        )
        return list(decoded(await self._file.read(sql, (*parameters, limit or -1, skip))))

    async def _all_rows(
        self, table: Table, *, descending: bool, skip: int, limit: int
    ) -> list[tuple[str, Row]]:
        """Return rows of a table without fields, by key."""
        read = partial(run_rows.page, table=table, after="", limit=sys.maxsize)
        records = await self._file.query(read)
        ordered_records = records[::-1] if descending else records
        return list(decoded(ordered_records[skip : skip + limit if limit else None]))

    async def _are_few(self, table: Table, condition: str, parameters: Parameters) -> bool:
        sql = f"SELECT 1 FROM {table.name} WHERE {condition} LIMIT 1 OFFSET {FEW}"  # noqa: S608
        return not await self._file.read(sql, parameters)

    async def values(
        self, table: Table, field: str, where: Where, keys: Collection[str] | None = None
    ) -> dict[str, Value]:
        """Read the index of the field, or rows by their keys, some thousands a query."""
        indexed_fields(table.name, field, *where)
        condition, parameters = where_clause(table, where)
        select = f"SELECT key, {column_of(field)} FROM"
        if keys is None:
            sql = f"{select} {table.name} WHERE {condition}"
            return dict(await self._file.read(sql, parameters))
        # CROSS JOIN: SQLite would rather read all of an index that has both columns.
        wanted_keys = "(SELECT value AS wanted_key FROM json_each(?))"
        sql = (
            f"{select} {wanted_keys} CROSS JOIN {table.name} WHERE {condition} AND key = wanted_key"
        )
        values: dict[str, Value] = {}
        for batch in batched(keys, BATCH):
            values.update(await self._file.read(sql, (json_list(list(batch)), *parameters)))
        return values

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Count by value; rows without the field are left out."""
        indexed_fields(table.name, by, *where)
        condition, parameters = where_clause(table, where)
        group = group_of(by, where)
        sql = (
            f"SELECT {group}, count(*) FROM {table.name} WHERE {condition} AND {group} IS NOT "  # noqa: S608
            "NULL GROUP BY 1"
        )
        return {str(value): number for value, number in await self._file.read(sql, parameters)}

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Remove these rows, some thousands a transaction."""
        indexed_fields(table.name)
        remove = rows_of(table.name).delete
        for batch in batched(keys, BATCH):
            await self._file.transact(partial(remove, table=table, keys=batch))

    async def delete_older(
        self, table: Table, keys: Collection[str], field: str, version: int
    ) -> None:
        """Look and remove in one transaction, some thousands of rows in each."""

        def remove(connection: sqlite3.Connection, batch: Sequence[str]) -> None:
            stored_rows = _stored_rows(connection, table, batch)
            older_keys = [key for key, row in stored_rows.items() if row[field] < version]
            rows_of(table.name).delete(connection, table, older_keys)

        for batch in batched(keys, BATCH):
            await self._file.transact(partial(remove, batch=batch))

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        indexed_fields(table.name)
        read = partial(rows_of(table.name).page, table=table, after=after, limit=max(limit, 0))
        return list(decoded(await self._file.query(read)))

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        """Read one range of keys after the other."""
        indexed_fields(table.name)
        if not prefixes:
            return []
        read = partial(rows_of(table.name).under, table=table, prefixes=prefixes)
        return list(decoded(await self._file.query(read)))

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row."""
        indexed_fields(name)
        return await self._file.query(partial(rows_of(name).partitions, name=name))

    async def drop(self, table: Table) -> None:
        """Remove the rows batch by batch, so that other writers get their turn in between."""
        indexed_fields(table.name)
        drop = partial(rows_of(table.name).drop_some, table=table, limit=BATCH)
        while await self._file.transact(drop):
            pass

    async def close(self) -> None:
        """Close the file."""
        await self._file.close()


def _stored_rows(
    connection: sqlite3.Connection, table: Table, keys: Collection[str]
) -> dict[str, Row]:
    """Return the rows that exist among `keys`, inside a transaction."""
    indexed_fields(table.name)
    return dict(decoded(rows_of(table.name).records(connection, table, keys)))
