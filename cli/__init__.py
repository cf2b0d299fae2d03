"""The command line `lightstream`."""

import sys
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from cli.common import print_json
from cli.main import app
from runtime.workarounds.typer import import_help

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for a wrong option or argument; it exports only this descendant."""


@cache
def command() -> Any:
    """Return all commands as what reads their arguments. Whoever forks commands makes it before: it
    takes a third of a short command's CPU.
    """
    return get_command(app)


def main() -> None:
    """Entry point. Exit codes: 0 success, 1 it did not succeed, 2 wrong usage, 130 interrupted."""
    if {"--help", "-h"} & {*sys.argv} or len(sys.argv) == 1:
        import_help()
    if "--json" not in sys.argv:
        command()()
    try:
        sys.exit(command()(standalone_mode=False))
    except _UsageError as error:
        print_json({"error": {"type": "UsageError", "message": str(error)}})
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
