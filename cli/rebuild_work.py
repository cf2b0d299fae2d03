"""What each step of `rebuild` does to a stack."""

import asyncio
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import typer

from cli.common import note, silent
from cli.rebuild_output import Progress, ignore
from cli.terminal import counted

if TYPE_CHECKING:
    from operations.golden_gate import GoldenGate
    from operations.projections import RebuildRequest
    from operations.target import Target
    from runtime.golden.comparing import GateResult

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.


def rebuild_work(
    step: str, request: "RebuildRequest", workspace: str, *, as_json: bool, goes_on: bool
) -> "Callable[[Target], dict[str, Any]]":
    """Return what the step does to a stack. `goes_on`: also where golden questions fare worse."""
    from operations import projections  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from runtime.projections import rebuild_candidate  # noqa: PLC0415

    report = ignore if as_json else Progress()

    async def run(stack: "Target") -> dict[str, Any]:
        match step:
            case "plan":
                async with connect_bus(stack.settings.nats_url) as bus:
                    return await rebuild_candidate.plan(
                        bus, request.targets, request.events_per_second
                    )
            case "start":
                return await projections.start(stack, request, report, workspace)
            case "check":
                return await projections.check(stack, request, report, workspace)
            case "await":
                await projections.wait_for_rebuild(stack.settings, report)
                return {}
            case "promote":
                gate = golden_gate(stack, as_json=as_json, goes_on=goes_on)
                return await projections.promote(stack, request, report, gate)
            case "rollback":
                return await projections.rollback(stack, request, report)
            case "cleanup":
                await projections.cleanup(stack, request.targets)
                return {"targets": list(request.targets)}
            case "accept_loss":
                return await projections.accept_loss(stack, request, report, workspace)
            case _:
                # Where stores were emptied before, anything is better than nothing.
                is_gated = not request.emptied_before
                gate = golden_gate(stack, as_json=as_json, goes_on=goes_on) if is_gated else None
                return await projections.rebuild(stack, request, report, workspace, gate)

    return lambda stack: asyncio.run(run(stack))


def golden_gate(
    stack: "Target",
    *,
    as_json: bool,
    goes_on: bool,
    workspaces: Collection[str] = (),
    way_out: str | None = None,
) -> "GoldenGate":
    """Return what asks golden questions before the switch: of these workspaces, or of all.
    `way_out`: what can be done where nothing was switched; that of a rebuild without it.
    """
    from operations.golden_gate import OF_REBUILD, GoldenGate  # noqa: PLC0415
    from operations.question_comparison import open_golden_asking  # noqa: PLC0415

    async def decide(worse: "Sequence[GateResult]") -> bool:
        if goes_on:
            return True
        if as_json or not sys.stdin.isatty():
            return False
        # In another thread: the lease of the rebuild is renewed meanwhile.
        count = counted(len(worse), "workspace")
        question = f"Answers became worse in {count}. Go live all the same?"
        return await asyncio.to_thread(typer.confirm, question, err=True)

    tell = silent if as_json else note
    return GoldenGate(open_golden_asking(stack), decide, tell, workspaces, way_out or OF_REBUILD)
