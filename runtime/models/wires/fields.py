"""Moves fields of a request from OpenAI's names to those of another provider."""

from collections.abc import Mapping
from typing import Any, cast


def renamed_fields(fields: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Take these fields out of `fields` and return those that are set, under the names that
    `names` gives them.
    """
    values = {new_name: fields.pop(old_name, None) for old_name, new_name in names.items()}
    return {name: value for name, value in values.items() if value is not None}


def answer_limit(fields: dict[str, Any]) -> int | None:
    """Take the greatest number of tokens of an answer out of `fields`; None where none is set."""
    newer_limit = fields.pop("max_completion_tokens", None)
    older_limit = fields.pop("max_tokens", None)
    return newer_limit if newer_limit is not None else older_limit


def with_group(body: dict[str, Any], group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body with these values in a group of fields; what the group has goes before."""
    group_fields = body.get(group)
    merged_fields = {
        **values,
        **(cast(dict[str, Any], group_fields) if isinstance(group_fields, dict) else {}),
    }
    return {**body, group: merged_fields} if merged_fields else body


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and any other value as a list of one."""
    return cast(list[Any], value) if isinstance(value, list) else [value]


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects in a list, none of what is no list."""
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]


def chunk(
    delta: Mapping[str, Any], reason: Any = None, usage: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return one event of a stream in OpenAI's form."""
    return {"choices": [{"delta": dict(delta), "finish_reason": reason}], "usage": usage}


def whole_answer(
    message: Mapping[str, Any], reason: Any, usage: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return an answer in OpenAI's form."""
    return {"choices": [{"message": dict(message), "finish_reason": reason}], "usage": usage}


def tokens(prompt: Any, completion: Any, cached_tokens: Any = None) -> dict[str, Any]:
    """Return counts of tokens in OpenAI's form; `cached_tokens` are among those of the prompt."""
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if cached_tokens is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached_tokens}
    return counts


def vectors(items: Any, total_tokens: Any = None) -> dict[str, Any]:
    """Return vectors in the order of their texts in OpenAI's form."""
    rows = cast(list[Any], items) if isinstance(items, list) else []
    data = [{"embedding": row} for row in rows]
    return {"data": data, "usage": {"total_tokens": total_tokens}}
