"""Rows in memory, for unit tests. It keeps encoded rows, so no caller shares a list with the store
or with another.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from heapq import nsmallest
from typing import TypeVar

from contracts.graph import Partition
from runtime.stores.documents import schema
from runtime.stores.documents.port import (
    Change,
    Condition,
    Containing,
    NoneOf,
    Parser,
    Row,
    Table,
    Value,
    Where,
)
from runtime.stores.documents.row_json import (
    Body,
    checked_key,
    decode,
    encode,
    indexed_fields,
    indexed_values,
    version_field,
    with_note,
)

T = TypeVar("T")


class MemoryRows:
    """`Rows` of one process, gone with it."""

    def __init__(self) -> None:
        self._bodies: defaultdict[Table, dict[str, Body]] = defaultdict(dict)

    async def prepare(self) -> None:
        """Record the schema's version; nothing else has to be made."""
        await schema.enter(self)

    async def missing(self) -> list[str]:
        """Return an empty list: nothing can be missing."""
        return []

    async def ping(self) -> None:
        """Return at once: the store always answers."""

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`."""
        bodies = self._of(table)
        return {key: decode(bodies[key]) for key in keys if key in bodies}

    async def get_parsed(
        self, table: Table, keys: Collection[str], parser: Parser[T]
    ) -> dict[str, T]:
        """Return what the parser makes of rows."""
        bodies = self._of(table)
        return {key: parser.of(bodies[key]) for key in keys if key in bodies}

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that have a row."""
        return self._of(table).keys() & set(keys)

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows."""
        self._of(table).update(_encoded(table, rows))

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater."""
        bodies = self._of(table)
        guards = {key: version_field(key, row, field) for key, row in rows.items()}
        for key, body in _encoded(table, rows).items():
            stored_value = decode(bodies[key]).get(field) if key in bodies else None
            if stored_value is None or stored_value <= guards[key]:
                bodies[key] = body

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        """Read, change and write; no other task runs in between."""
        bodies = self._of(table)
        rows = dict(
            change({key: decode(bodies[key]) for key in dict.fromkeys(keys) if key in bodies})
        )
        bodies.update(_encoded(table, rows))
        return rows

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Store, then count; no other task runs in between."""
        bodies = self._of(table)
        bodies.update(_encoded(table, rows))
        counters = {
            key: with_note(decode(bodies[checked_key(key)]) if key in bodies else {}, note)
            for key, note in notes.items()
        }
        bodies.update(_encoded(table, counters))
        return counters

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
        """Filter and sort them all. Rows without the field `order` come first."""
        indexed_fields(table.name, *where, *filter(None, [order]))
        matching = [(key, row) for key, row in self._rows(table) if _matches(row, where)]
        if order:
            matching.sort(
                key=lambda pair: (pair[1].get(order) is not None, pair[1].get(order), pair[0])
            )
        if descending:
            matching.reverse()
        return matching[skip : skip + limit if limit else None]

    async def values(
        self, table: Table, field: str, where: Where, keys: Collection[str] | None = None
    ) -> dict[str, Value]:
        """Look at all rows."""
        indexed_fields(table.name, field, *where)
        return {
            key: row.get(field)
            for key, row in self._rows(table)
            if _matches(row, where) and (keys is None or key in keys)
        }

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Count by value; rows without the field are left out."""
        indexed_fields(table.name, by, *where)
        rows = (row for _, row in self._rows(table) if _matches(row, where))
        return dict(Counter(str(row[by]) for row in rows if row.get(by) is not None))

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Forget these keys."""
        for key in keys:
            self._of(table).pop(key, None)

    async def delete_older(
        self, table: Table, keys: Collection[str], field: str, version: int
    ) -> None:
        """Look and forget; no other task runs in between."""
        bodies = self._of(table)
        for key in {key for key in keys if key in bodies and decode(bodies[key])[field] < version}:
            del bodies[key]

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        bodies = self._of(table)
        keys = nsmallest(max(limit, 0), (key for key in bodies if key > after))
        return [(key, decode(bodies[key])) for key in keys]

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        """Look at all keys."""
        starts = tuple(prefixes)
        bodies = self._of(table)
        return [
            (key, decode(bodies[key]))
            for key in bodies
            if key.startswith(starts) and key not in starts
        ]

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row in that table."""
        indexed_fields(name)
        return {
            table.partition
            for table, bodies in self._bodies.items()
            if table.name == name and bodies
        }

    async def drop(self, table: Table) -> None:
        """Forget the whole partition of that table."""
        self._of(table).clear()

    async def close(self) -> None:
        """Do nothing: no connection is open."""

    def _of(self, table: Table) -> dict[str, Body]:
        """Return the bodies by key of one table in one partition."""
        indexed_fields(table.name)
        return self._bodies[table]

    def _rows(self, table: Table) -> list[tuple[str, Row]]:
        """Return all rows of one table in one partition, by key."""
        return [(key, decode(body)) for key, body in sorted(self._of(table).items())]


def _encoded(table: Table, rows: Mapping[str, Row]) -> dict[str, Body]:
    """Return the rows encoded, checked before the first of them is stored."""
    for key, row in rows.items():
        indexed_values(table, key, row)
    return {key: encode(key, row) for key, row in rows.items()}


def _matches(row: Row, where: Where) -> bool:
    """Return whether all fields are as `where` has them."""
    return all(_is(row.get(name), want) for name, want in where.items())


def _is(value: object, want: Condition) -> bool:
    if isinstance(want, Containing):
        return isinstance(value, str) and any(text.lower() in value.lower() for text in want.texts)
    if isinstance(want, NoneOf):
        return value not in want.values
    return value in (want if isinstance(want, list) else [want])
