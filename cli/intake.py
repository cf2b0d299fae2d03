"""`intake`: makes documents of files that other systems hand in on the bus."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli.common import DATA, Data, Json, echo, errors, note, print_json, quiet_logs, silent

if TYPE_CHECKING:
    from operations.intake.reader import Intake, IntakeCounts

# `--help` answers at once: the bus is loaded by the command that needs it.

PAUSE = 2.0
"""Seconds until a bus that did not answer is asked again."""


def intake(
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits any more.")] = False,
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Make documents of files that other systems publish to kb.in.WORKSPACE, until it is stopped.

    Bytes with the headers document-id, file-name, content-type. What cannot be read becomes a dead
    letter. For a deployment, with the operator's credentials of the bus in the environment.
    """
    with errors(as_json):
        quiet_logs()
        counts = asyncio.run(_serve(data, once, as_json))
        if as_json:
            print_json(asdict(counts))
        else:
            echo(
                f"{counts.additions} added, {counts.repetitions} unchanged, "
                f"{counts.deletions} deleted, {counts.refusals} refused"
            )


async def _serve(data: Data, once: bool, as_json: bool) -> "IntakeCounts":
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.intake.reader import Intake  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from runtime.bus.topology import apply_intake  # noqa: PLC0415
    from runtime.parsing.settings import ParserSettings  # noqa: PLC0415

    target = select_target(data)
    services = target.settings_of(ParserSettings).parsing_services()
    stop = asyncio.Event()
    async with connect_bus(target.settings.nats_url) as bus:
        await apply_intake(bus)
        reader = Intake(bus, silent if as_json else note, services)
        with on_stop_signal(stop.set):
            if not once:
                note(f"takes in files for {target.name}")
            await _read(reader, stop, once)
    return reader.counts


async def _read(reader: "Intake", stop: asyncio.Event, once: bool) -> None:
    """Read, and go on where the bus was away for a while."""
    from runtime.errors import Unavailable  # noqa: PLC0415

    while not stop.is_set():
        try:
            await reader.read(stop, once=once)
        except Unavailable as error:
            if once:
                raise
            note(f"waits: {error}")
            await asyncio.sleep(PAUSE)
        else:
            return
