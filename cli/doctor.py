"""`doctor`: what is missing or unhealthy, and what to do."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

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


def doctor(
    models: Annotated[
        bool, typer.Option("--models", help="Ask each model one word, which its provider counts.")
    ] = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Examine this machine and the stack, and say what to do. Ends with code 1 when something is
    wrong.
    """
    with errors(as_json):
        quiet_logs()
        findings = asyncio.run(_examine(data, workspace, as_json, models=models))
        if as_json:
            print_json([asdict(finding) for finding in findings])
        if any(finding.level == "fault" for finding in findings):
            raise typer.Exit(1)


async def _examine(data: Data, workspace: str, is_hidden: bool, *, models: bool) -> list["Finding"]:
    # `--help` answers without loading the drivers.
    from operations.doctor.examine import examine, examine_deployment  # noqa: PLC0415
    from operations.query_service import named_by_environment  # noqa: PLC0415
    from operations.target import target_of_environment  # noqa: PLC0415

    elsewhere = named_by_environment(data)
    stream = (
        examine_deployment(target_of_environment(), workspace)
        if elsewhere
        else examine(DataFolder.at(data), workspace)
    )
    streams = [stream]
    if models:
        from operations.doctor.models import examine_models, examine_models_of  # noqa: PLC0415
        from runtime.models.roles import RoleSettings  # noqa: PLC0415

        streams.append(
            examine_models(RoleSettings()) if elsewhere else examine_models_of(DataFolder.at(data))
        )
    findings: list[Finding] = []
    for finding_stream in streams:
        async for finding in finding_stream:
            findings.append(finding)
            _show(finding, is_hidden)
    return findings


def _show(finding: "Finding", is_hidden: bool) -> None:
    if is_hidden:
        return
    sign, colour = _SIGNS[finding.level]
    echo(f"  {finding.what}", label=sign, colour=colour)
    if finding.todo:
        echo(f"      {finding.todo}")
