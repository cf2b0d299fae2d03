"""`delete`: documents out of the stack, without a trace in what is searched."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

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
from cli.terminal import line

if TYPE_CHECKING:
    from operations.target import Target

# `--help` answers at once: the bus is loaded by the command that needs it.

PAUSE = 0.3
"""Seconds between two looks at what is left."""


@dataclass(frozen=True)
class Deletion:
    """A deletion as somebody asks for it: ids or file names; `yes`: do it, and do not only look."""

    documents: Sequence[str]
    workspace: str
    reason: str
    yes: bool
    wait: bool


@dataclass
class DeleteOutcome:
    """Ids of documents that are deleted, or would be, and names that no document has; file names by
    id.
    """

    deleted: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])


def delete(
    documents: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT…", help="Ids or file names, as `status` has them."),
    ],
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until nothing of them is found any more.")
    ] = False,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Delete documents: graph, vectors and status become as if they had never been added.

    What people said of entities stays. The log keeps the events: `undo` takes a deletion back,
    `erase` leaves nothing to take back. Ends with code 2 when one was not found.
    """
    with errors(as_json):
        quiet_logs()
        from operations.target import select_target  # noqa: PLC0415

        outcome = asyncio.run(
            _delete(select_target(data), Deletion(documents, workspace, reason, yes, wait))
        )
        if as_json:
            print_json(
                {"deleted" if yes else "would_delete": outcome.deleted, "unknown": outcome.unknown}
            )
        else:
            for id in () if yes else outcome.deleted:
                echo(line(f"would delete {outcome.names.get(id, '')}  {id}"))
            if yes:
                echo(f"{len(outcome.deleted)} deleted")
            for name in outcome.unknown:
                note(f"  no document {name!r} in workspace {workspace}")
            if not yes:
                note("nothing is deleted without --yes")
        raise typer.Exit(2 if outcome.unknown else 0)


async def _delete(stack: "Target", request: Deletion) -> DeleteOutcome:
    from contracts.spelling import name_spelling  # noqa: PLC0415
    from operations.command_bus import SOURCE, connect_bus  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415
    from publishing.current_version import current_content_hash  # noqa: PLC0415
    from publishing.documents import delete_document  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    outcome = DeleteOutcome()
    async with (
        connect_bus(stack.settings.nats_url) as bus,
        query_client(stack.api, request.workspace) as client,
    ):
        log = NatsLog(bus)
        documents = await client.documents_named(request.documents)
        outcome.names = {document.id: document.file_path for document in documents}
        for name in request.documents:
            spelling = name_spelling(name)
            ids = [
                document.id
                for document in documents
                if spelling in map(name_spelling, (document.id, document.file_path))
            ]
            for id in ids or [name]:
                was_found = (
                    await delete_document(
                        log,
                        workspace=request.workspace,
                        id=id,
                        source=SOURCE,
                        reason=request.reason,
                    )
                    if request.yes
                    else ids or await current_content_hash(log, workspace=request.workspace, id=id)
                )
                (outcome.deleted if was_found else outcome.unknown).append(id)
        while (  # noqa: ASYNC110
            request.yes and request.wait and await client.documents_by_id(outcome.deleted)
        ):
            await asyncio.sleep(PAUSE)
    return outcome
