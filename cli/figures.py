"""`figures describe`: have figures described that were there before a model was."""

import asyncio
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
    from operations.figures import OutdatedFigures, Requested, WaitingFigures
    from operations.target import Target

# `--help` answers at once: bus and parsers are loaded by the command that needs them.


class _Choice(NamedTuple):
    """Whose figures are meant, by ids or file names; `again`: those that are described, too."""

    names: list[str]
    again: bool


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
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Figures that another model, prompt or language described, too."
        ),
    ] = False,
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

    Nothing else of the documents is done again. With --again a document whose figures another model
    described gets a new version, in which the present one describes them: its text keeps what was
    extracted and embedded of it, unless settings of that have changed, too. With --wait it ends
    with code 1 when a figure could not be described.
    """
    choice = _Choice(documents or [], again)
    with (
        errors(as_json),
        audit_line("figures describe", data, reason, changes=yes, documents=choice.names),
    ):
        quiet_logs()
        from operations.target import select_target  # noqa: PLC0415

        if wait and not yes:
            raise InvalidInput("--wait is for figures that are described: give --yes, too")
        target = select_target(data)
        _check_model(target)
        if not yes:
            asyncio.run(_estimate(target, workspace, choice, as_json))
            return
        has_failed = asyncio.run(_describe(target, workspace, choice, wait=wait, as_json=as_json))
        if has_failed:
            raise typer.Exit(1)


def _check_model(target: "Target") -> None:
    """Raise InvalidInput where no model describes figures."""
    from runtime.models.roles import VISION, language_model  # noqa: PLC0415
    from services.chunker.settings import ChunkerSettings  # noqa: PLC0415

    if language_model(target.settings_of(ChunkerSettings), VISION) is None:
        raise InvalidInput("no model describes figures: set VLM_MODEL, and start the stack anew")


async def _chosen_figures(
    target: "Target", bus: "JetStreamContext", workspace: str, choice: _Choice
) -> "list[WaitingFigures | OutdatedFigures]":
    """Return what is to be described of each document: with `again` those with figures that another
    model described come first, with all of their figures.
    """
    from operations.figures import find_outdated, find_waiting  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415
    from services.chunker.settings import ChunkerSettings  # noqa: PLC0415

    settings = target.settings_of(ChunkerSettings)
    log = NatsLog(bus)
    outdated_figures = (
        await find_outdated(log, workspace, choice.names, settings) if choice.again else []
    )
    outdated_ids = {item.document_id for item in outdated_figures}
    waiting_figures = await find_waiting(log, workspace, choice.names, settings)
    return [
        *outdated_figures,
        *(item for item in waiting_figures if item.document_id not in outdated_ids),
    ]


async def _estimate(target: "Target", workspace: str, choice: _Choice, as_json: bool) -> None:
    from cli.costs import show_estimate  # noqa: PLC0415
    from contracts.values import Chunk  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.estimate import EstimateSettings, estimate_figures  # noqa: PLC0415
    from operations.figures import OutdatedFigures, text_to_extract  # noqa: PLC0415
    from operations.past_calls import past_calls  # noqa: PLC0415
    from runtime.bus.nats.blobs import NatsBlobs  # noqa: PLC0415
    from runtime.bus.nats.key_values import NatsLiveGenerations  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415
    from services.chunker.settings import ChunkerSettings  # noqa: PLC0415
    from services.extractor.settings import ExtractorSettings  # noqa: PLC0415

    chunks: list[Chunk] = []
    async with connect_bus(target.settings.nats_url) as bus:
        pointers = await NatsLiveGenerations.bind(bus)
        settings = EstimateSettings(
            target.settings_of(ChunkerSettings),
            target.settings_of(ExtractorSettings),
            past=await past_calls(pointers, target, workspace),
            workspace=workspace,
        )
        documents_to_describe = await _chosen_figures(target, bus, workspace, choice)
        for item in documents_to_describe:
            if isinstance(item, OutdatedFigures):
                chunks += await text_to_extract(
                    NatsLog(bus), NatsBlobs(bus), workspace, item, settings
                )
    if not documents_to_describe and not as_json:
        echo("no figure waits for a description")
        return
    cost_estimate = estimate_figures(
        [item.figures for item in documents_to_describe], settings, chunks
    )
    show_estimate(cost_estimate, "nothing was described without --yes", as_json)


async def _describe(
    target: "Target", workspace: str, choice: _Choice, *, wait: bool, as_json: bool
) -> bool:
    """Return whether a document is not whole at the end, where it is waited for."""
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.figures import request_descriptions  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    figure_counts: dict[str, int] = {}
    requests: dict[str, Requested] = {}
    async with connect_bus(target.settings.nats_url) as bus:
        for item in await _chosen_figures(target, bus, workspace, choice):
            if request := await request_descriptions(NatsLog(bus), workspace, item):
                figure_counts[item.document_id] = len(item.figures)
                requests[item.document_id] = request
        statuses = (
            await _followed(target, bus, workspace, requests, is_hidden=as_json)
            if wait and requests
            else []
        )
    unfinished_documents = [document for document in statuses if document.status != "processed"]
    if as_json:
        shown_documents = [document.model_dump(exclude_unset=True) for document in statuses]
        counts = {"figures": sum(figure_counts.values()), "requested": figure_counts}
        print_json({**counts, "documents": shown_documents})
        return bool(unfinished_documents)
    count = sum(figure_counts.values())
    echo(f"{counted(count, 'figure')} of {counted(len(requests), 'document')} to be described")
    if requests and not wait:
        note("see how far they are: lightstream status")
    for document in unfinished_documents:
        reason = document.error_msg or "see `status`"
        note(line(f"  {document.status}: {document.file_path}: {reason}"))
    return bool(unfinished_documents)


async def _followed(
    target: "Target",
    bus: "JetStreamContext",
    workspace: str,
    requests: "dict[str, Requested]",
    *,
    is_hidden: bool,
) -> "list[Document]":
    from cli.bars import progress_bars  # noqa: PLC0415
    from operations import adding, progress  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415

    sequence = max(request.sequence for request in requests.values())
    counts = {id: request.chunk_count for id, request in requests.items()}
    times = {id: request.at for id, request in requests.items()}

    async def caught_up() -> bool:
        return await adding.is_in_status(bus, workspace, sequence)

    async with query_client(target.api, workspace) as client:
        with progress_bars(is_hidden=is_hidden) as show:
            return await progress.wait_for_documents(client, times, caught_up, show, counts)
