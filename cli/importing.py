"""`import`: what another system has made of documents, without asking a model."""

import asyncio
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
)
from cli.terminal import line

if TYPE_CHECKING:
    from lightstream_rag.models import Document
    from operations.importing.lightrag_env import LightRagSource
    from operations.importing.plan import ImportPlan
    from operations.importing.publish import ImportOutcome
    from operations.target import Target

# `--help` answers at once: what reads and publishes is loaded by the command that needs it.

app = typer.Typer(
    help="Take over what another system has made of documents, without asking a model.",
    no_args_is_help=True,
)

MAX_NAMES = 5
"""Documents that are named of those left out for one reason; --json names all."""


class ImportOptions(NamedTuple):
    """The options of the command that publishing knows."""

    workspace: str
    wait: bool
    as_json: bool


@app.command("lightrag")
def import_lightrag(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER|ENV", help="LightRAG's WORKING_DIR, or its .env.")
    ],
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Workspace of LightRAG; else that of ENV."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Import nothing: show what would come, and what not.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until the documents can be asked about.")
    ] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Import documents, chunks, entities, relations and edits of a LightRAG, without asking a
    language model.

    Stop LightRAG, or take a copy of its folder. What the log has already is not sent again. Ends
    with code 1 when any document was refused or failed.
    """
    is_recorded = bool(reason) and not dry_run
    with (
        errors(as_json),
        audit_line("import lightrag", data, reason, changes=is_recorded, folder=str(source)),
    ):
        quiet_logs()
        from operations.importing.lightrag_env import find_source  # noqa: PLC0415
        from operations.importing.lightrag_files import read_folder  # noqa: PLC0415
        from operations.importing.plan import plan_import  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        working_folders = find_source(source, origin)
        plan = plan_import(read_folder(working_folders.folder()))
        options = ImportOptions(workspace, wait, as_json)
        has_failed = False
        if not dry_run:
            has_failed = asyncio.run(_import(select_target(data), plan, options))
        elif as_json:
            print_json(_plan_fields(plan))
        else:
            _show_plan(plan)
        if not as_json:
            _show_other_workspaces(source, working_folders)
        if has_failed:
            raise typer.Exit(1)


async def _import(stack: "Target", plan: "ImportPlan", options: ImportOptions) -> bool:
    """Publish the plan and show what came of it; return whether anything failed."""
    outcome, statuses = await _publish(stack, plan, options)
    documents = outcome.documents
    unfinished_documents = [document for document in statuses if document.status != "processed"]
    if options.as_json:
        shown_documents = [document.model_dump(exclude_unset=True) for document in statuses]
        print_json({**_plan_fields(plan), **asdict(outcome), "statuses": shown_documents})
    else:
        _show_plan(plan)
        echo(
            f"{len(documents.added)} documents added, {len(documents.unchanged)} unchanged; "
            f"{outcome.edits} edits added, {outcome.unchanged_edits} unchanged"
        )
        for refused_document in documents.refused:
            note(f"  refused {line(refused_document.name)}: {line(refused_document.reason)}")
        for document in unfinished_documents:
            reason = line(document.error_msg or "see `status`")
            note(f"  {document.status}: {line(document.file_path)}: {reason}")
    return bool(documents.refused or unfinished_documents)


async def _publish(
    stack: "Target", plan: "ImportPlan", options: ImportOptions
) -> "tuple[ImportOutcome, list[Document]]":
    from cli.bars import progress_bars  # noqa: PLC0415
    from operations import adding, progress  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.importing.publish import publish_import  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415

    workspace = options.workspace
    total = len(plan.documents)
    async with (
        connect_bus(stack.settings.nats_url) as bus,
        query_client(stack.api, workspace) as client,
    ):
        with progress_bars(is_hidden=options.as_json) as show:
            names: list[str] = []

            def done(name: str) -> None:
                names.append(name)
                show([progress.Stage("imported", len(names), total)])

            outcome = await publish_import(
                bus, workspace, plan, track_id=f"import_{uuid.uuid4()}", on_done=done
            )
            documents = outcome.documents
            if not (options.wait and (times := documents.added_at)):
                return outcome, []

            async def caught_up() -> bool:
                return await adding.is_in_status(bus, workspace, documents.last_sequence)

            return outcome, await progress.wait_for_documents(client, times, caught_up, show)


def _plan_fields(plan: "ImportPlan") -> dict[str, object]:
    return {
        "counts": plan.counts,
        "left_out": dict(plan.left_out),
        "notes": {sentence: count for sentence, count in plan.notes.items() if count},
        "edits_planned": [
            edit.model_dump(mode="json", include={"operation", "names", "values"})
            for edit in plan.edits
        ],
    }


def _show_plan(plan: "ImportPlan") -> None:
    """Print what comes and what does not, and why."""
    counts = plan.counts
    echo(
        f"{counts['documents']} documents of {counts['chunks']} chunks: {counts['entities']} "
        f"entities, {counts['relations']} relations, {counts['edits']} edits"
    )
    note(
        f"  {counts['chunks_with_answers']} chunks with a model's answer in the cache, "
        f"{counts['chunks'] - counts['chunks_with_answers']} of what the graph says"
    )
    for edit in plan.edits[:MAX_NAMES]:
        note(f"  {edit.operation} {line(', '.join(edit.names))}: made by hand in LightRAG")
    if len(plan.edits) > MAX_NAMES:
        note(f"  … and {len(plan.edits) - MAX_NAMES} more edits")
    for sentence, count in plan.notes.items():
        if count:
            note(f"  {count} {sentence}")
    for reason, names in plan.left_out.items():
        rest_of_names = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        note(f"  left out {', '.join(map(line, names[:MAX_NAMES]))}{rest_of_names}: {reason}")


def _show_other_workspaces(source: Path, working_folders: "LightRagSource") -> None:
    for name in sorted(working_folders.folders.keys() - {working_folders.workspace, ""}):
        shown_name = line(name)
        note(
            f"  another workspace: lightstream import lightrag {line(str(source))} "
            f"--from {shown_name} --workspace {shown_name}"
        )


@app.command("exporter")
def print_exporter() -> None:
    """Print a program that has LightRAG write its stores into a folder, whichever they are.

    Run it in LightRAG's own environment, beside its .env: `python export.py FOLDER`.
    """
    from operations.importing import export_lightrag  # noqa: PLC0415

    echo(Path(export_lightrag.__file__).read_text("utf-8"))
