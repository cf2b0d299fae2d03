"""The port of the document store: rows of JSON by key, in tables, in partitions.

Everything kept in MongoDB or SQLite goes through these few verbs; `document_bounds.py` and
`checkpoints.py` beside this file and the adapters of the services give them the words of the
domain.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from contracts.graph import Partition

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Row = dict[str, Any]
"""JSON: str, int, float, bool, None, list and dict with string keys. No NaN, no lone surrogates.

A field of the row itself may also be bytes."""

Change = Callable[[dict[str, Row]], Mapping[str, Row]]
"""A function that returns, from the rows as they are, those to be written. It may be called again,
in any thread.
"""


@dataclass(frozen=True)
class Containing:
    """A condition: the field is a text that has any of these in it, whatever the case of letters.
    It reads every row.
    """

    texts: tuple[str, ...]


@dataclass(frozen=True)
class NoneOf:
    """A condition: the field has none of these values, or none at all. For few rows that are left
    out: those of the values are looked up, not all others.
    """

    values: tuple[str, ...]


Condition = str | int | list[str] | Containing | NoneOf
"""The value that a field must equal, a list of which it must be one, a text that must be in it, or
values that it must not have.
"""

Where = Mapping[str, Condition]
"""Conditions by the names of their fields."""

Value = str | int | None
"""The value of an indexed field, None where a row lacks it."""

MOST_NOTES = 32
"""Notes of a counter that are kept: of a key with few changes all, of one with many the last."""

INDEXES: Mapping[str, Mapping[str, type[str] | type[int]]] = {
    "documents": {
        "status": str,
        "track_id": str,
        "updated_at": str,
        "created_at": str,
        "file_path": str,
        "id": str,
        "version": int,
        "labels": str,
    },
    "chunks": {"document_id": str},
    "supersessions": {"superseded": str, "document_id": str},
    "costs": {"document": str, "block": int},
    "cost_sums": {"state": str},
    "chunk_contributions": {"document_id": str},
    "mentions": {},
    "folded": {},
    "edits": {},
    "summaries": {},
    "condensed": {},
    "graph_extents": {},
    "vector_extents": {},
    "extractions": {},
    "figure_descriptions": {},
    "embeddings": {},
    "keywords": {},
    "answers": {},
    "schema": {},
    "checkpoints": {},
    "chain": {},
    "archive": {"document": str},
}
"""Every table, and the fields that `find` and `count` may name with the type of their values: text,
or an integer of 64 bits. A row may lack any of them.
"""


@dataclass(frozen=True)
class Table:
    """One table of INDEXES in one partition. Caches, which no rebuild replaces, live in generation
    0.
    """

    name: str
    partition: Partition


OBSOLETE = ("contributions", "revisions")
"""Tables of older schemas, which `prepare` removes."""


class Parser(Protocol[T_co]):
    """Makes something of rows; whoever gets it may not change it."""

    def parse(self, row: Row, /) -> T_co:
        """Return what is made of a row."""
        ...

    def of(self, body: str | bytes) -> T_co:
        """Return what is made of the row that `row_json.encode` made this body from."""
        ...


class Rows(Protocol):
    """Rows by key. All adapters keep the same contract, tested by `tests/contract/test_rows.py`.

    Keys are 1 to 400 printable ASCII characters without blanks. Every write is durable when it
    returns, and doing it twice is the same as once (`append` excepted). Empty input is allowed and
    does nothing. A store that does not answer raises `Unavailable`; whether a write happened is
    then unknown.
    """

    async def prepare(self) -> None:
        """Make tables and indexes, and record the schema's version. Repeats change nothing.

        Raises ConfigurationError when newer code has prepared the store.
        """
        ...

    async def missing(self) -> list[str]:
        """Return what `prepare` would make, a line each."""
        ...

    async def ping(self) -> None:
        """Return when the store answers a query, else raise `Unavailable`."""
        ...

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`; missing ones are left out."""
        ...

    async def get_parsed(
        self, table: Table, keys: Collection[str], parser: Parser[T]
    ) -> dict[str, T]:
        """Return what the parser makes of the rows that exist among `keys`."""
        ...

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that have a row, without reading the rows."""
        ...

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Store these rows under these keys, replacing any that exist."""
        ...

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Write each row unless the stored one has a greater integer `field`.

        Atomic per row, under any concurrency: the greatest always stands in the end.
        """
        ...

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        """Read the rows that exist among `keys`, write those that `change` returns for them, and
        return these.

        Atomic per row: no row is written that changed since it was read; `change` is called again
        for it instead.
        """
        ...

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Store `rows`, then count: add one to `n` (from 0) of each key of `notes`, and append its
        note to `notes`.

        Returns the counters. Atomic per counter: the note of count i stands i-th, and the last
        MOST_NOTES are kept. A value read is never lower than the caller's own count made it; two
        concurrent callers may read the same. Whoever reads a counter can read the rows stored
        before each of its counts.
        """
        ...

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
        """Return keys and rows whose indexed fields are as `where` has them, by field `order`, then
        key.

        `limit` 0 means all of them.
        """
        ...

    async def values(
        self, table: Table, field: str, where: Where, keys: Collection[str] | None = None
    ) -> dict[str, Value]:
        """Return by key the values of an indexed field, without the rows: of those that match
        `where`, and of no others than `keys` if given, in no particular order.

        For as many rows as there are: without conditions a store reads an index and no row.
        """
        ...

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Return how many rows match `where` for each value of the indexed field `by`."""
        ...

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Delete the rows under these keys, if there are any."""
        ...

    async def delete_older(
        self, table: Table, keys: Collection[str], field: str, version: int
    ) -> None:
        """Delete those of the rows whose integer `field` is less than `version`; atomic per row, as
        `put_newer`.
        """
        ...

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """Return up to `limit` rows with keys greater than `after`, by key in ASCII order."""
        ...

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        """Return the rows whose keys begin with one of `prefixes` and are longer, in no particular
        order.
        """
        ...

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition that has a row in the table of that name."""
        ...

    async def drop(self, table: Table) -> None:
        """Remove every row of the table in its partition."""
        ...

    async def close(self) -> None:
        """Close the connection. No call may follow."""
        ...
