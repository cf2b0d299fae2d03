"""`log`: the events, readable."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli import terminal
from cli.common import DATA, WORKSPACE, Data, Json, Workspace, echo, errors, quiet_logs

if TYPE_CHECKING:
    from operations.event_lines import EventLine

# `--help` answers at once: the bus is loaded by the command that needs it.

PAUSE = 0.3
"""Seconds between two looks at the end of the log."""


def log(
    document: Annotated[
        str | None, typer.Option(help="Only this document's history: its id or file name.")
    ] = None,
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

    With --json, one object a line.
    """
    with errors(as_json):
        quiet_logs()
        from operations.target import select_target  # noqa: PLC0415

        asyncio.run(
            _log(select_target(data).settings.nats_url, document, start, follow, as_json, workspace)
        )


async def _log(
    url: str, document: str | None, start: int, follow: bool, as_json: bool, workspace: str
) -> None:
    # Closed here and not by the garbage collector: `log | head` ends in the middle.
    async with aclosing(_lines(url, workspace, document, start, follow)) as lines:
        async for line in lines:
            if as_json:
                echo(terminal.as_json({**asdict(line), "time": line.time.isoformat()}, indent=None))
            else:
                name = line.document if len(line.document) <= 40 else f"{line.document[:39]}…"
                by = f"  [{line.actor}]" if line.actor else ""
                event_line = terminal.line(f"{line.type:<17}  {name}  {line.gist}{by}")
                echo(f"{line.sequence:>7}  {line.time:%Y-%m-%d %H:%M:%S}  {event_line}")


async def _lines(
    url: str, workspace: str, document: str | None, start: int, follow: bool
) -> AsyncGenerator["EventLine"]:
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415
    from operations.event_lines import event_line, subjects_of  # noqa: PLC0415
    from operations.publishing import connect_bus  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    subjects = subjects_of(workspace, document)
    after = max(0, start - 1)
    # Asked to end rather than cancelled: a client in the middle of a fetch may swallow a
    # cancellation.
    stop = asyncio.Event()
    async with connect_bus(url) as bus:
        with on_stop_signal(stop.set) if follow else nullcontext():
            while not stop.is_set():
                async with aclosing(NatsLog(bus).read(after, subjects)) as pages:
                    async for page in pages:
                        for message in page:
                            after = message.sequence
                            yield event_line(message)
                if not follow:
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(PAUSE):
                        await stop.wait()
