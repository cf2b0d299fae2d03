"""Reads JSON of providers, whatever stands in it."""

import json
from typing import Any, cast

import orjson


def parsed(content: bytes) -> Any:
    """Return the JSON of an answer, None where it is none."""
    try:
        return orjson.loads(content)
    except ValueError:
        try:
            return json.loads(content)  # which also reads the NaN that some servers send
        except (ValueError, RecursionError):
            return None


def as_dict(value: object) -> dict[str, Any]:
    """Return the value if it is a JSON object, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
