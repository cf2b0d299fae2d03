"""Writes variables into a settings file, and leaves its other lines as they are."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from runtime.errors import InvalidInput

_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")
"""A value that needs no quotation marks."""


def write_settings(path: Path, settings: Mapping[str, str]) -> None:
    """Set these variables in a file, which is made where it is missing, readable by its owner
    alone. An empty value takes a variable away.

    Raises OSError where it cannot be written, InvalidInput for a value of several lines.
    """
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    remaining = [line for line in lines if _variable(line) not in settings]
    added = [f"{name}={_quoted(name, value)}" for name, value in settings.items() if value]
    partial = path.with_name(f"{path.name}.new")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in [*remaining, *added]))
    partial.replace(path)


def _variable(line: str) -> str:
    """Return the variable that a line sets, empty for a comment."""
    name = line.partition("=")[0].strip().removeprefix("export ").strip()
    return "" if name.startswith("#") else name


def _quoted(name: str, value: str) -> str:
    if "\n" in value or "\r" in value:
        raise InvalidInput(f"{name} must be one line")
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
