"""Further fields of requests to language models, as the settings give them."""

import json
from collections.abc import Mapping
from typing import Any, cast

OWN_FIELDS = frozenset({"model", "messages", "stream", "stream_options", "response_format", "n"})
"""Fields that requests have by themselves; a setting must not replace them."""


def parse_fields(text: str) -> dict[str, Any]:
    """Return the fields in a JSON object, none of an empty text. Raises ValueError, without what
    the text holds.
    """
    if not text.strip():
        return {}
    try:
        value: Any = json.loads(text)
    except ValueError:
        raise ValueError(
            'give a JSON object, such as {"chat_template_kwargs": {"enable_thinking": false}}'
        ) from None
    if not isinstance(value, dict):
        raise ValueError("give a JSON object")
    fields = cast(dict[str, Any], value)
    if refused_names := sorted(OWN_FIELDS & fields.keys()):
        raise ValueError(f"{', '.join(refused_names)} cannot be set here")
    return fields


def merged_fields(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of all parts; a later part goes before an earlier one, and null takes a
    field away.
    """
    fields: dict[str, Any] = {}
    for part in parts:
        fields |= part
    return {name: value for name, value in fields.items() if value is not None}
