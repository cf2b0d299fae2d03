"""The settings file of the working folder: variables that no shell has to export."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cli.common import note
from embedded.ports import DEFAULT_PORTS, USUAL_ADDRESS
from runtime.errors import InvalidInput

DEFAULT_FILE = ".env"
VARIABLE = "LIGHTSTREAM_ENV_FILE"

THIS_MACHINE = (USUAL_ADDRESS.host, "localhost", "::1")

CREDENTIALS = (
    "LIGHTRAG_API_KEY",
    "LIGHTSTREAM_API_KEYS",
    "AUTH_ACCOUNTS",
    "LIGHTSTREAM_ALLOW_OPEN",
)
"""Variables, also with `_FILE` behind them, that say who may ask a stack that others reach."""

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
    already, which go before it. `is_closed`: its HOST does not count.
    """

    path: Path
    applied: tuple[str, ...]
    overridden: tuple[str, ...]
    is_closed: bool = False


def read_settings_file(named: str | None) -> SettingsFile | None:
    """Put the variables of a file into this process's environment; None where there is no file.

    `named` is the file asked for, None for the one of the working folder. LightRAG's example has
    HOST=0.0.0.0 and PORT=9621 by itself, which nobody has chosen: such a host counts with a key or
    accounts, and from the usual port a stack moves to another when it is taken. Raises InvalidInput
    for a file that was named and is not there, and for lines that set nothing.
    """
    path = Path(DEFAULT_FILE if named is None else named)
    if named == "" or not path.is_file():
        if named:
            raise InvalidInput(f"there is no settings file {named}")
        return None
    variables = _variables(path)
    if variables.get("PORT") == str(DEFAULT_PORTS["api"]):
        del variables["PORT"]
    is_closed = variables.get("HOST", USUAL_ADDRESS.host) not in THIS_MACHINE and not (
        os.environ.get("HOST") or _has_credentials(variables)
    )
    if is_closed:
        del variables["HOST"]
    overridden = tuple(name for name in variables if os.environ.get(name))
    applied = {name: value for name, value in variables.items() if name not in overridden}
    os.environ.update(applied)
    return SettingsFile(path, tuple(applied), overridden, is_closed)


def _has_credentials(variables: Mapping[str, str]) -> bool:
    """Return whether the environment, or these variables, say who may ask."""
    names = {*CREDENTIALS, *(f"{name}_FILE" for name in CREDENTIALS)}
    return any(os.environ.get(name) or variables.get(name) for name in names)


def note_settings_file(context: typer.Context) -> None:
    """Say which variables come from a settings file, by name alone: values may be secrets."""
    read: SettingsFile | None = context.find_root().obj
    if read is None:
        return
    note(f"settings of {read.path}: {', '.join(read.applied) or 'none'}")
    if read.is_closed:
        note(
            "its HOST does not count: without a key or accounts everybody would be let in, so the "
            "stack listens on this machine alone"
        )
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
