"""`delete`: documents out of the stack, without a trace in what is searched."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from standalone.cli.common import DATA, WORKSPACE, Data, Json, Workspace, echo, errors, note, print_json, quiet_logs

if TYPE_CHECKING:
    from standalone.operations.target import Target

# `--help` answers at once: the bus is loaded by the command that needs it.
# ruff: noqa: PLC0415

PAUSE = 0.3
"""Seconds between two looks at what is left."""


@dataclass
class DeleteOutcome:
    """Ids of deleted documents, and names that no document has."""

    deleted: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])


def delete(
    documents: Annotated[
        list[str], typer.Argument(metavar="DOCUMENT…", help="Ids or file names, as `status` has them.")
    ],
    wait: Annotated[bool, typer.Option("--wait", help="Wait until nothing of them is found any more.")] = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Delete documents: graph, vectors and status become as if they had never been added.

    What people said of entities stays. The log keeps the events; adding a document again begins anew. Ends with code 1
    when one was not found.
    """
    with errors(as_json):
        quiet_logs()
        from standalone.operations.target import select_target

        outcome = asyncio.run(_delete(select_target(data), documents, wait, workspace))
        if as_json:
            print_json(asdict(outcome))
        else:
            echo(f"{len(outcome.deleted)} deleted")
            for name in outcome.unknown:
                note(f"  no document {name!r} in workspace {workspace}")
        raise typer.Exit(1 if outcome.unknown else 0)


async def _delete(stack: "Target", wanted: Sequence[str], wait: bool, workspace: str) -> DeleteOutcome:
    from runtime.bus.nats.log import NatsLog
    from runtime.bus.publisher import delete_document
    from standalone.operations.publishing import SOURCE, connect_bus
    from standalone.operations.target import query_client

    outcome = DeleteOutcome()
    async with connect_bus(stack.settings.nats_url) as bus, query_client(stack.api, workspace) as client:
        known = await client.all_documents()
        for name in wanted:
            ids = [each.id for each in known if name in (each.id, each.file_path)]
            for id in ids or [name]:
                gone = await delete_document(NatsLog(bus), workspace=workspace, id=id, source=SOURCE)
                (outcome.deleted if gone else outcome.unknown).append(id)
        while wait and any(each.id in outcome.deleted for each in await client.all_documents()):  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)
    return outcome
