"""`repair`: events that the log lost, from the archive or a backup."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    Data,
    Json,
    Reason,
    Yes,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
    silent,
)
from cli.rebuild_output import Progress, ignore
from embedded.data_folder import DataFolder

# `--help` answers at once: the bus and the stores' drivers are loaded by the command that needs
# them. ruff: noqa: PLC0415

SHOWN = 20
"""Sequences that are listed."""


def repair(
    backups: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="DIR", help="A backup instead of the archive; several in their order."
        ),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option(
            "--copy",
            metavar="DIR",
            help="Where the repaired log is written first; else a new folder.",
        ),
    ] = None,
    yes: Yes = False,
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="Copies of each stream in a cluster.")
    ] = 1,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Put back what the log lost, at its own sequences: from the archive (LOG_ARCHIVE), or from a
    backup.

    The stack must not run (`lightstream down`), and of a deployment (NATS_URL) only the servers.
    What the log holds in another event's place moves to its end. The repaired log is written to a
    folder and verified first, then the log is made anew from it, then status, graph and vectors.
    What neither has stays lost: `lightstream audit` names it.
    """
    with (
        errors(as_json),
        audit_line(
            "repair", data, reason, changes=yes, backups=[str(backup) for backup in backups or ()]
        ),
    ):
        quiet_logs()
        from operations.leftovers import REPAIRED  # noqa: PLC0415
        from operations.repair import stack  # noqa: PLC0415

        folder = copy or DataFolder.at(data).path / f"{REPAIRED}{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        request = stack.RepairRequest(backups or [], folder.expanduser(), yes, replicas, reason)
        report, say = (ignore, silent) if as_json else (Progress(), note)
        outcome = stack.repair(data, request, report, say)
        if as_json:
            print_json(asdict(outcome))
            return
        verb = "came back" if outcome.events else "would come back"
        echo(f"{len(outcome.lost)} lost events {verb} to {outcome.stack}{_some(outcome.lost)}")
        echo(
            f"{len(outcome.changed)} {verb} where the log has another event{_some(outcome.changed)}"
        )
        if not yes and (outcome.lost or outcome.changed):
            note("nothing is changed without --yes")


def _some(sequences: list[int]) -> str:
    if not sequences:
        return ""
    more_note = f" and {len(sequences) - SHOWN} more" if len(sequences) > SHOWN else ""
    return f": sequences {', '.join(map(str, sequences[:SHOWN]))}{more_note}"
