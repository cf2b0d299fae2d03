"""`golden run`: asks the golden questions, and ends with code 1 where too few pass."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.client import call_query_service
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    echo,
    errors,
    interactive,
    note,
    print_json,
    rewrite,
)
from cli.terminal import line
from runtime.errors import ServiceError

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.golden import GoldenRun, GoldenRunLine


def run(
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="SEQ|TIME", help="Ask what the log had then: 17, 2026-03-01T12:00."
        ),
    ] = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Only this question; may be repeated.")
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", dir_okay=False, help="Write a JUnit file, too."),
    ] = None,
    fail_below: Annotated[
        float,
        typer.Option(
            "--fail-below",
            metavar="SHARE",
            min=0,
            max=1,
            help="End with code 1 where a smaller share passes; 1: all must.",
        ),
    ] = 1.0,
    branch: Annotated[
        str, typer.Option("--branch", metavar="NAME", help="Ask this branch of the workspace.")
    ] = "",
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Ask the golden questions: which passed, and why the others did not. The run is recorded."""
    with errors(as_json):
        show = _ignore if as_json else _show_line

        async def ask(client: "AsyncLightstream") -> "list[GoldenRunLine]":
            lines: list[GoldenRunLine] = []
            run_stream = client.run_golden_questions(
                ids=ids or (), as_of=at, reason=reason, branch=branch
            )
            async with run_stream as run_lines:
                async for run_line in run_lines:
                    lines.append(run_line)
                    show(run_line, len(lines))
            return lines

        lines = call_query_service(data, workspace, ask)
        golden_run = lines[-1].run if lines else None
        if golden_run is None:
            raise ServiceError("the run broke off: nothing was recorded; ask again")
        if junit:
            _write_junit(junit, workspace, lines)
        _print_run(golden_run, lines, as_json)
        raise typer.Exit(1 if golden_run.passed < fail_below * golden_run.total else 0)


def _ignore(_: "GoldenRunLine", __: int) -> None:
    """Print nothing: JSON is wanted."""


def _show_line(run_line: "GoldenRunLine", number: int) -> None:
    result = run_line.result
    if result is None:
        return
    if interactive():
        rewrite(f"{number} of {run_line.of} asked", is_finished=number == run_line.of)
    label = "passed  " if result.passed else "failed  "
    colour = "green" if result.passed else "red"
    echo(f"{result.id:<16} {line(run_line.question)}", label=label, colour=colour)
    for why in result.why:
        echo(f"          {line(why)}")


def _print_run(golden_run: "GoldenRun", lines: "list[GoldenRunLine]", as_json: bool) -> None:
    if not as_json:
        note(f"{golden_run.passed} of {golden_run.total} passed ({golden_run.share:.0%})")
        return
    results = [
        {"question": run_line.question, **run_line.result.model_dump()}
        for run_line in lines
        if run_line.result
    ]
    print_json({**golden_run.model_dump(mode="json"), "results": results})


def _write_junit(path: Path, workspace: str, lines: "list[GoldenRunLine]") -> None:
    from operations.junit_report import ReportedQuestion, junit_xml  # noqa: PLC0415

    questions = [
        ReportedQuestion(
            run_line.result.id, run_line.question, run_line.result.passed, run_line.result.why
        )
        for run_line in lines
        if run_line.result
    ]
    path.write_text(junit_xml(workspace, questions), "utf-8")
