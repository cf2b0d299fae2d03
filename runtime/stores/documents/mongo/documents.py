"""Rows as documents of MongoDB, and conditions that find them."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from pymongo import ASCENDING

from runtime.errors import InvalidInput
from runtime.stores.documents.mongo.writes import Document
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


def index_of(field: str) -> list[tuple[str, int]]:
    """Return the keys of the index that `find` uses for a field."""
    return [("space", ASCENDING), (f"fields.{field}", ASCENDING), ("_id", ASCENDING)]


def partition_text(table: Table) -> str:
    """Return the beginning of every `_id` of a partition, without the last slash."""
    workspace = table.partition.workspace
    generation = table.partition.generation
    if "/" in workspace:
        raise InvalidInput(f"{workspace!r:.80} is no workspace: it has a slash")
    return f"{workspace}/{generation}"


def end_of(partition: str) -> str:
    """Return the least text after every `_id` of a partition: "0" is the character after "/"."""
    return f"{partition}0"


def ids_of(table: Table, keys: Collection[str]) -> list[str]:
    """Return the `_id` of each key."""
    partition = partition_text(table)
    return [f"{partition}/{key}" for key in keys]


def range_of(table: Table, after: str = "") -> Document:
    """Return the condition for all rows of a partition with keys greater than `after`."""
    partition = partition_text(table)
    return {"_id": {"$gt": f"{partition}/{after}", "$lt": end_of(partition)}}


def condition_of(table: Table, where: Where) -> Document:
    """Return the condition for the rows of a partition that match `where`."""
    fields = {f"fields.{name}": _condition(value) for name, value in where.items()}
    return {"space": partition_text(table), **fields}


def having(table: Table, field: str) -> Document:
    """Return the condition for the rows that have the field. A range of its type: the server reads
    that from the index alone, where `$exists` makes it read each document.
    """
    return {f"fields.{field}": {"$gte": "" if INDEXES[table.name][field] is str else -(2**63)}}


def _condition(want: Condition) -> Any:
    if isinstance(want, Containing):
        return re.compile("|".join(map(re.escape, want.texts)), re.IGNORECASE)
    if isinstance(want, NoneOf):
        return {"$nin": list(want.values)}
    return {"$in": want} if isinstance(want, list) else want


def document_of(table: Table, key: str, row: Row) -> Document:
    """Return the document that is stored for a row."""
    values = zip(indexed_fields(table.name), indexed_values(table, key, row), strict=True)
    fields = {name: value for name, value in values if value is not None}
    fields |= whole_numbers(row)
    return {
        "_id": ids_of(table, [key])[0],
        "space": partition_text(table),
        "fields": fields,
        "body": encode(key, row),
    }


def values_of(table: Table, field: str, documents: Sequence[Document]) -> dict[str, Value]:
    """Return by key the values of a field of stored documents."""
    skip = len(partition_text(table)) + 1
    return {document["_id"][skip:]: document.get("fields", {}).get(field) for document in documents}


def rows_of(table: Table, documents: Sequence[Document]) -> list[tuple[str, Row]]:
    """Return the keys and rows of stored documents."""
    skip = len(partition_text(table)) + 1
    return [
        (document["_id"][skip:], decode(document["body"]) | document["fields"])
        for document in documents
    ]
