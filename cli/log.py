"""`log`: the events, readable."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cli import terminal
from cli.common import DATA, WORKSPACE, Data, Json, Workspace, echo, errors, quiet_logs
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from operations.event_lines import EventLine

# `--help` answers at once: the bus is loaded by the command that needs it.

PAUSE = 0.3
"""Seconds between two looks at the end of the log."""


@dataclass(frozen=True)
class LogQuery:
    """Which events are shown: those of one document or all, from a place or only the last ones."""

    workspace: str
    document: str | None
    start: int
    since: str
    last: int
    follow: bool


def log(
    document: Annotated[
        str | None, typer.Option(help="Only this document's history: its id or file name.")
    ] = None,
    last: Annotated[
        int,
        typer.Option("--last", "-n", metavar="N", min=0, help="Only the last N events; 0: all."),
    ] = 0,
    since: Annotated[
        str,
        typer.Option("--since", metavar="SEQ|TIME", help="Only what came behind this place."),
    ] = "",
    start: Annotated[
        int, typer.Option("--from", metavar="SEQ", min=0, help="First log sequence to show.")
    ] = 0,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new events until Ctrl-C.")
    ] = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show what happened, one event a line: sequence, time, type, document, gist, and who did it.

    With --json, one object a line. Ends with code 2 for a document of which the log has nothing.
    """
    with errors(as_json):
        quiet_logs()
        if since and start:
            raise InvalidInput("give --since or --from, not both")
        from operations.target import select_target  # noqa: PLC0415

        query = LogQuery(workspace, document, start, since, last, follow)
        asyncio.run(_log(select_target(data).settings.nats_url, query, as_json))


async def _log(url: str, query: LogQuery, as_json: bool) -> None:
    # Closed here and not by the garbage collector: `log | head` ends in the middle.
    async with aclosing(_lines(url, query)) as lines:
        async for line in lines:
            if as_json:
                echo(terminal.as_json({**asdict(line), "time": line.time.isoformat()}, indent=None))
            else:
                name = line.name if len(line.name) <= 40 else f"{line.name[:39]}…"
                by = f"  [{line.actor}]" if line.actor else ""
                event_line = terminal.line(f"{line.type:<17}  {name}  {line.gist}{by}")
                echo(f"{line.sequence:>7}  {line.time:%Y-%m-%d %H:%M:%S}  {event_line}")


async def _lines(url: str, query: LogQuery) -> AsyncGenerator["EventLine"]:
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.event_lines import (  # noqa: PLC0415
        DocumentNames,
        event_line,
        last_messages,
        place_before,
        subjects_of,
    )
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    subjects = subjects_of(query.workspace, query.document)
    # Asked to end rather than cancelled: a client in the middle of a fetch may swallow a
    # cancellation.
    stop = asyncio.Event()
    async with connect_bus(url) as bus:
        log = NatsLog(bus)
        names = DocumentNames(log, query.workspace)
        after = await place_before(log, query.workspace, query.since, query.start)
        if query.document and not await last_messages(log, query.workspace, subjects, 1, 0):
            raise InvalidInput(
                f"the log has nothing of a document {query.document!r} in workspace "
                f"{query.workspace}"
            )
        if query.last:
            last_found = await last_messages(log, query.workspace, subjects, query.last, after)
            for line in await names.named([*map(event_line, last_found)]):
                after = line.sequence
                yield line
        with on_stop_signal(stop.set) if query.follow else nullcontext():
            while not stop.is_set():
                async with aclosing(log.read(after, subjects)) as pages:
                    async for page in pages:
                        for line in await names.named([*map(event_line, page)]):
                            after = line.sequence
                            yield line
                if not query.follow:
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(PAUSE):
                        await stop.wait()
