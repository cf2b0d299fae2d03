"""`region`: a second region that mirrors the log of another one, and reads."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.audit_lines import audit_line
from cli.bus_work import on_bus
from cli.common import DATA, Data, Json, Reason, Yes, echo, errors, note, print_json, quiet_logs
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from contracts.partitions import LogPosition
    from operations.region.promotion import Promotion
    from operations.region.status import RegionStatus
    from operations.target import Target

# `--help` answers at once: bus and stores are loaded by the command that needs them.

app = typer.Typer(
    help="A second region that follows this one, or that this one is.", no_args_is_help=True
)

START_ATTEMPTS = 120
"""Seconds that a follower waits for the stack that it is a part of."""


@app.command()
def follow(
    region: Annotated[
        str,
        typer.Argument(
            metavar="REGION", help="The region that writes: the JetStream domain of its bus."
        ),
    ],
    api: Annotated[
        str, typer.Option(metavar="URL", help="Its HTTP API, named to whoever would write here.")
    ] = "",
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="Copies of each mirror in a cluster.")
    ] = 1,
    data: Data = DATA,
) -> None:
    """Mirror the log of another region, and keep the stores here up to date, until it is stopped.

    The bus must be empty at first, and linked to the other one as a leaf node. No language model is
    asked and nothing is published. Erasures there are done here too.
    """
    with errors(as_json=False):
        quiet_logs()
        asyncio.run(_follow(region, api, replicas, data))


async def _follow(name: str, api: str, replicas: int, data: Data) -> None:
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.region.follower import Follower  # noqa: PLC0415
    from runtime.bus.mirrors import make_mirrors  # noqa: PLC0415
    from runtime.bus.nats.region import WritingRegion  # noqa: PLC0415

    target = await _ready_target(data)
    followed_region = WritingRegion(name, api)
    async with connect_bus(target.settings.nats_url) as bus:
        for change in await make_mirrors(bus, followed_region, replicas):
            note(change)
        follower = await Follower.open(target, followed_region, bus, note)
        following = asyncio.ensure_future(follower.run())
        with on_stop_signal(following.cancel):
            try:
                echo(f"{target.name} follows the region {name}")
                await following
                echo("this region was promoted, and follows no more")
            except asyncio.CancelledError:
                return


async def _ready_target(data: Data) -> "Target":
    """Return the stack when all of it runs: in a data folder this is one of its processes."""
    from embedded.data_folder import NoStack  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    for _ in range(START_ATTEMPTS):
        try:
            return select_target(data)
        except NoStack:
            await asyncio.sleep(1)
    return select_target(data)


@app.command()
def address(data: Data = DATA, as_json: Json = False) -> None:
    """Print what another stack on this machine is told to follow this one: `up --follow ADDRESS`.

    It has a password.
    """
    from embedded.data_folder import DataFolder  # noqa: PLC0415
    from embedded.region import region_address  # noqa: PLC0415

    with errors(as_json):
        text = region_address(DataFolder.at(data).ready_state())
        if as_json:
            print_json({"address": text})
        else:
            echo(text)


@app.command()
def status(data: Data = DATA, as_json: Json = False) -> None:
    """Show whether this region writes or follows, how far it is, and which regions follow it."""
    from operations.region.status import read_status  # noqa: PLC0415

    with errors(as_json):
        region_status = on_bus(data, read_status)
        if as_json:
            print_json(region_status.fields())
        else:
            _show_status(region_status)


def _show_status(status: "RegionStatus") -> None:
    if status.follows and status.progress:
        progress = status.progress
        echo(f"{status.name or 'this region'} follows {status.follows.name}")
        behind = f"{progress.events_behind} events behind" if progress.events_behind else "current"
        state = "the other region is not heard" if progress.is_cut_off else behind
        counts = f"{progress.position.event_count} of {status.end.event_count}"
        echo(f"  stores   {counts} in the mirror, {state}")
        if progress.is_silent:
            echo("  follower silent: see that `lightstream region follow` runs")
        if progress.is_erasing:
            echo("  erasing  stores are to be made anew without what was erased")
        for mirror in status.mirrors:
            echo(f"  {mirror.stream:<16} lag {mirror.lag}, heard {mirror.silent_seconds} s ago")
    else:
        echo(f"{status.name or 'this region'} writes the log, up to {_places(status.end)}")
    for follower in status.followers:
        behind = status.end.events_beyond(follower.position)
        silent = ", not heard for long" if follower.is_silent else ""
        erasing = ", still to erase" if follower.is_erasing else ""
        echo(f"  followed by {follower.region}: {behind} events behind{erasing}{silent}")


def _places(position: "LogPosition") -> str:
    """Return a place in the log as people read it: one sequence for each partition."""
    return ", ".join(map(str, position.sequences))


@app.command()
def promote(
    yes: Yes = False, reason: Reason = "", data: Data = DATA, as_json: Json = False
) -> None:
    """Make this region the one that writes; without --yes say what that means now.

    Stop the services of the other region before, if they run: two logs that were written to cannot
    be joined again. Start all services here afterwards.
    """
    from operations.region.promotion import plan_promotion, promote  # noqa: PLC0415

    with errors(as_json), audit_line("region promote", data, reason):

        async def run(bus: "JetStreamContext") -> "Promotion":
            promotion = await plan_promotion(bus)
            if yes:
                await promote(bus, promotion)
            return promotion

        promotion = on_bus(data, run)
        if as_json:
            print_json({**promotion.fields(), "promoted": yes})
            return
        if promotion.answers:
            note(f"the region {promotion.region} still answers: its services must be stopped")
        echo(f"the log goes on behind {_places(promotion.end)}")
        if promotion.missing_events:
            echo(f"{promotion.missing_events} events of {promotion.region} are not here: lost")
        echo(f"consumers go on behind {_places(promotion.first_place)}")
        way_on = "this region writes now: start its bus again, and all services"
        echo(way_on if yes else "give --yes to do it")


@app.command()
def forget(
    region: Annotated[str, typer.Argument(metavar="REGION", help="One that follows no more.")],
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Forget a region that followed this one, so that nobody waits for it."""
    from operations.region.status import forget  # noqa: PLC0415

    with errors(as_json), audit_line("region forget", data, reason, region=region):
        if not on_bus(data, lambda bus: forget(bus, region)):
            raise InvalidInput(f"no region {region!r} follows this one: see `region status`")
        if as_json:
            print_json({"region": region, "forgotten": True})
        else:
            echo(f"{region} is forgotten")
