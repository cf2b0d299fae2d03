"""Losses that `up` reports: a store or a part of the log, with the offer to rebuild the store."""

import asyncio
import sys
from typing import Any

import typer

from cli.common import interactive, note
from embedded.data_folder import DataFolder, StackState
from runtime.errors import ServiceError

# `--help` answers at once: drivers are loaded by the command that needs them.


async def report_losses(folder: DataFolder, state: StackState, *, rebuild: bool, ask: bool) -> None:
    """Print what was lost, and rebuild it with `rebuild`, or when the user at the terminal
    agrees.
    """
    from operations import projections  # noqa: PLC0415
    from operations.target import target_of_stack  # noqa: PLC0415
    from runtime.projections.checkpoints import rebuild_command  # noqa: PLC0415
    from runtime.projections.verdicts import RESTORE_HINT  # noqa: PLC0415

    stack = target_of_stack(folder, state)
    try:
        losses = await projections.read_losses(stack.settings)
        if losses.log:
            note(f"the log has lost messages: {losses.log}\n  {RESTORE_HINT}")
            return
        if not losses.stores:
            return
        for reason in losses.stores.values():
            note(f"  {reason}", label="lost", colour="red")
        if not rebuild and not (ask and await asyncio.to_thread(_wanted, tuple(losses.stores))):
            for line in rebuild_command(tuple(losses.stores)).split(" && "):
                note(f"      questions get 503 until `{line}{folder.command_option}`")
            return
        with stack.rebuild_lock():
            request = projections.RebuildRequest(tuple(losses.stores))
            await projections.rebuild(stack, request, _ignored)
        note(f"made anew from the log: {', '.join(losses.stores)}")
    except ServiceError as error:
        note(f" {error}", label="error:", colour="red")


def can_ask() -> bool:
    """Return True if a user at a terminal can answer a question."""
    return interactive() and sys.stdin.isatty()


def _wanted(projections: tuple[str, ...]) -> bool:
    try:
        return typer.confirm(
            f"Make {', '.join(projections)} anew from the log now?", default=True, err=True
        )
    except (typer.Abort, EOFError):
        return False


def _ignored(_: dict[str, Any]) -> None:
    """Steps of a rebuild are not shown here."""
