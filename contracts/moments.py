"""Moments as whole numbers, which stores and clients compare without rounding."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime.fromtimestamp(0, UTC)


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970 of a moment that names its time zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_microseconds(count: int) -> datetime:
    """Return the moment, in UTC, so many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=count)
