"""The command line `lightstream`."""

import sys

import typer

from cli.common import print_json
from cli.main import app
from runtime.workarounds.typer import import_help

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for a wrong option or argument; it exports only this descendant."""


def main() -> None:
    """Entry point. Exit codes: 0 success, 1 it did not succeed, 2 wrong usage, 130 interrupted."""
    if {"--help", "-h"} & {*sys.argv} or len(sys.argv) == 1:
        import_help()
    if "--json" not in sys.argv:
        app()
    try:
        sys.exit(app(standalone_mode=False))
    except _UsageError as error:
        print_json({"error": {"type": "UsageError", "message": str(error)}})
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
