"""Digest of a projection: equal digests mean equal documents, graphs, vectors.

Canonical: every row as JSON with sorted keys, hashed, the hashes sorted and hashed again. Left out
is what may differ between two runs that say the same: times, log sequences, revisions, event ids
and track ids.
"""

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from contracts.graph import (
    VECTOR_KINDS,
    Entity,
    Generations,
    Partition,
    Projection,
    Relation,
    VectorRow,
)
from contracts.ids import is_window, sha256
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.query.replay import DERIVED_FIELDS, REMOVED, validity_of

T = TypeVar("T")
Fields = dict[str, Any]

PAGE = 1000


@dataclass(frozen=True)
class Digest:
    """SHA-256 of a projection, and how many rows of each kind it has."""

    sha256: str
    counts: dict[str, int]


@dataclass(frozen=True)
class Stores:
    """The three stores of a stack."""

    rows: Rows
    graph: Graph
    vectors: Vectors


def ignore_rows(_: int) -> None:
    """Most digests are of few rows."""


async def digest(
    projection: Projection,
    workspace: str,
    generations: Generations,
    stores: Stores,
    on_rows: Callable[[int], None] = ignore_rows,
) -> Digest:
    """The digest of one projection of one workspace, in the generation named. `on_rows` is told of
    each page how many rows it has.
    """
    partition = Partition(workspace, generations.of_workspace(workspace).of(projection))
    pages = {"status": _status, "graph": _graph, "vectors": _vectors}[projection]
    counts: dict[str, int] = {}
    hashes: list[bytes] = []
    async for kind, rows in pages(partition, stores):
        counts[kind] = counts.get(kind, 0) + len(rows)
        hashes += [
            hashlib.sha256(
                kind.encode() + b"\0" + orjson.dumps(row, option=orjson.OPT_SORT_KEYS)
            ).digest()
            for row in rows
        ]
        on_rows(len(rows))
    return Digest(hashlib.sha256(b"".join(sorted(hashes))).hexdigest(), counts)


async def _status(partition: Partition, stores: Stores) -> AsyncGenerator[tuple[str, list[Fields]]]:
    field_names = (
        "id",
        "file_path",
        "metadata",
        "summary",
        "length",
        "chunk_count",
        "bits",
        "failures",
        "status",
    )
    async for rows in _paged(
        "", lambda after: stores.rows.scan(Table("documents", partition), after, PAGE), _key
    ):
        yield (
            "documents",
            [_without_places(row, field_names) for _, row in rows if row["status"] != REMOVED],
        )
    left_out = {"version", *DERIVED_FIELDS}
    async for rows in _paged(
        "", lambda after: stores.rows.scan(Table("chunks", partition), after, PAGE), _key
    ):
        yield (
            "chunks",
            [
                {name: value for name, value in row.items() if name not in left_out}
                for _, row in rows
            ],
        )


def _without_places(row: Row, field_names: Sequence[str]) -> Fields:
    """Return the row's fields without the places in the log at which it failed: a copy of the log
    has others.
    """
    failures = [
        {name: value for name, value in failure.items() if name != "sequence"}
        for failure in row["failures"]
    ]
    # Rows without any have the digest that they had before there were warnings.
    warnings = {name: row[name] for name in ("text_warnings", "chunk_warnings") if row.get(name)}
    stated_fields = {
        name: value
        for name, value in {"access": row.get("access"), "validity": validity_of(row)}.items()
        if value
    }
    given_tags = {"tags": row["tags"]} if row.get("tags") is not None else {}
    return (
        {name: row[name] for name in field_names}
        | {"failures": failures}
        | warnings
        | stated_fields
        | given_tags
    )


async def _graph(partition: Partition, stores: Stores) -> AsyncGenerator[tuple[str, list[Fields]]]:
    async for entities in _paged(
        "", lambda after: stores.graph.scan_entities(partition, after, PAGE), lambda e: e.name
    ):
        yield "entities", [_without_history(entity) for entity in entities]
    async for relations in _paged(
        ("", ""), lambda after: stores.graph.scan_relations(partition, after, PAGE), lambda r: r.key
    ):
        yield "relations", [_without_history(relation) for relation in relations]


async def _vectors(
    partition: Partition, stores: Stores
) -> AsyncGenerator[tuple[str, list[Fields]]]:
    for kind in VECTOR_KINDS:
        async for rows in _paged(
            "", lambda after, k=kind: stores.vectors.scan(partition, k, after, PAGE), lambda r: r.id
        ):
            # Windows follow from the text of their passage, and older generations have none.
            yield kind, [_of_vector(row) for row in rows if not is_window(row.id)]


def _without_history(item: Entity | Relation) -> Fields:
    return {
        name: value
        for name, value in vars(item).items()
        if name not in {"revision", "created_at", "is_gone"}
    }


def _of_vector(row: VectorRow) -> Fields:
    field_names = ("id", "text_hash", "names", "document_id", "file_path", "order")
    return {**{name: getattr(row, name) for name in field_names}, "stored_text": sha256(row.text)}


def _key(row: tuple[str, Any]) -> str:
    return row[0]


async def _paged(
    after: Any, read: Callable[[Any], Awaitable[list[T]]], last_key: Callable[[T], Any]
) -> AsyncGenerator[list[T]]:
    while page := await read(after):
        yield page
        after = last_key(page[-1])
