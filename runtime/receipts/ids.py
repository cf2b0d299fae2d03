"""Ids of receipts: UUIDs of version 7, whose time finds a receipt in the log without an index."""

import secrets
from datetime import UTC, datetime
from uuid import UUID


def time_ordered_id(at: datetime) -> str:
    """Return a new id of that time, a UUID version 7 (RFC 9562, section 5.7): a later one sorts
    behind it, to the millisecond.
    """
    milliseconds = int(at.timestamp() * 1000)
    random_bits = secrets.randbits(74)
    number = milliseconds << 80 | 0x7 << 76 | (random_bits >> 62) << 64
    return str(UUID(int=number | 0b10 << 62 | random_bits & (1 << 62) - 1))


def time_of_id(id: str) -> datetime:
    """Return the time of an id of `time_ordered_id`. Raises ValueError for any other text."""
    number = UUID(id)
    if number.version != 7:
        raise ValueError(f"{id!r:.80} is no UUID of version 7")
    return datetime.fromtimestamp((number.int >> 80) / 1000, UTC)
