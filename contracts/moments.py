"""Moments as whole numbers, which stores and clients compare without rounding."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime.fromtimestamp(0, UTC)


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970 of a moment that names its time zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
