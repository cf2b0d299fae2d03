"""`figures describe`: have figures described that were there before a model was."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    Yes,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
)
from cli.terminal import counted, line
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from lightstream_rag.models import Document
    from operations.estimate import CostEstimate
    from operations.figures import WaitingFigures
    from operations.target import Target

# `--help` answers at once: bus and parsers are loaded by the command that needs them.

app = typer.Typer(help="Pictures of documents.", no_args_is_help=True)


@app.callback()
def figures() -> None:
    """Pictures of documents."""


@app.command()
def describe(
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOCUMENT…]", help="Ids or file names, as `status` has them."),
    ] = None,
    yes: Yes = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until they can be asked about.")
    ] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Have the model of VLM_MODEL describe figures that nobody describes: of documents that were
    added before it was set, or below its limits. Without --yes only estimate what that may cost.

    Nothing else of the documents is done again. A figure that has a description keeps it when
    VLM_MODEL names another model: delete its document and add the file again to have that one
    describe it. With --wait it ends with code 1 when a figure could not be described.
    """
    names = documents or []
    with (
        errors(as_json),
        audit_line("figures describe", data, reason, changes=yes, documents=names),
    ):
        quiet_logs()
        from operations.target import select_target  # noqa: PLC0415

        if wait and not yes:
            raise InvalidInput("--wait is for figures that are described: give --yes, too")
        target = select_target(data)
        _check_model(target)
        if not yes:
            asyncio.run(_estimate(target, workspace, names, as_json))
            return
        has_failed = asyncio.run(_describe(target, workspace, names, wait=wait, as_json=as_json))
        if has_failed:
            raise typer.Exit(1)


def _check_model(target: "Target") -> None:
    """Raise InvalidInput where no model describes figures."""
    from runtime.models.roles import VISION, language_model  # noqa: PLC0415
    from services.chunker.settings import ChunkerSettings  # noqa: PLC0415

    if language_model(target.settings_of(ChunkerSettings), VISION) is None:
        raise InvalidInput("no model describes figures: set VLM_MODEL, and start the stack anew")


async def _waiting(
    target: "Target", bus: "JetStreamContext", workspace: str, names: list[str]
) -> "list[WaitingFigures]":
    from operations.figures import find_waiting  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415
    from services.chunker.settings import ChunkerSettings  # noqa: PLC0415

    return await find_waiting(NatsLog(bus), workspace, names, target.settings_of(ChunkerSettings))


async def _estimate(target: "Target", workspace: str, names: list[str], as_json: bool) -> None:
    from cli.costs import estimate_settings, show_estimate  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.estimate import estimate_figures  # noqa: PLC0415

    async with connect_bus(target.settings.nats_url) as bus:
        waiting = await _waiting(target, bus, workspace, names)
    if not waiting and not as_json:
        echo("no figure waits for a description")
        return
    settings = await estimate_settings(target, workspace)
    cost_estimate: CostEstimate = estimate_figures([item.figures for item in waiting], settings)
    show_estimate(cost_estimate, "nothing was described without --yes", as_json)


async def _describe(
    target: "Target", workspace: str, names: list[str], *, wait: bool, as_json: bool
) -> bool:
    """Return whether a document is not whole at the end, where it is waited for."""
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.figures import request_descriptions  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async with connect_bus(target.settings.nats_url) as bus:
        waiting = await _waiting(target, bus, workspace, names)
        sequence = 0
        for item in waiting:
            sequence = await request_descriptions(NatsLog(bus), workspace, item)
        is_followed = wait and bool(waiting)
        statuses = (
            await _followed(target, bus, workspace, waiting, sequence, is_hidden=as_json)
            if is_followed
            else []
        )
    unfinished_documents = [document for document in statuses if document.status != "processed"]
    if as_json:
        requested = {item.document_id: len(item.figures) for item in waiting}
        shown_documents = [document.model_dump(exclude_unset=True) for document in statuses]
        counts = {"figures": sum(requested.values()), "requested": requested}
        print_json({**counts, "documents": shown_documents})
        return bool(unfinished_documents)
    count = sum(len(item.figures) for item in waiting)
    echo(f"{counted(count, 'figure')} of {counted(len(waiting), 'document')} to be described")
    if waiting and not wait:
        note("see how far they are: lightstream status")
    for document in unfinished_documents:
        reason = document.error_msg or "see `status`"
        note(line(f"  {document.status}: {document.file_path}: {reason}"))
    return bool(unfinished_documents)


async def _followed(
    target: "Target",
    bus: "JetStreamContext",
    workspace: str,
    waiting: "list[WaitingFigures]",
    sequence: int,
    *,
    is_hidden: bool,
) -> "list[Document]":
    from cli.bars import progress_bars  # noqa: PLC0415
    from operations import adding, progress  # noqa: PLC0415
    from operations.target import query_client  # noqa: PLC0415

    counts = {item.document_id: item.listing.chunk_count for item in waiting}

    async def caught_up() -> bool:
        return await adding.is_in_status(bus, workspace, sequence)

    async with query_client(target.api, workspace) as client:
        with progress_bars(is_hidden=is_hidden) as show:
            times = dict.fromkeys(counts, 0)
            return await progress.wait_for_documents(client, times, caught_up, show, counts)
