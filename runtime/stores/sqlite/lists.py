"""Lists of values as one parameter, in JSON: they may exceed SQLite's limit on parameters."""

from collections.abc import Sequence

import orjson


def json_list(items: Sequence[str | int | tuple[str, ...]]) -> str:
    """Return the values as a JSON list."""
    return orjson.dumps(items).decode()


def among(column: str) -> str:
    """Return the condition that a column has one of a JSON list's values."""
    return f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608
