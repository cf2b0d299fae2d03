"""The audit line of a command of which no event and no request tells: who gave it, what it was
about, and why.

It has the fields of the query service's audit line. That of a command about a data folder is
appended to a file there, which an erasure empties as it does every log; about a deployment it is
written to standard error, where whoever runs commands there keeps what they say.
"""

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import typer

from cli.common import Data
from embedded.data_folder import DataFolder
from runtime.bus.actor import current_actor, local_actor
from runtime.errors import InvalidInput

FILE = "commands.log"
"""In the data folder, a line of JSON for each command."""


@contextmanager
def audit_line(
    command: str, data: Data, reason: str, *, changes: bool = True, **about: Any
) -> Generator[None]:
    """Write the line when the block ends; its `outcome` is the exit code. What `changes` nothing
    leaves none.

    Give no secrets.
    """
    outcome = 1
    try:
        yield
        outcome = 0
    except typer.Exit as end:
        outcome = end.exit_code
        raise
    except InvalidInput:
        outcome = 2
        raise
    finally:
        if changes:
            fields = {name: value for name, value in {**about, "reason": reason}.items() if value}
            line = {
                "event": "audit",
                "timestamp": datetime.now(UTC).isoformat(),
                "who": current_actor() or local_actor(),
                "what": command,
                **fields,
                "outcome": outcome,
            }
            _append(data, json.dumps(line, ensure_ascii=False) + "\n")


def _append(data: Data, line: str) -> None:
    # Which stack is meant is loaded with the rest of what a command needs.
    from operations.query_service import named_by_environment  # noqa: PLC0415

    if named_by_environment(data):
        sys.stderr.write(line)
        return
    file = DataFolder.at(data).path / FILE
    # Without a folder the command has done nothing; a full disk is no reason to call what it did a
    # failure.
    with (
        suppress(OSError),
        os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as log,
    ):
        log.write(line.encode())
