"""Rows as stored bodies, and their keys and names checked against the contract of `Rows`; used by
every adapter.

A small row is JSON text. A long one is compressed, and bytes stand uncompressed behind the JSON of
the other fields.
"""

import re
import zlib
from typing import TypeVar

import orjson

from runtime.errors import InvalidInput
from runtime.stores.documents.port import INDEXES, MOST_NOTES, Row, Table

Body = str | bytes
"""What is stored of a row: JSON text, or bytes that begin with one of the marks below."""

COMPRESSED_FROM = 600
"""Bytes of JSON from which on a body is compressed: below, it would save too little."""

_ZLIB = b"z"
_BLOBS = b"b"

LARGEST_BODY = 15 * 1024 * 1024
"""Bytes of JSON in one row: below the 16 MiB that MongoDB allows a document."""

Scalar = str | int | None

_KEY = re.compile(r"[!-~]{1,400}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SMALLEST = -(2**63)
_GREATEST = 2**63 - 1
T = TypeVar("T")


def indexed_fields(table: str, *names: str) -> tuple[str, ...]:
    """The indexed fields of a table. Raises InvalidInput if there is no such table or `names` has
    any other field.
    """
    if table not in INDEXES:
        raise InvalidInput(f"there is no table {table!r:.80}")
    for name in names:
        if name not in INDEXES[table]:
            raise InvalidInput(f"table {table} has no index on {name!r:.80}")
    return tuple(INDEXES[table])


def encode(key: str, row: Row, *, compressed: bool = True) -> Body:
    """Return the body of the row: text where it has no bytes and is not to be compressed. Raises
    InvalidInput for a key, a value or a size that the contract forbids.
    """
    checked_key(key)
    blobs = {name: value for name, value in row.items() if type(value) is bytes}
    try:
        body = orjson.dumps(
            {name: value for name, value in row.items() if name not in blobs} if blobs else row
        )
    except TypeError as error:
        raise InvalidInput(f"the row {key} is not JSON: {error}") from error
    if (size := len(body) + sum(map(len, blobs.values()))) > LARGEST_BODY:
        raise InvalidInput(f"the row {key} has {size} bytes; at most {LARGEST_BODY} can be stored")
    if blobs:
        head = orjson.dumps(
            [{name: len(value) for name, value in blobs.items()}, orjson.Fragment(body)]
        )
        return b"".join((_BLOBS, len(head).to_bytes(4, "big"), head, *blobs.values()))
    if not compressed or len(body) < COMPRESSED_FROM:
        return body.decode()
    compressed_body = zlib.compress(body, 1)
    return _ZLIB + compressed_body if len(compressed_body) < len(body) else body.decode()


def decode(body: Body) -> Row:
    """Return the row that `encode` made this body from."""
    if isinstance(body, str):
        return orjson.loads(body)
    if body[:1] == _ZLIB:
        return orjson.loads(zlib.decompress(memoryview(body)[1:]))
    start = 5 + int.from_bytes(body[1:5], "big")
    lengths, row = orjson.loads(body[5:start])
    for name, length in lengths.items():
        row[name] = body[start : start + length]
        start += length
    return row


def checked_key(key: str) -> str:
    """Return the key. Raises InvalidInput unless it is 1 to 400 printable ASCII characters without
    blanks.
    """
    if _KEY.fullmatch(key) is None:
        raise InvalidInput(
            f"{key!r:.80} is no key: 1 to 400 printable ASCII characters without blanks"
        )
    return key


def indexed_values(table: Table, key: str, row: Row) -> tuple[Scalar, ...]:
    """The values of the table's indexed fields, None where the row has none. Raises InvalidInput
    for other types.
    """
    types = INDEXES[table.name]
    values = tuple(row.get(name) for name in types)
    for (name, type_), value in zip(types.items(), values, strict=True):
        if value is not None and not (type(value) is str if type_ is str else is_int64(value)):
            kind = "text" if type_ is str else "64-bit integer"
            raise InvalidInput(f"the row {key} has no {kind} in the indexed field {name}")
    return values


def whole_numbers(row: Row) -> dict[str, int]:
    """Return the fields of the row that a server may compare: integers of 64 bits with plain
    names.
    """
    return {name: value for name, value in row.items() if is_int64(value) and is_plain_name(name)}


def is_int64(value: object) -> bool:
    """Whether this is an integer of 64 bits (and no truth value)."""
    return type(value) is int and _SMALLEST <= value <= _GREATEST


def is_plain_name(name: str) -> bool:
    """Whether a field's name means nothing special to any store."""
    return _NAME.fullmatch(name) is not None


def version_field(key: str, row: Row, field: str) -> int:
    """The integer that `put_newer` compares. Raises InvalidInput if the row has none."""
    value = row.get(field)
    if not is_plain_name(field) or not is_int64(value):
        raise InvalidInput(f"the row {key} has no 64-bit integer in the field {field!r:.80}")
    return int(value)  # type: ignore[arg-type]


def with_note(row: Row, note: str) -> Row:
    """Return the counter, one higher, with one more note, of which the last are kept."""
    return {**row, "n": row.get("n", 0) + 1, "notes": [*row.get("notes", ()), note][-MOST_NOTES:]}
