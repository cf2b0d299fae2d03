"""Rows in PostgreSQL: a table for each of INDEXES, in a schema of our own.

A row's columns are workspace, generation and key, its indexed fields, its whole numbers as JSON
(what the server compares), its body as JSON, and its bytes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from contracts.graph import Partition
from runtime.batching import batched, batched_by_bytes
from runtime.errors import Unavailable
from runtime.stores.documents import schema
from runtime.stores.documents.port import Change, Parser, Row, Table, Value, Where
from runtime.stores.documents.postgres import statements as sql
from runtime.stores.documents.row_json import (
    checked_key,
    indexed_fields,
    is_plain_name,
    version_field,
    with_note,
)
from runtime.stores.postgres.database import POOL_SIZE, Connection, Database

BATCH = 1000
"""Rows of one statement."""
BATCH_BYTES = 16 * 1024 * 1024
DROPPED_AT_ONCE = 5000
ROUNDS = 10
"""Tries of a change that meets rows which others add. Two suffice unless rows are deleted at the
same time.
"""

COLLATIONS = ("und-x-icu", "pg_c_utf8", "C.utf8", "C.UTF-8", "en_US.utf8", "en_US.UTF-8")
"""Rules by which letters of every alphabet have small ones, the best first; a server has some."""


T = TypeVar("T")


class PostgresRows:
    """`Rows` in one PostgreSQL database. `timeout`: seconds for one call with all its retries."""

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE, timeout: float = 30.0) -> None:
        self._database = Database(url, pool_size=pool_size, timeout=timeout)
        self._schema = self._database.schema
        self._collation = ""

    async def prepare(self) -> None:
        """Make tables and indexes, and record the schema's version."""
        statements = sql.schema_statements(self._schema)
        first = schema.TABLE.name
        await self._database.declare({first: statements[first]})
        await schema.refuse_newer(self)
        await self._database.declare(statements)
        await schema.enter(self)

    async def missing(self) -> list[str]:
        """Return the tables and indexes that the database does not have."""
        names = await self._database.missing(sql.schema_statements(self._schema))
        return [f"{name} is not there" for name in names]

    async def ping(self) -> None:
        """Ask the server for nothing of ours."""
        await self._database.ping()

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`, a thousand a statement."""
        query = f"{sql.select(self._schema, table)} AND key = ANY($3::text[])"
        rows: dict[str, Row] = {}
        for batch in batched(_storable(keys), BATCH):
            records = await self._database.fetch(query, *_here(table), batch)
            rows.update({record["key"]: sql.row_of(record) for record in records})
        return rows

    async def get_parsed(
        self, table: Table, keys: Collection[str], parser: Parser[T]
    ) -> dict[str, T]:
        """Return what the parser makes of rows, which are decoded each time."""
        rows = await self.get(table, keys)
        return {key: parser.parse(row) for key, row in rows.items()}

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that have a row, a thousand a statement."""
        query = f"{sql.select(self._schema, table, 'key')} AND key = ANY($3::text[])"
        existing_keys: set[str] = set()
        for batch in batched(_storable(keys), BATCH):
            records = await self._database.fetch(query, *_here(table), batch)
            existing_keys.update(record["key"] for record in records)
        return existing_keys

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows, a thousand a statement."""
        indexed_fields(table.name)
        statement = sql.put(self._schema, table)
        for batch in _batches(table, rows):
            await self._database.execute(statement, *_here(table), *sql.columns_of(batch))
            await self._database.note_written(table.name, len(batch))

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater."""
        indexed_fields(table.name)
        for key, row in rows.items():
            version_field(key, row, field)
        for batch in _batches(table, rows):
            columns = sql.columns_of(batch)
            statement = sql.put(self._schema, table, sql.not_older(len(columns) + 3))
            await self._database.execute(statement, *_here(table), *columns, field)
            await self._database.note_written(table.name, len(batch))

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        """Read, change and write, with the rows locked; once more for those that another adds
        meanwhile.
        """
        return await self._changed(table, list(dict.fromkeys(keys)), change, repeatable=True)

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Store, then count with the counters locked, a thousand a transaction."""
        await self.put(table, rows)
        counters: dict[str, Row] = {}
        for keys in batched(map(checked_key, notes), BATCH):

            def count(stored_rows: dict[str, Row], keys: Sequence[str] = keys) -> dict[str, Row]:
                return {key: with_note(stored_rows.get(key, {}), notes[key]) for key in keys}

            counters |= await self._changed(table, keys, count, repeatable=False)
        return counters

    async def _changed(
        self, table: Table, keys: Sequence[str], change: Change, *, repeatable: bool
    ) -> dict[str, Row]:
        """Write what `change` returns for the rows under these keys; return what was written."""
        indexed_fields(table.name)
        written_rows: dict[str, Row] = {}
        keys_left = keys
        for _ in range(ROUNDS):
            if not keys_left:
                return written_rows

            async def work(
                connection: Connection, keys: Sequence[str] = keys_left
            ) -> tuple[dict[str, Row], list[str]]:
                return await self._change(connection, table, keys, change)

            rows, keys_left = await self._database.transact(work, repeatable=repeatable)
            written_rows |= rows
        raise Unavailable(f"{len(keys_left)} rows of {table.name} kept changing under a write")

    async def _change(
        self, connection: Connection, table: Table, keys: Sequence[str], change: Change
    ) -> tuple[dict[str, Row], list[str]]:
        """Return the rows that were written, and the keys of those that another added meanwhile."""
        query = (
            f"{sql.select(self._schema, table)} AND key = ANY($3::text[]) ORDER BY key FOR UPDATE"
        )
        stored_rows = {
            record["key"]: sql.row_of(record)
            for record in await connection.fetch(query, *_here(table), _storable(keys))
        }
        rows = {key: row for key, row in change(dict(stored_rows)).items() if key in set(keys)}
        records = {key: sql.record_of(table, key, row) for key, row in rows.items()}
        stored_records = [record for key, record in records.items() if key in stored_rows]
        if stored_records:
            columns = sql.columns_of(stored_records)
            await connection.execute(sql.put(self._schema, table), *_here(table), *columns)
        new_records = [record for key, record in records.items() if key not in stored_rows]
        added_keys = {record[0] for record in stored_records}
        if new_records:
            statement = sql.insert(self._schema, table)
            added_records = await connection.fetch(
                statement, *_here(table), *sql.columns_of(new_records)
            )
            added_keys |= {record["key"] for record in added_records}
        return (
            {key: row for key, row in rows.items() if key in added_keys},
            [key for key in rows if key not in added_keys],
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
        ordering = sql.order_of(table, order, descending=descending)
        parameters: list[Any] = [*_here(table)]
        conditions = sql.where_clause(table, where, await self._letters(), parameters)
        parameters += [skip, limit or None]
        place = len(parameters)
        query = (
            f"{sql.select(self._schema, table)}{conditions}{ordering} "
            f"OFFSET ${place - 1} LIMIT ${place}"
        )
        return _pairs(await self._database.fetch(query, *parameters))

    async def values(
        self, table: Table, field: str, where: Where, keys: Collection[str] | None = None
    ) -> dict[str, Value]:
        """Read two columns, of a thousand keys a statement where these are given."""
        indexed_fields(table.name, field)
        parameters: list[Any] = [*_here(table)]
        conditions = sql.where_clause(table, where, await self._letters(), parameters)
        columns = f"key, {sql.column_of(field)} AS value"
        query = f"{sql.select(self._schema, table, columns)}{conditions}"
        if keys is None:
            return _values(await self._database.fetch(query, *parameters))
        query = f"{query} AND key = ANY(${len(parameters) + 1}::text[])"
        values: dict[str, Value] = {}
        for batch in batched(_storable(keys), BATCH):
            values |= _values(await self._database.fetch(query, *parameters, batch))
        return values

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Count by value; rows without the field are left out."""
        indexed_fields(table.name, by)
        parameters: list[Any] = [*_here(table)]
        conditions = sql.where_clause(table, where, await self._letters(), parameters)
        column = sql.column_of(by)
        selection = sql.select(self._schema, table, f"{column} AS value, count(*) AS number")
        records = await self._database.fetch(
            f"{selection}{conditions} AND {column} IS NOT NULL GROUP BY {column}", *parameters
        )
        return {sql.shown_value(record["value"]): record["number"] for record in records}

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Remove these rows, a thousand a statement."""
        statement = f"{sql.delete(self._schema, table)} AND key = ANY($3::text[])"
        for batch in batched(_storable(keys), BATCH):
            await self._database.execute(statement, *_here(table), batch)

    async def delete_older(
        self, table: Table, keys: Collection[str], field: str, version: int
    ) -> None:
        """Remove these rows under a condition, a thousand a statement."""
        if not is_plain_name(field):
            return
        statement = (
            f"{sql.delete(self._schema, table)} AND key = ANY($3::text[]) "
            "AND (numbers ->> $4)::bigint < $5"
        )
        for batch in batched(_storable(keys), BATCH):
            await self._database.execute(statement, *_here(table), batch, field, version)

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        query = f"{sql.select(self._schema, table)} AND key > $3 ORDER BY key LIMIT $4"
        return _pairs(await self._database.fetch(query, *_here(table), after, max(limit, 0)))

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        """Read ranges of keys, a thousand a statement."""
        query = (
            f"{sql.select(self._schema, table, 'DISTINCT ON (key) key, body, blobs')} "
            "AND key > prefix AND key < prefix || chr(127)"
        ).replace(" WHERE ", " , unnest($3::text[]) AS prefixes (prefix) WHERE ", 1)
        rows: dict[str, Row] = {}
        for batch in batched(_storable(prefixes), BATCH):
            rows.update(_pairs(await self._database.fetch(query, *_here(table), batch)))
        return list(rows.items())

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row in that table."""
        indexed_fields(name)
        records = await self._database.fetch(sql.partitions(self._schema, name))
        return {Partition(record["workspace"], record["generation"]) for record in records}

    async def drop(self, table: Table) -> None:
        """Remove the rows some thousands a statement: all of a large partition in one would exceed
        its time.
        """
        statement = sql.delete_some(self._schema, table)
        while await self._database.execute(statement, *_here(table), DROPPED_AT_ONCE):
            pass

    async def close(self) -> None:
        """Leave the connections to the other stores of this process."""
        await self._database.close()

    async def _letters(self) -> str:
        """Return the collation whose letters are made small, looked up once."""
        if not self._collation:
            records = await self._database.fetch(
                "SELECT collname FROM pg_collation WHERE collname = ANY($1::text[]) "
                "AND collencoding IN (-1, 6)",
                COLLATIONS,
            )
            names = {record["collname"] for record in records}
            self._collation = next((name for name in COLLATIONS if name in names), "default")
        return self._collation


def _here(table: Table) -> tuple[str, int]:
    """Return the parameters of `HERE`."""
    return table.partition.workspace, table.partition.generation


def _storable(keys: Iterable[str]) -> list[str]:
    """Return the keys without those that no row can have: the server takes no U+0000."""
    return [key for key in keys if key.isascii() and "\x00" not in key]


def _pairs(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, Row]]:
    return [(record["key"], sql.row_of(record)) for record in records]


def _values(records: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
    return {record["key"]: sql.value_of(record["value"]) for record in records}


def _batches(table: Table, rows: Mapping[str, Row]) -> Iterable[list[tuple[Any, ...]]]:
    """Return the rows in batches that one message can carry, all of them checked."""
    records = [sql.record_of(table, key, row) for key, row in rows.items()]
    return batched_by_bytes(records, sql.size_of, max_items=BATCH, max_bytes=BATCH_BYTES)
