"""Rows as points of Qdrant: their ids, their payloads, and filters over these.

A collection compares by cosine similarity, for which the server scales each vector to length 1. The
numbers as they were given stand in the payload, so that they come back as they were.
"""

import base64
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from contracts.graph import VectorKind, VectorRow
from contracts.ids import chunk_vector_prefix, document_prefix, sha256
from runtime.stores.port import Checkpoint
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.checkpoint_rows import CHECKPOINT

Payload = Mapping[str, Any]

ROW = ["id", *("text", "text_hash", "names", "document_id", "file_path", "version", "position")]
"""Fields of the payload that a read asks for, beside the numbers."""

NUMBERS = "numbers"
"""The field with the vector as it was given: base64 of numbers in single precision, the lowest byte
first.
"""

# `enable_hnsw=False`: no part of the index of vectors for the values of a field that no search asks
# it for. Before 1.17 a server makes them nevertheless.
_ORDERED = models.IntegerIndexParams(
    type=models.IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False
)
INDEXES: Mapping[str, models.KeywordIndexParams | models.IntegerIndexParams] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "document": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "place": _ORDERED,
    "version": _ORDERED,
}
"""The fields that filters name, and their indexes: a server may refuse filters over others."""

_PREFIXES: dict[VectorKind, str] = {
    "chunks": "chunk-",
    "entities": "ent-",
    "relations": "rel-",
}
"""What ids of a kind begin with; others are allowed and ordered less finely."""

_DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
"""The characters of an id, in the order of their codes."""

_PLACE_DIGITS = 8
"""Characters that a place is made of: the server compares places in 53 bits."""


def point_id(workspace: str, id: str) -> str:
    """Return the id of a row's point, which is as long as the server wants it."""
    return _uuid(stored.key(workspace, id))


def place_of(kind: VectorKind, id: str) -> int:
    """Return a number below 2**50 that orders ids as their texts do, but for equal places.

    The server orders points by numbers only. Ids that begin as those of their kind do are told
    apart by what comes then.
    """
    prefix = _PREFIXES[kind]
    if id.startswith(prefix):
        region, digits = 1, id[len(prefix) :]
    else:
        region, digits = (0 if id < prefix else 2), id
    place = region
    for digit in digits[:_PLACE_DIGITS].ljust(_PLACE_DIGITS, _DIGITS[0]):
        place = place * len(_DIGITS) + _DIGITS.index(digit)
    return place


def to_point(workspace: str, kind: VectorKind, row: VectorRow) -> models.PointStruct:
    """Return a normalized row as the server takes it."""
    vector = np.asarray(row.vector, dtype="<f4")
    payload = {
        "tenant": stored.tenant(workspace),
        "document": document_prefix(row.id),
        "place": place_of(kind, row.id),
        "id": row.id,
        "text": row.text,
        "text_hash": row.text_hash,
        "names": list(row.names),
        "document_id": row.document_id,
        "file_path": row.file_path,
        "version": row.version,
        "position": row.order,
        NUMBERS: base64.b64encode(vector.tobytes()).decode(),
    }
    return models.PointStruct(
        id=point_id(workspace, row.id), vector=list(row.vector), payload=payload
    )


def bytes_of(row: VectorRow) -> int:
    """Return how long a row's point is at most, as JSON in UTF-8."""
    characters = (
        len(row.text)
        + len(row.document_id)
        + len(row.file_path)
        + len(row.text_hash)
        + sum(map(len, row.names))
    )
    return 1024 + 32 * len(row.vector) + 6 * characters


def from_payload(payload: Payload) -> VectorRow:
    """Return the row in a payload, with its vector if that was asked for."""
    return VectorRow(
        id=payload["id"],
        text=payload["text"],
        text_hash=payload["text_hash"],
        version=payload["version"],
        vector=tuple(numbers_of(payload).tolist()) if NUMBERS in payload else (),
        names=tuple(payload["names"]),
        document_id=payload["document_id"],
        file_path=payload["file_path"],
        order=payload["position"],
    )


def numbers_of(payload: Payload) -> NDArray[np.float32]:
    """Return the vector in a payload as it was given."""
    return np.frombuffer(base64.b64decode(payload[NUMBERS]), dtype="<f4")


def checkpoint_point(checkpoint: Checkpoint, dimension: int) -> models.PointStruct:
    """Return a checkpoint as a point of its own, of a tenant that no workspace can be."""
    payload = {"tenant": CHECKPOINT, "version": checkpoint.sequence, "text": checkpoint.log}
    id = _uuid(f"{CHECKPOINT}-{checkpoint.sequence}")
    return models.PointStruct(id=id, vector=[1.0] * dimension, payload=payload)


def of_tenant(tenant: str, *conditions: models.Condition) -> models.Filter:
    """Return the filter for a tenant's points that fulfil all conditions."""
    return models.Filter(must=[_equals("tenant", tenant), *conditions])


def of_workspace(workspace: str, documents: Collection[str] | None = None) -> models.Filter:
    """Return the filter for the rows of a workspace, or for the chunks of these documents."""
    if documents is None:
        return of_tenant(stored.tenant(workspace))
    prefixes = sorted({chunk_vector_prefix(document) for document in documents})
    chosen = models.FieldCondition(key="document", match=models.MatchAny(any=prefixes))
    return of_tenant(stored.tenant(workspace), chosen)


def with_ids(ids: Iterable[str], *conditions: models.Condition) -> models.Filter:
    """Return the filter for the points with these ids that fulfil all conditions."""
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids)), *conditions])


def before(version: int) -> models.FieldCondition:
    """Return the condition that a version is lower."""
    return models.FieldCondition(key="version", range=models.Range(lt=version))


def _equals(field: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def _uuid(text: str) -> str:
    return str(UUID(sha256(text)[:32]))
