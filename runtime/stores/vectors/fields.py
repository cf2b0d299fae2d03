"""The fields of a row in the vector store, and the checks before it is sent.

No driver here; every adapter keeps the same rows.
"""

import hashlib
import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from contracts.graph import Hit, VectorRow
from contracts.ids import chunk_vector_prefix, document_prefix
from runtime.batching import batched, batched_by_bytes
from runtime.errors import Poison
from runtime.stores.vectors.port import VectorPage

Fields = dict[str, Any]
"""Fields of one row by name, as the server returns them."""

Columns = dict[str, list[Any]]
"""Rows as the server takes them, by field: every field present, no value None."""

KEY_BYTES = 128
TEXT_BYTES = 65_535
"""The longest string of the server, in bytes of UTF-8. Longer ones are cut at a character."""

STRINGS = {
    "tenant": 32,
    "id": 64,
    "text": TEXT_BYTES,
    "text_hash": 128,
    "names": TEXT_BYTES,
    "document_id": 4_096,
    "file_path": 16_384,
}
"""The fields of text with their lengths in bytes. The lengths of documents' ids and paths hold any
that events hold.
"""
NUMBERS = ("version", "position")
Row = TypeVar("Row", VectorRow, Hit)

HIT_FIELDS = ("names",)
"""What a search asks for: the id is in the primary key, which comes anyway."""

ROW_FIELDS = ("id", "text", "text_hash", "version", "names", "document_id", "file_path", "position")
"""What a read asks for, beside the vector."""

PLACED_VECTOR = ("id", "names", "vector")
"""What a scan of vectors asks for."""

BATCH_ROWS = 500
"""Milvus Lite needs 0.2 s for 500 rows of one call, but 16 to 58 s for 5,000."""
BATCH_BYTES = 16 * 1024 * 1024
"""The server refuses a message above 64 MiB."""
FILTERED_DOCUMENTS = 64
"""Documents that a filter names at most. Of more the server is asked for so many hits that enough
are theirs.
"""
VERSION_FIELDS = ("version", "text_hash")
"""What a read of versions asks for: the id is in the primary key, which comes anyway."""

READ_ROWS = 500
"""Rows of one read: at most 33 MB of text."""
SCORE_DIGITS = 6
"""Scores are rounded, so that equal vectors are equally near however the server computed it."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@lru_cache(maxsize=1024)
def tenant(workspace: str) -> str:
    """Return the stored name of a workspace: 32 hexadecimal digits, so that no workspace can break
    out of a filter.
    """
    return _digest(workspace)[:32]


def key(workspace: str, id: str) -> str:
    """Return the primary key. Inside one workspace keys are ordered as ids are, which `scan` relies
    on.
    """
    return f"{tenant(workspace)}-{id}"


def normalized_rows(rows: Sequence[VectorRow], dimension: int) -> list[VectorRow]:
    """Return the rows as they are stored, the last one of each id. Raises Poison for the first that
    is invalid.

    Their vectors are arrays of numbers in single precision.
    """
    by_id: dict[str, VectorRow] = {}
    for row in rows:
        if not _ID.fullmatch(row.id):
            raise Poison(f"{row.id!r:.80} is no id of a vector: up to 64 of A-Z, a-z, 0-9, _ and -")
        by_id[row.id] = row
    newest_rows = list(by_id.values())
    return [
        _cut_row(row, vector)
        for row, vector in zip(
            newest_rows, _all_in_single_precision(newest_rows, dimension), strict=True
        )
    ]


def _all_in_single_precision(
    rows: Sequence[VectorRow], dimension: int
) -> Sequence[NDArray[np.float32]] | NDArray[np.float32]:
    """Return the vectors of the rows. Raises Poison for the first that is invalid.

    Converted all at once: one by one takes four times as long.
    """
    with suppress(TypeError, ValueError), np.errstate(over="ignore"):
        matrix = np.array([row.vector for row in rows], dtype=np.float32)
        if matrix.shape == (len(rows), dimension) and np.isfinite(matrix).all():
            return matrix
    return [single_precision(row.vector, dimension, row.id) for row in rows]


def single_precision(vector: Sequence[float], dimension: int, owner: str) -> NDArray[np.float32]:
    """Return the vector in the precision that is stored. Raises Poison unless it has `dimension`
    finite numbers.
    """
    if len(vector) != dimension:
        raise Poison(f"the vector of {owner} has {len(vector)} numbers, not {dimension}")
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise Poison(f"the vector of {owner} is not made of numbers") from error
    if not np.isfinite(numbers).all():
        raise Poison(f"the vector of {owner} has numbers that are not finite in single precision")
    return numbers


def to_columns(workspace: str, rows: Sequence[VectorRow]) -> Columns:
    """Return normalized rows as the server takes them: the values of each field in the order of the
    rows.
    """
    return {
        "key": [key(workspace, row.id) for row in rows],
        "tenant": [tenant(workspace)] * len(rows),
        "id": [row.id for row in rows],
        "text": [row.text for row in rows],
        "text_hash": [row.text_hash for row in rows],
        "names": [_json(row.names) for row in rows],
        "document_id": [row.document_id for row in rows],
        "file_path": [row.file_path for row in rows],
        "version": [row.version for row in rows],
        "position": [row.order for row in rows],
        "vector": [list(row.vector) for row in rows],
    }


def from_fields(fields: Mapping[str, Any]) -> VectorRow:
    """Return the row that the server returned, with its vector if that was requested."""
    return VectorRow(
        id=fields["id"],
        text=fields["text"],
        text_hash=fields["text_hash"],
        version=int(fields["version"]),
        vector=tuple(fields.get("vector", ())),
        names=names_of(fields),
        document_id=fields["document_id"],
        file_path=fields["file_path"],
        order=int(fields["position"]),
    )


def names_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the row that the server returned."""
    return tuple(orjson.loads(fields["names"]))


