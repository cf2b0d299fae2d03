"""The command line `lightstream`."""

import sys
from copy import copy
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
def command(name: str = "") -> Any:
    """Return the command or group of that name as what reads its arguments; all of them where none
    has it, which takes a third of a short command's CPU.
    """
    part = copy(app)
    part.registered_commands = [
        command
        for command in app.registered_commands
        if command.callback and command.callback.__name__ == name
    ]
    part.registered_groups = [group for group in app.registered_groups if group.name == name]
    return get_command(part if part.registered_commands or part.registered_groups else app)


def main() -> None:
    """Entry point. Exit codes: 0 success, 1 it did not succeed, 2 wrong usage, 130 interrupted."""
    if {"--help", "-h"} & {*sys.argv} or len(sys.argv) == 1:
        import_help()
    run = command(*sys.argv[1:2])
    if "--json" not in sys.argv:
        run()
    try:
        sys.exit(run(standalone_mode=False))
    except _UsageError as error:
        print_json({"error": {"type": "UsageError", "message": str(error)}})
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
