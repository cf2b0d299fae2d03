"""Rows in one SQLite file: the document store of a single machine, shared by all its services."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from contracts.graph import Partition
from runtime.batching import batched
from runtime.stores.documents import schema
from runtime.stores.documents.port import Change, Parser, Row, Table, Where
from runtime.stores.documents.row_json import indexed_fields, version_field
from runtime.stores.documents.sqlite.conditions import (
    FEW,
    group_of,
    looked_up,
    order_clause,
    where_clause,
)
from runtime.stores.documents.sqlite.statements import (
    HERE,
    SMALLEST,
    count_up,
    decoded,
    make_schema,
    partition_parameters,
    record_of,
    schema_statements,
    select,
    select_rows,
    upsert_rows,
)
from runtime.stores.sqlite.file import Parameters, SqliteFile
from runtime.stores.sqlite.lists import among, json_list

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
        await schema.enter(self)

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

    async def _records(self, table: Table, keys: Collection[str]) -> list[Parameters]:
        """Return the keys and bodies of the rows that exist among `keys`."""
        records: list[Parameters] = []
        for batch in batched(keys, BATCH):
            parameters = (*partition_parameters(table), json_list(batch))
            records += await self._file.read(select(table), parameters)
        return records

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that have a row, some thousands a query."""
        existing_keys: set[str] = set()
        for batch in batched(keys, BATCH):
            parameters = (*partition_parameters(table), json_list(batch))
            existing_keys.update(
                key for (key,) in await self._file.read(select(table, "key"), parameters)
            )
        return existing_keys

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows, some thousands a transaction."""
        for batch in batched(rows.items(), BATCH):
            records = [record_of(table, key, row) for key, row in batch]
            await self._file.transact(partial(upsert_rows, table=table, records=records))

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater."""
        guards = {key: version_field(key, row, field) for key, row in rows.items()}
        for batch in batched(rows.items(), BATCH):
            records = {key: record_of(table, key, row) for key, row in batch}

            def write(
                connection: sqlite3.Connection, records: Mapping[str, Parameters] = records
            ) -> None:
                stored_rows = select_rows(connection, table, records)
                versions = {key: row.get(field) for key, row in stored_rows.items()}
                greater = {
                    key
                    for key, version in versions.items()
                    if version is not None and version > guards[key]
                }
                upsert_rows(
                    connection,
                    table,
                    [record for key, record in records.items() if key not in greater],
                )

            await self._file.transact(write)

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        """Read, change and write in one transaction."""

        def write(connection: sqlite3.Connection) -> dict[str, Row]:
            rows = dict(change(select_rows(connection, table, keys)))
            upsert_rows(
                connection, table, [record_of(table, key, row) for key, row in rows.items()]
            )
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
        return await self._file.transact(
            partial(count_up, table=table, notes=notes, records=records)
        )

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

    async def _are_few(self, table: Table, condition: str, parameters: Parameters) -> bool:
        sql = f"SELECT 1 FROM {table.name} WHERE {condition} LIMIT 1 OFFSET {FEW}"  # noqa: S608
        return not await self._file.read(sql, parameters)

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
        sql = f"DELETE FROM {table.name} WHERE {HERE} AND {among('key')}"  # noqa: S608
        for batch in batched(keys, BATCH):
            parameters = (*partition_parameters(table), json_list(batch))
            await self._file.transact(
                lambda connection, batch_parameters=parameters: connection.execute(
                    sql, batch_parameters
                )
            )

    async def delete_older(
        self, table: Table, keys: Collection[str], field: str, version: int
    ) -> None:
        """Look and remove in one transaction, some thousands of rows in each."""
        indexed_fields(table.name)
        sql = f"DELETE FROM {table.name} WHERE {HERE} AND {among('key')}"  # noqa: S608

        def remove(connection: sqlite3.Connection, batch: Sequence[str]) -> None:
            stored_rows = select_rows(connection, table, batch)
            older_keys = [key for key, row in stored_rows.items() if row[field] < version]
            connection.execute(sql, (*partition_parameters(table), json_list(older_keys)))

        for batch in batched(keys, BATCH):
            await self._file.transact(partial(remove, batch=batch))

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        indexed_fields(table.name)
        sql = f"SELECT key, body FROM {table.name} WHERE {HERE} AND key > ? ORDER BY key LIMIT ?"  # noqa: S608
        return list(
            decoded(
                await self._file.read(sql, (*partition_parameters(table), after, max(limit, 0)))
            )
        )

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        """Read one range of the primary key after the other."""
        indexed_fields(table.name)
        # "~" is the last character of a key, so nothing stands between the prefix with ~ and with
        # the one after it.
        beyond = "it.key > prefix.value AND it.key < prefix.value || char(127)"
        sql = (
            f"SELECT it.key, it.body FROM json_each(?) AS prefix CROSS JOIN {table.name} AS it"  # noqa: S608
            f" WHERE it.workspace = ? AND it.generation = ? AND {beyond}"
        )
        if not prefixes:
            return []
        return list(
            decoded(
                await self._file.read(
                    sql, (json_list(list(prefixes)), *partition_parameters(table))
                )
            )
        )

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row, found by leaps through the primary key: one short
        query each.
        """
        indexed_fields(name)
        sql = (
            f"SELECT workspace, generation FROM {name} WHERE (workspace, generation) > (?, ?) "  # noqa: S608
            "ORDER BY 1, 2 LIMIT 1"
        )
        partitions: set[Partition] = set()
        last_partition: Parameters = ("", SMALLEST)
        while rows := await self._file.read(sql, last_partition):
            last_partition = rows[0]
            partitions.add(Partition(*last_partition))
        return partitions

    async def drop(self, table: Table) -> None:
        """Remove the rows batch by batch, so that other writers get their turn in between."""
        indexed_fields(table.name)
        keys_of_batch = f"SELECT key FROM {table.name} WHERE {HERE} LIMIT {BATCH}"  # noqa: S608
        sql = f"DELETE FROM {table.name} WHERE {HERE} AND key IN ({keys_of_batch})"  # noqa: S608
        here = partition_parameters(table)
        while await self._file.transact(
            lambda connection: connection.execute(sql, (*here, *here)).rowcount
        ):
            pass

    async def close(self) -> None:
        """Close the file."""
        await self._file.close()
