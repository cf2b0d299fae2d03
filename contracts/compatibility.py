"""What a changed schema breaks: messages of before that no longer fit, and readers of before that
refuse new ones.

Only an added field that may be absent, and texts for readers, are compatible. Everything else needs
a new version.
"""

from collections.abc import Iterator
from typing import Any, cast

from contracts.registry import PRODUCERS, consuming_services

TEXTS = frozenset({"description", "title", "examples", "$comment"})
"""Keywords of a schema that are for readers."""

_NAMED = frozenset({"properties", "$defs"})
"""Keywords whose keys are names: one more of them changes nothing for those who do not know it."""


def breaking_changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return where the schema after the change breaks what the one before promised, and how; empty
    if nowhere.
    """
    return list(_changes(before, after, ""))


def advice(event_type: str, version: int, changes: list[str]) -> str:
    """Return what to do about breaking changes of a released version, and what to deploy first, in
    one line.
    """
    readers = ", ".join(consuming_services(event_type))
    writers = ", ".join(PRODUCERS.get(event_type, ()))
    return (
        f"{event_type} v{version} would break ({'; '.join(changes)}): "
        f"make it version {version + 1}, with a step from {version} in contracts/upcast.py; "
        f"deploy {readers} first, then what publishes it: {writers}"
    )


def _changes(before: Any, after: Any, path: str) -> Iterator[str]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before != after:
            yield f"{path or 'schema'} was {_short(before)} and is {_short(after)}"
        return
    old_fields = cast("dict[str, Any]", before)
    new_fields = cast("dict[str, Any]", after)
    is_named = path.rpartition(".")[2] in _NAMED
    for key in old_fields.keys() | new_fields.keys() if not is_named else old_fields.keys():
        place = f"{path}.{key}".removeprefix(".")
        if not is_named and key in TEXTS:
            continue
        if key == "required":
            yield from _required(old_fields.get(key, []), new_fields.get(key, []), path)
        elif key not in new_fields:
            yield f"{place} is gone"
        elif key not in old_fields:
            # A schema that had no named parts yet gets its first ones.
            if key not in _NAMED:
                yield f"{place} is new"
        else:
            yield from _changes(old_fields[key], new_fields[key], place)


def _required(before: list[str], after: list[str], path: str) -> Iterator[str]:
    where = path or "schema"
    yield from (f"{where} needs {name} now" for name in after if name not in before)
    yield from (f"{where} may lack {name} now" for name in before if name not in after)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
