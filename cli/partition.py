"""`partition`: which partition of the log takes the events of a workspace."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.audit_lines import audit_line
from cli.bus_work import on_bus
from cli.common import DATA, Data, Json, Reason, Yes, echo, errors, note, print_json

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from contracts.placements import Placement
    from operations.partition_move import PartitionMove

# `--help` answers at once: the bus is loaded by the command that needs it.

app = typer.Typer(
    help="Partitions of the log, and which of them takes the events of a workspace.",
    no_args_is_help=True,
)


@app.command()
def move(
    workspace: Annotated[
        str, typer.Argument(metavar="WORKSPACE", help="The workspace; it may have no event yet.")
    ],
    to: Annotated[
        int,
        typer.Option(
            "--to", min=0, max=255, metavar="P", help="The partition: a greater one than its own."
        ),
    ],
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Have further events of a workspace enter another partition; without --yes say what it does.

    What it has stays where it is, at its sequences, and is read from there. Questions are answered
    all the while; whoever publishes to this workspace waits some seconds. What other systems
    publish is carried to the new place. Stopped in between, the command goes on when run again.
    """
    from operations.partition_move import move_workspace, plan_move  # noqa: PLC0415

    fields = {"workspace": workspace, "partition": to}
    command = audit_line("partition move", data, reason, workspace=workspace, partition=to)
    with errors(as_json), command:

        async def run(bus: "JetStreamContext") -> "PartitionMove":
            plan = await plan_move(bus, workspace, to)
            if not as_json:
                for line in _plan_lines(plan):
                    echo(line)
            if yes and not plan.is_done:
                await move_workspace(bus, plan, note)
            return plan

        plan = on_bus(data, run)
        if as_json:
            before = plan.placement.partition
            is_moved = yes and not plan.is_done
            print_json({**fields, "from": before, "events": plan.events, "moved": is_moved})
        elif not plan.is_done:
            echo("moved; `lightstream partition list` shows it" if yes else "give --yes to do it")


def _plan_lines(plan: "PartitionMove") -> list[str]:
    """Return what a move does, as people read it."""
    if plan.is_done:
        return [f"{plan.workspace} is in partition {plan.target} already"]
    before = plan.placement.partition
    lines = [
        f"{plan.workspace} is in partition {before}: its {plan.events} events stay there, and are "
        "read from there",
        f"from now on its events enter partition {plan.target}; programs of older releases refuse "
        "the bus then",
        "for about 5 s whoever publishes to it waits; questions and other workspaces go on",
    ]
    return (
        [*lines, "an earlier run of this move was stopped: it goes on"]
        if plan.is_resumed
        else lines
    )


@app.command("list")
def list_(data: Data = DATA, as_json: Json = False) -> None:
    """Show how large each partition is, and which workspaces were moved, and when.

    All others are in the partition that the hash of their name gives.
    """
    from runtime.bus.log_metadata import read_placements  # noqa: PLC0415
    from runtime.projections.partition_progress import read_partitions  # noqa: PLC0415

    with errors(as_json):

        async def run(bus: "JetStreamContext") -> tuple[list[tuple[str, int]], list["Placement"]]:
            partitions = [(state.stream, state.events) for state in await read_partitions(bus)]
            return partitions, [*(await read_placements(bus)).values()]

        partitions, placements = on_bus(data, run)
        if as_json:
            print_json(
                {
                    "partitions": [events for _, events in partitions],
                    "moved": [
                        {
                            "workspace": placement.workspace,
                            "partitions": placement.partitions,
                            "target": placement.target,
                        }
                        for placement in placements
                    ],
                }
            )
            return
        for number, (stream, events) in enumerate(partitions):
            echo(f"partition {number:<4} {stream:<14} {events} events")
        for placement in placements:
            echo(placement_line(placement))


def placement_line(placement: "Placement") -> str:
    """Return where a workspace is that was moved, as people read it."""
    earlier = ", ".join(map(str, placement.partitions[:-1]))
    line = f"workspace {placement.workspace}: partition {placement.partition}"
    if earlier:
        day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(placement.moved_at))
        line += f" since {day}, before that {earlier}"
    if placement.target is not None:
        line += f", being moved to {placement.target}"
    return line
