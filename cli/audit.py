"""`audit`: whether the log still says what it said."""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    Data,
    Json,
    Reason,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
)
from cli.rebuild_output import Progress, ignore

# `--help` answers at once: the bus and the stores' drivers are loaded by the command that needs
# them. ruff: noqa: PLC0415


def audit(
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Let the log count as it is, whatever is found, and forget what it was.",
        ),
    ] = False,
    part: Annotated[
        float,
        typer.Option(
            "--part", hidden=True, help="Audit the next part only, in so many seconds of CPU."
        ),
    ] = 0.0,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Read the whole log and compare it with the hash chain of each workspace, its marks and its
    erasures.

    Where all is well the chains are extended up to its end, so the next audit covers what is new.
    Where something is changed, missing or put in another's place the command names the first break,
    ends with code 1, and the services write nothing more until the log is repaired or accepted.
    """
    with errors(as_json), audit_line("audit --accept", data, reason, changes=accept):
        quiet_logs()
        from operations import audit as operation  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        settings = select_target(data).settings
        report = ignore if as_json else Progress()
        work = (
            operation.audit_part(settings, part)
            if part
            else operation.audit(settings, report, accept=accept)
        )
        findings = asyncio.run(work)
        if as_json:
            print_json(asdict(findings))
        else:
            echo(
                f"{findings.events} events of {findings.workspaces} workspaces up to sequence "
                f"{findings.last}"
            )
            if not findings.problems:
                echo(
                    f"{findings.chained} of them were chained before and are unchanged; all "
                    "are chained now"
                )
            for problem in findings.problems:
                note(f"  {problem}")
            if findings.problems and accept:
                echo("the log counts as it is from now on")
        raise typer.Exit(1 if findings.problems and not accept else 0)
