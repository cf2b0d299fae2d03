"""A stored message as it is copied and hashed: by backups, by the archive, by the hash chain of a
workspace.

A record is one line of JSON. The event stands in it as the very bytes that were published, so a
copy is exact.
"""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from runtime.bus.port import Message

RECORDED_AT = "Kb-Recorded-At"
"""Header of a restored message: when the log first took it. The stream's own time is that of the
restore.
"""

STEERING = "nats-expected-"
"""Headers in lower case that tell the server when to refuse a write; they say nothing about the
message.
"""

_EVENT = b',"event":'
_BYTES = b',"bytes":'


@dataclass(frozen=True)
class Record:
    """A message of a stream. `time`: when the stream took it first; `headers` without those that
    steer a write.
    """

    sequence: int
    time: datetime
    subject: str
    headers: Mapping[str, str]
    data: bytes


def record_of(message: Message) -> Record:
    """Return the record of a stored message."""
    headers = {
        name: str(value) for name, value in message.headers.items() if not _is_steering(name)
    }
    return Record(message.sequence, message.published_at, message.subject, headers, message.data)


def line_of(record: Record) -> bytes:
    """Return the record as a line without its end; equal records give equal lines."""
    head = orjson.dumps(
        {
            "sequence": record.sequence,
            "time": record.time.isoformat(timespec="microseconds"),
            "subject": record.subject,
            "headers": sorted(record.headers.items()),
        }
    )
    if _is_one_line_of_json(record.data):
        return head[:-1] + _EVENT + record.data + b"}"
    return head[:-1] + _BYTES + orjson.dumps(base64.b64encode(record.data).decode()) + b"}"


def parse_line(line: bytes) -> Record:
    """Return the record of a line. Raises ValueError for anything else."""
    # No string of JSON holds these bytes, and what stands before them has no field of these names.
    at = min(
        (place for marker in (_EVENT, _BYTES) if (place := line.find(marker)) >= 0), default=-1
    )
    if at < 0 or not line.endswith(b"}"):
        raise ValueError("not a line of a record")
    head: dict[str, Any] = orjson.loads(line[:at] + b"}")
    body = line[at + len(_EVENT) : -1]
    data = (
        body if line.startswith(_EVENT, at) else base64.b64decode(orjson.loads(body), validate=True)
    )
    return Record(
        head["sequence"],
        datetime.fromisoformat(head["time"]),
        head["subject"],
        dict(head["headers"]),
        data,
    )


def leaf(record: Record) -> str:
    """Return the SHA-256 of the record's line: what stays of an event that is erased."""
    return hashlib.sha256(line_of(record)).hexdigest()


def _is_steering(name: str) -> bool:
    return name == RECORDED_AT or name.lower().startswith(STEERING)


def _is_one_line_of_json(data: bytes) -> bool:
    if b"\n" in data or b"\r" in data:
        return False
    try:
        orjson.loads(data)
    except ValueError:
        return False
    return True
