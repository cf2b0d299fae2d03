"""JSON values as lines people read: each object under its full path, with its own values below it.

company.offices[2]
  city: Port Elm
  staff: 12
"""

import json
from collections.abc import Iterator
from typing import Any, cast

from runtime.errors import InvalidInput

MAX_DEPTH = 100

Node = dict[str, Any] | list[Any]


def loaded(text: str) -> Any:
    """Return the value. Numbers keep their digits as written. Raises InvalidInput with the place of
    an error.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(
            f"not JSON at {place}: {error.msg}: amend it, or save it as .txt"
        ) from None
    except RecursionError:
        raise _too_deep() from None


def lines(value: Any, path: str = "") -> Iterator[str]:
    """Blocks of lines, one for each object or list that has values of its own; empty values and
    nulls are left out.

    Raises InvalidInput for a value nested too deeply.
    """
    if isinstance(value, dict | list):
        yield from _node(cast(Node, value), path, 0)
    elif value not in (None, ""):
        yield _line(path, value)


def _node(node: Node, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise _too_deep()
    inner: list[tuple[str, Node]] = []
    own_lines: list[str] = []
    for name, value in _members(node):
        if _has_inner(value):
            inner.append((_joined(path, name), value))
        elif value not in (None, "", [], {}):
            own_lines.append(_line(name, value))
    if own_lines:
        indent = "\n  " if path else "\n"
        yield indent.join(([path] if path else []) + own_lines)
    for name, value in inner:
        yield from _node(value, name, depth + 1)


def _has_inner(value: Any) -> bool:
    """Return whether a value needs lines of its own. A list of plain values stands on one line."""
    if isinstance(value, dict):
        return bool(cast(dict[str, Any], value))
    return isinstance(value, list) and any(
        isinstance(item, dict | list) for item in cast(list[Any], value)
    )


def _members(node: Node) -> Iterator[tuple[str, Any]]:
    """Return names and values; the members of a list are counted from 1, as people do."""
    if isinstance(node, dict):
        yield from ((" ".join(name.split()), value) for name, value in node.items())
    else:
        yield from ((f"[{number}]", value) for number, value in enumerate(node, start=1))


def _joined(path: str, name: str) -> str:
    return f"{path}{name}" if not path or name.startswith("[") else f"{path}.{name}"


def _line(name: str, value: Any) -> str:
    text = (
        ", ".join(map(_word, cast(list[Any], value))) if isinstance(value, list) else _word(value)
    )
    return f"{name}: {text}" if name else text


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "\n    ".join(str(value).strip().splitlines())


def _too_deep() -> InvalidInput:
    return InvalidInput(f"nested more than {MAX_DEPTH} levels deep: save it in a flatter form")
