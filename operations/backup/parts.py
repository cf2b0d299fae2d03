"""The files of lines in a backup: written, read and checked."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from contracts import subjects
from contracts.values import PLACE_PATTERN
from operations.backup.manifest import Blob, Part, put_file
from runtime.bus.chain import body_of
from runtime.bus.records import Record, line_of, parse_line
from runtime.errors import InvalidInput
from runtime.models.json_values import as_dict

COMPRESSION = 1
"""Of gzip: the fastest makes a fifth of a log, the best hardly less."""


def write_part(folder: Path, name: str, records: Sequence[Record]) -> Part:
    """Write the records as one file, and return its entry in the manifest.

    The file is called by its content too: the one that the manifest names stays until the manifest
    names another.
    """
    lines = b"".join(line_of(record) + b"\n" for record in records)
    digest = hashlib.sha256(lines).hexdigest()
    file = f"{name}-{digest[:12]}.jsonl.gz"
    put_file(folder / file, gzip.compress(lines, COMPRESSION, mtime=0))
    blobs = {blob.key: blob for record in records for blob in blobs_of(record)}
    first, last_sequence = (records[0].sequence, records[-1].sequence) if records else (0, 0)
    return Part(file, first, last_sequence, len(records), digest, tuple(blobs.values()))


def read_part(folder: Path, part: Part) -> list[Record]:
    """Return the records of a file. Raises InvalidInput when it is not what the manifest says."""
    path = folder / part.file
    try:
        lines = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None
    if hashlib.sha256(lines).hexdigest() != part.sha256:
        raise InvalidInput(f"{path} is damaged: it does not have the hash that the manifest names")
    return [parse_line(line) for line in lines.splitlines()]


def without(folder: Path, part: Part, sequences: Collection[int]) -> Part:
    """Write a file without these sequences in place of one that has any of them; its range stays as
    it is.
    """
    if not any(part.first <= sequence <= part.last for sequence in sequences):
        return part
    records = read_part(folder, part)
    kept_records = [record for record in records if record.sequence not in sequences]
    if len(kept_records) == len(records):
        return part
    return replace(
        write_part(folder, part.file.rpartition("-")[0], kept_records),
        first=part.first,
        last=part.last,
    )


def blobs_of(record: Record) -> Iterator[Blob]:
    """Yield what an event names beside the log: a long text, an original, figures."""
    body = body_of(record, b'"sha256"')
    refs: list[Any] = [body.get("blob"), body.get("original")]
    match body.get("figures"):
        case [*figures]:
            refs += [as_dict(figure).get("blob") for figure in figures]
        case _:
            pass
    for ref in refs:
        match ref:
            case {"sha256": str() as sha256, "size": int() as size, "parts": int() as parts}:
                yield Blob(sha256, size, parts, _own_place(record, ref.get("place")))
            case _:
                continue


def _own_place(record: Record, place: object) -> str | None:
    """Return the place of a text if it is among those of the event's workspace: an event may name
    anything.
    """
    if not isinstance(place, str) or not re.fullmatch(PLACE_PATTERN, place):
        return None
    return place if place.partition(".")[0] == subjects.workspace_token(record.subject) else None