def id_of(key: str) -> str:
    """Return the id in a primary key."""
    return key.partition("-")[2]


def hits(
    keys: Iterable[str], fields: Mapping[str, Sequence[str]], similarities: Iterable[float]
) -> list[Hit]:
    """Return the hits of a search from the columns of its rows."""
    return [
        Hit(id_of(key), tuple(orjson.loads(names)), rounded_score(similarity))
        for key, names, similarity in zip(keys, fields.get("names", ()), similarities, strict=True)
    ]


def vector_page(
    ids: Sequence[str], names: Sequence[str], vectors: NDArray[np.float32]
) -> VectorPage:
    """Return the page of these rows, by id, from their columns."""
    order = sorted(range(len(ids)), key=ids.__getitem__)
    return VectorPage(
        [ids[row] for row in order],
        [tuple(orjson.loads(names[row])) for row in order],
        vectors[order],
    )


def without_vector(row: VectorRow) -> VectorRow:
    """Return the row without its vector."""
    return replace(row, vector=())


def batches(rows: Iterable[VectorRow]) -> Iterator[list[VectorRow]]:
    """Yield the rows in batches of a size that the server accepts."""
    return batched_by_bytes(rows, _bytes_of, max_items=BATCH_ROWS, max_bytes=BATCH_BYTES)


def _bytes_of(row: VectorRow) -> int:
    # A character of a name may take six bytes in JSON, any other four.
    return (
        1024
        + 4 * (len(row.vector) + len(row.text) + len(row.file_path))
        + 6 * sum(map(len, row.names))
    )


def equals_filter(field: str, value: str) -> str:
    """Return the filter `field == value`."""
    return f"{field} == {_json(value)}"


def workspace_filter(workspace: str, documents: Collection[str] | None = None) -> str:
    """Return the filter for all rows of a workspace; with few documents, for their chunks alone."""
    ours = equals_filter("tenant", tenant(workspace))
    if documents is None or len(documents) > FILTERED_DOCUMENTS:
        return ours
    # Between `…-` and `….`, the next character: a range of keys needs no search by pattern.
    ranges = (
        (key(workspace, prefix), key(workspace, f"{prefix[:-1]}."))
        for prefix in sorted(_prefixes(documents))
    )
    return (
        f"{ours} and "
        f"({' or '.join(f'(key > {_json(low)} and key < {_json(high)})' for low, high in ranges)})"
    )


