"""`digest` and `projections`: what the stores hold, in one number, and how far they are."""

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
    show,
)
from cli.partition import placement_line
from cli.rebuild_output import describe_step

if TYPE_CHECKING:
    from contracts.placements import Placement
    from runtime.projections.progress import ProjectionStates

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.

app = typer.Typer(
    help="Status, graph and vectors: how far they are, and why.", no_args_is_help=True
)


@app.callback()
def projections() -> None:
    """Status, graph and vectors: how far they are, and why."""


@app.command("list")
def list_(data: Data = DATA, as_json: Json = False) -> None:
    """Show each projection: its generation, cursor, head of the log, lag, rate, state, and why it
    stands.

    Cursor and head are sequences of the log. Lag is what its slowest consumer has yet to handle,
    the rate is that of the second before. States: current, behind, waiting (events are parked),
    lost. A rebuild under way is shown, too.
    """
    with errors(as_json):
        quiet_logs()
        states, placements = asyncio.run(_states(data))
        if as_json:
            print_json(asdict(states))
            return
        for state in states.projections:
            behind = f", {state.lag} events behind, {state.rate:.0f}/s" if state.lag else ""
            echo(
                f"{state.projection:<8} {state.state}, generation {state.generation}, "
                f"{state.cursor} of {state.head}{behind}"
            )
            if state.candidate:
                echo(
                    f"         generation {state.candidate} waits for `lightstream rebuild promote`"
                )
            if state.why:
                echo(f"         {state.why}")
        for partition in states.partitions:
            lags = ", ".join(f"{name} {lag}" for name, lag in partition.lags.items() if lag)
            echo(
                f"{partition.stream:<14} {partition.events} events, {partition.size >> 20} MiB, "
                f"ends at {partition.end}{f', behind: {lags}' if lags else ''}"
            )
        for placement in placements:
            echo(placement_line(placement))
        if work := states.rebuild:
            why = f" ({work.reason})" if work.reason else ""
            echo(f"{work}{why}: {describe_step(dict(work.progress))}")


async def _states(data: Data) -> tuple["ProjectionStates", list["Placement"]]:
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from runtime.bus.nats.log_streams import log_streams  # noqa: PLC0415
    from runtime.projections.progress import read_states  # noqa: PLC0415

    async with connect_bus(select_target(data).settings.nats_url) as bus:
        states = await read_states(bus)
        return states, [*(await log_streams(bus)).placements.values()]


def digest(
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="SEQ|TIME", help="As the log says it was then, folded in memory."
        ),
    ] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """The canonical SHA-256 of status, graph and vectors, and counts. Equal digests mean equal
    contents.
    """
    with errors(as_json):
        quiet_logs()
        from operations.past_digest import digests_as_of  # noqa: PLC0415
        from operations.projections import digests  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        stack = select_target(data)
        by_projection = asyncio.run(
            digests_as_of(stack, workspace, as_of) if as_of else digests(stack.settings, workspace)
        )
        if as_json:
            print_json(by_projection)
        else:
            show(by_projection)
