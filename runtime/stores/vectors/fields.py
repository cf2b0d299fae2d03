"""The fields of a row in the vector store, and the checks before it is sent.

No driver here; every adapter keeps the same rows.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from contracts.graph import Hit, VectorRow
from contracts.ids import chunk_vector_prefix
from runtime.batching import batched, batched_by_bytes
from runtime.errors import Poison

Fields = dict[str, Any]
"""One row as the server takes it: every field present, none of them None."""

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
"""The fields of text with their lengths in bytes. The lengths of documents' ids and paths hold any that events hold."""
NUMBERS = ("version", "position")
Found = TypeVar("Found", VectorRow, Hit)

HIT_FIELDS = ("names",)
"""What a search asks for: the id is in the primary key, which comes anyway."""

ROW_FIELDS = ("id", "text", "text_hash", "version", "names", "document_id", "file_path", "position")
"""What a read asks for, beside the vector."""

BATCH_ROWS = 500
"""Milvus Lite needs 0.2 s for 500 rows of one call, but 16 to 58 s for 5,000."""
BATCH_BYTES = 16 * 1024 * 1024
"""The server refuses a message above 64 MiB."""
FILTERED_DOCUMENTS = 64
"""Documents that a filter names at most. Of more the server is asked for so many hits that enough are theirs."""
READ_ROWS = 500
"""Rows of one read: at most 33 MB of text."""
SCORE_DIGITS = 6
"""Scores are rounded, so that equal vectors are equally near however the server computed it."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def tenant(workspace: str) -> str:
    """Return the stored name of a workspace: 32 hexadecimal digits, so that no workspace can break out of a filter."""
    return _digest(workspace)[:32]


def key(workspace: str, id: str) -> str:
    """Return the primary key. Inside one workspace keys are ordered as ids are, which `scan` relies on."""
    return f"{tenant(workspace)}-{id}"


def normalized_rows(rows: Sequence[VectorRow], dimension: int) -> list[VectorRow]:
    """Return the rows as they are stored, the last one of each id. Raises Poison for the first that is invalid."""
    by_id: dict[str, VectorRow] = {}
    for row in rows:
        if not _ID.fullmatch(row.id):
            raise Poison(f"{row.id!r:.80} is no id of a vector: up to 64 of A-Z, a-z, 0-9, _ and -")
        by_id[row.id] = _cut_row(row, single_precision(row.vector, dimension, row.id))
    return list(by_id.values())


def single_precision(vector: Sequence[float], dimension: int, owner: str) -> NDArray[np.float32]:
    """Return the vector in the precision that is stored. Raises Poison unless it has `dimension` finite numbers."""
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


def to_fields(workspace: str, row: VectorRow) -> Fields:
    """Return the row as the server takes it."""
    return {
        "key": key(workspace, row.id),
        "tenant": tenant(workspace),
        "id": row.id,
        "text": row.text,
        "text_hash": row.text_hash,
        "version": row.version,
        "names": _json(row.names),
        "document_id": row.document_id,
        "file_path": row.file_path,
        "position": row.order,
        "vector": row.vector,
    }


def from_fields(fields: Mapping[str, Any]) -> VectorRow:
    """Return the row that the server returned, with its vector if that was requested."""
    return VectorRow(
        id=fields["id"],
        text=fields["text"],
        text_hash=fields["text_hash"],
        version=int(fields["version"]),
        vector=tuple(float(number) for number in fields.get("vector", ())),
        names=tuple(json.loads(fields["names"])),
        document_id=fields["document_id"],
        file_path=fields["file_path"],
        order=int(fields["position"]),
    )


def id_of(key: str) -> str:
    """Return the id in a primary key."""
    return key.partition("-")[2]


def hit(key: str, fields: Mapping[str, Any], similarity: float) -> Hit:
    """Return the hit of one result of a search."""
    return Hit(id_of(key), tuple(orjson.loads(fields["names"])), rounded_score(similarity))


def without_vector(row: VectorRow) -> VectorRow:
    """Return the row without its vector."""
    return replace(row, vector=())


def batches(rows: Iterable[Fields]) -> Iterator[list[Fields]]:
    """Yield the rows in batches of a size that the server accepts."""
    return batched_by_bytes(rows, _bytes_of, max_items=BATCH_ROWS, max_bytes=BATCH_BYTES)


def _bytes_of(row: Fields) -> int:
    return 1024 + 4 * len(row["vector"]) + 4 * sum(len(row[name]) for name in ("text", "names", "file_path"))


def equals_filter(field: str, value: str) -> str:
    """Return the filter `field == value`."""
    return f"{field} == {_json(value)}"


def workspace_filter(workspace: str, documents: Collection[str] | None = None) -> str:
    """Return the filter for all rows of a workspace; with few documents, for their chunks alone."""
    ours = equals_filter("tenant", tenant(workspace))
    if documents is None or len(documents) > FILTERED_DOCUMENTS:
        return ours
    # Between `…-` and `….`, the next character: a range of keys needs no search by pattern.
    ranges = ((key(workspace, prefix), key(workspace, f"{prefix[:-1]}.")) for prefix in sorted(_prefixes(documents)))
    return f"{ours} and ({' or '.join(f'(key > {_json(low)} and key < {_json(high)})' for low, high in ranges)})"


def only_documents(found: Iterable[Found], documents: Collection[str] | None) -> list[Found]:
    """Return the rows or hits that are chunks of these documents; all of them for None."""
    if documents is None:
        return list(found)
    prefixes = _prefixes(documents)
    return [one for one in found if one.id[: -len("0000000000")] in prefixes]


def _prefixes(documents: Collection[str]) -> set[str]:
    return {chunk_vector_prefix(document) for document in documents}


def after_filter(workspace: str, id: str) -> str:
    """Return the filter for the rows of a workspace with greater ids. Raises Poison for an invalid id."""
    if id and not _ID.fullmatch(id):
        raise Poison(f"{id!r:.80} is no id of a vector, so no page of a scan ended with it")
    return f"{workspace_filter(workspace)} and key > {_json(key(workspace, id))}"


def id_filters(workspace: str, ids: Iterable[str]) -> Iterator[str]:
    """Yield filters that together match the rows with these ids; invalid ids are left out."""
    keys = [key(workspace, id) for id in dict.fromkeys(ids) if _ID.fullmatch(id)]
    yield from map(keys_filter, batched(keys, READ_ROWS))


def keys_filter(keys: Iterable[str]) -> str:
    """Return the filter for the rows with these keys, at least one."""
    return f"key in {_json(list(keys))}"


def rounded_score(similarity: float) -> float:
    """Return a cosine similarity as a hit shows it."""
    return round(min(1.0, max(-1.0, similarity)), SCORE_DIGITS)


def similarities(
    vectors: Sequence[Sequence[float] | NDArray[np.float32]], direction: NDArray[np.float32]
) -> list[float]:
    """Return the cosine similarity of each vector with the direction, 0 where either of them is zero."""
    if not vectors:
        return []
    matrix, query = np.array(vectors, dtype=np.float64), direction.astype(np.float64)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    scores = np.divide(matrix @ query, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return [rounded_score(float(similarity)) for similarity in scores]


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits best first, equal ones by id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def truncate(text: str, limit: int) -> str:
    """Return the longest prefix of at most `limit` bytes of UTF-8; lone surrogates become `?`."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _cut_row(row: VectorRow, vector: NDArray[np.float32]) -> VectorRow:
    """Return the row cut to the lengths of its fields, its vector in single precision."""
    return replace(
        row,
        text=truncate(row.text, TEXT_BYTES),
        text_hash=truncate(row.text_hash, STRINGS["text_hash"]),
        names=_cut_names(row.names),
        document_id=truncate(row.document_id, STRINGS["document_id"]),
        file_path=truncate(row.file_path, STRINGS["file_path"]),
        vector=tuple(vector.tolist()),
    )


def _cut_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, each cut only if all of them together are too long. One byte takes up to six in JSON."""
    whole = tuple(truncate(name, TEXT_BYTES) for name in names)
    if len(_json(whole).encode()) <= TEXT_BYTES:
        return whole
    share = (TEXT_BYTES // len(whole) - 4) // 6
    return tuple(truncate(name, max(0, share)) for name in whole)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _json(value: object) -> str:
    """JSON as it is, without `\\u` escapes, which the server's filters do not understand."""
    return json.dumps(value, ensure_ascii=False)