def only_documents(hits: Iterable[Row], documents: Collection[str] | None) -> list[Row]:
    """Return the rows or hits that are chunks of these documents; all of them for None."""
    if documents is None:
        return list(hits)
    prefixes = _prefix_set(frozenset(documents))
    return [hit for hit in hits if document_prefix(hit.id) in prefixes]


@lru_cache(maxsize=16)  # the documents that a reader sees are the same for many searches
def _prefix_set(documents: frozenset[str]) -> frozenset[str]:
    return frozenset(_prefixes(documents))


def _prefixes(documents: Collection[str]) -> set[str]:
    return {chunk_vector_prefix(document) for document in documents}


def after_filter(workspace: str, id: str) -> str:
    """Return the filter for the rows of a workspace with greater ids. Raises Poison for an invalid
    id.
    """
    if id and not _ID.fullmatch(id):
        raise Poison(f"{id!r:.80} is no id of a vector, so no page of a scan ended with it")
    return f"{workspace_filter(workspace)} and key > {_json(key(workspace, id))}"


def valid_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids that a row can have, each once."""
    return [id for id in dict.fromkeys(ids) if _ID.fullmatch(id)]


def id_filters(workspace: str, ids: Iterable[str]) -> Iterator[str]:
    """Yield filters that together match the rows with these ids; invalid ids are left out."""
    keys = [key(workspace, id) for id in valid_ids(ids)]
    yield from map(keys_filter, batched(keys, READ_ROWS))


def keys_filter(keys: Iterable[str]) -> str:
    """Return the filter for the rows with these keys, at least one."""
    return f"key in {_json(list(keys))}"


def rounded_score(similarity: float) -> float:
    """Return a cosine similarity as a hit shows it."""
    return round(min(1.0, max(-1.0, similarity)), SCORE_DIGITS)


def similarities(
    vectors: Sequence[Sequence[float] | NDArray[np.float32]] | NDArray[np.float16 | np.float32],
    direction: NDArray[np.float32],
) -> list[float]:
    """Return the cosine similarity of each vector, or row, with the direction, 0 where either of
    them is zero.
    """
    if not len(vectors):
        return []
    matrix = np.array(vectors, dtype=np.float64)
    query = direction.astype(np.float64)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    scores = np.divide(matrix @ query, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return [rounded_score(similarity) for similarity in scores.tolist()]


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits best first, equal ones by id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def truncate(text: str, limit: int) -> str:
    """Return the longest prefix of at most `limit` bytes of UTF-8; lone surrogates become `?`."""
    if len(text) <= limit and text.isascii():
        return text
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _cut_row(row: VectorRow, vector: NDArray[np.float32]) -> VectorRow:
    """Return the row cut to the lengths of its fields, with this vector."""
    return VectorRow(
        id=row.id,
        text=truncate(row.text, TEXT_BYTES),
        text_hash=truncate(row.text_hash, STRINGS["text_hash"]),
        version=row.version,
        vector=array("f", vector.tobytes()),
        names=_cut_names(row.names),
        document_id=truncate(row.document_id, STRINGS["document_id"]),
        file_path=truncate(row.file_path, STRINGS["file_path"]),
        order=row.order,
    )


def _cut_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, each cut only if all of them together are too long. One byte takes up to
    six in JSON.
    """
    cut_names = tuple(truncate(name, TEXT_BYTES) for name in names)
    if (
        6 * sum(map(len, cut_names)) + 4 * len(cut_names) < TEXT_BYTES
        or len(_json(cut_names).encode()) <= TEXT_BYTES
    ):
        return cut_names
    share = (TEXT_BYTES // len(cut_names) - 4) // 6
    return tuple(truncate(name, max(0, share)) for name in cut_names)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _json(value: object) -> str:
    """JSON as it is, without `\\u` escapes, which the server's filters do not understand."""
    return json.dumps(value, ensure_ascii=False)
