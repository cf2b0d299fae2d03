"""`doctor`: what is missing or unhealthy, and what to do."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Workspace,
    echo,
    errors,
    print_json,
    quiet_logs,
)
from embedded.data_folder import DataFolder

if TYPE_CHECKING:
    from runtime.findings import Finding

_SIGNS = {"well": ("ok  ", "green"), "note": ("note", "yellow"), "fault": ("FAIL", "red")}


def doctor(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """Examine this machine and the stack, and say what to do. Ends with code 1 when something is
    wrong.
    """
    with errors(as_json):
        quiet_logs()
        findings = asyncio.run(_examine(data, workspace, as_json))
        if as_json:
            print_json([asdict(finding) for finding in findings])
        if any(finding.level == "fault" for finding in findings):
            raise typer.Exit(1)


async def _examine(data: Data, workspace: str, is_hidden: bool) -> list["Finding"]:
    # `--help` answers without loading the drivers.
    from operations.doctor.examine import examine, examine_deployment  # noqa: PLC0415
    from operations.target import named_by_environment, target_of_environment  # noqa: PLC0415

    elsewhere = named_by_environment(data)
    stream = (
        examine_deployment(target_of_environment(), workspace)
        if elsewhere
        else examine(DataFolder.at(data), workspace)
    )
    findings: list[Finding] = []
    async for finding in stream:
        findings.append(finding)
        if not is_hidden:
            sign, colour = _SIGNS[finding.level]
            echo(f"  {finding.what}", label=sign, colour=colour)
            if finding.todo:
                echo(f"      {finding.todo}")
    return findings
