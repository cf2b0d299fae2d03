"""`rebuild all --to`: fill other stores from the log, while the present ones serve."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

from cli.common import Data, echo, note, print_json, show
from cli.rebuild_output import Progress, ignore

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.


class MoveOptions(NamedTuple):
    """The options of the command that a move knows."""

    data: Data
    workspace: str
    reason: str
    events_per_second: int
    dry_run: bool
    as_json: bool


def move_stores(file: Path, options: MoveOptions) -> None:
    """Fill the stores that the file names, and print what both sides hold; with `dry_run` say what
    would be done.
    """
    from operations.moving.destination import read_destination  # noqa: PLC0415
    from operations.moving.move import Move, move, plan  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    target = select_target(options.data)
    request = Move(read_destination(file, target), options.reason, options.events_per_second)
    if options.dry_run:
        move_plan = asyncio.run(plan(target, request))
        print_json(move_plan) if options.as_json else show(move_plan)
        return
    with target.rebuild_lock():
        report = ignore if options.as_json else Progress()
        result = asyncio.run(move(target, request, report, options.workspace))
    if options.as_json:
        print_json(result)
    else:
        _print(result, f"{target.folder.command_option} --stores {file}" if target.folder else "")


def _print(result: dict[str, Any], up_options: str) -> None:
    """Print it; `up_options` are those with which the stack of a data folder starts with the other
    stores.
    """
    for name, comparison in result.pop("digests").items():
        sameness = "the same as here" if comparison["same"] else "differs from what is live here"
        echo(
            f"{name:<8} {sameness}, generation {result['generations'][name]}, digest "
            f"{comparison['rebuilt']['sha256']}"
        )
    differing: dict[str, list[str]] = result.pop("differing")
    show(
        {
            name: value
            for name, value in result.items()
            if name not in ("targets", "generations", "newer")
        }
    )
    for workspace, projections in differing.items():
        echo(f"differs          {workspace}: {', '.join(projections)}")
    if differing:
        note(
            "what came in meanwhile makes them differ: give the command again when nothing comes in"
        )
    else:
        last_step = (
            f"`down`, `lightstream up --detach{up_options}`"
            if up_options
            else "start them with the other stores"
        )
        first = "when nothing comes in any more" if up_options else "stop the services"
        note(f"both sides are the same: {first}, give the command once more, {last_step}")
