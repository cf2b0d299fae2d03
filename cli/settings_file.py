"""The settings file of the working folder: variables that no shell has to export."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cli.common import note
from runtime.errors import InvalidInput

DEFAULT_FILE = ".env"
VARIABLE = "LIGHTSTREAM_ENV_FILE"

EnvFile = Annotated[
    str | None,
    typer.Option(
        "--env-file",
        metavar="FILE",
        envvar=VARIABLE,
        show_default=False,
        help="Settings file; else .env of the working folder. An empty name: none.",
    ),
]


@dataclass(frozen=True)
class SettingsFile:
    """What was read of a file: the variables that it set, and those that the environment had
    already, which go before it.
    """

    path: Path
    applied: tuple[str, ...]
    overridden: tuple[str, ...]


def read_settings_file(named: str | None) -> SettingsFile | None:
    """Put the variables of a file into this process's environment; None where there is no file.

    `named` is the file asked for, None for the one of the working folder. Raises InvalidInput for a
    file that was named and is not there, and for lines that set nothing.
    """
    path = Path(DEFAULT_FILE if named is None else named)
    if named == "" or not path.is_file():
        if named:
            raise InvalidInput(f"there is no settings file {named}")
        return None
    variables = _variables(path)
    overridden = tuple(name for name in variables if os.environ.get(name))
    applied = {name: value for name, value in variables.items() if name not in overridden}
    os.environ.update(applied)
    return SettingsFile(path, tuple(applied), overridden)


def note_settings_file(context: typer.Context) -> None:
    """Say which variables come from a settings file, by name alone: values may be secrets."""
    read: SettingsFile | None = context.find_root().obj
    if read is None:
        return
    note(f"settings of {read.path}: {', '.join(read.applied) or 'none'}")
    if read.overridden:
        note(f"set otherwise in the environment, which counts: {', '.join(read.overridden)}")


def _variables(path: Path) -> dict[str, str]:
    """Return the variables of a file that have a value."""
    # Most commands find no file, and then need no parser.
    from dotenv import dotenv_values  # noqa: PLC0415
    from dotenv.parser import parse_stream  # noqa: PLC0415

    try:
        with path.open(encoding="utf-8") as lines:
            faulty = [binding.original.line for binding in parse_stream(lines) if binding.error]
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is no settings file: it is not UTF-8") from None
    if faulty:
        numbers = ", ".join(map(str, faulty))
        raise InvalidInput(f"{path}, line {numbers}: not of the form NAME=value")
    return {name: value for name, value in dotenv_values(path, interpolate=False).items() if value}
