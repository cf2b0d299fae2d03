"""Writes variables into a settings file, and leaves its other lines as they are."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from runtime.errors import InvalidInput

STACK_FILE = "LIGHTSTREAM_STACK_SETTINGS"
"""The variable by which `up` tells services which settings file it reads."""

_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")
"""A value that needs no quotation marks."""


def variables_in(path: Path) -> dict[str, str]:
    """Return the variables that a file sets; none where there is no file."""
    # Most processes write no settings, and need no parser.
    from dotenv import dotenv_values  # noqa: PLC0415

    read_variables = dotenv_values(path, interpolate=False) if path.is_file() else {}
    return {name: value for name, value in read_variables.items() if value}


def write_settings(path: Path, settings: Mapping[str, str]) -> None:
    """Set these variables in a file, which is made where it is missing, readable by its owner
    alone. An empty value takes a variable away.

    Raises OSError where it cannot be written, InvalidInput for a value of several lines.
    """
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    remaining = [line for line in lines if _variable(line) not in settings]
    added_lines = [f"{name}={_quoted(name, value)}" for name, value in settings.items() if value]
    partial = path.with_name(f"{path.name}.new")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in [*remaining, *added_lines]))
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
