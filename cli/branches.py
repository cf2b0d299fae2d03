"""`branch`: the same documents with another model, prompt or chunking, beside the live graph."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.chunking import ChunkOverlap, ChunkSize, Strategy, chunking_of
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    Yes,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
    silent,
)
from cli.terminal import line
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.chunking import Chunking
    from contracts.events import BranchSettings
    from operations.branches.creating import BranchRequest
    from operations.target import Target
    from runtime.branches import Branch

# `--help` answers at once: bus and stores are loaded by the command that needs them.

app = typer.Typer(
    help="What if another model, prompt or chunking had been used?", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `branch list` has it.")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="a-z, 0-9, _ and -.")],
    extract_model: Annotated[
        str, typer.Option("--extract-model", metavar="MODEL", help="At the endpoint there is.")
    ] = "",
    prompt: Annotated[
        Path | None,
        typer.Option("--prompt", metavar="FILE", dir_okay=False, help="Instructions, with {form}."),
    ] = None,
    entity_types: Annotated[
        Path | None,
        typer.Option(
            "--entity-types", metavar="FILE", dir_okay=False, help="As ENTITY_TYPE_PROMPT_FILE."
        ),
    ] = None,
    chunk_size: ChunkSize = None,
    chunk_overlap: ChunkOverlap = None,
    chunking: Strategy = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="So many documents, else all.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0, help="What it may cost, in the currency of MODEL_PRICES."),
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", min=0, help="The same in tokens.")
    ] = None,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Extract the documents once more with other settings, beside the live graph. Without --yes
    only estimate what that may cost.
    """
    with errors(as_json):
        quiet_logs()
        from operations.target import select_target  # noqa: PLC0415

        request = _request(
            workspace,
            name,
            {"extract_model": extract_model},
            {"prompt": prompt, "entity_types": entity_types},
            chunking_of(chunking, chunk_size, chunk_overlap),
            sample,
            reason,
        )
        limits = {"money": budget, "tokens": budget_tokens}
        asyncio.run(_create(select_target(data), request, limits if yes else None, as_json))


def _request(
    workspace: str,
    name: str,
    texts: dict[str, str],
    files: dict[str, Path | None],
    chunking: "Chunking | None",
    sample: int | None,
    reason: str,
) -> "BranchRequest":
    from contracts.events import BranchSettings  # noqa: PLC0415
    from operations.branches.creating import BranchRequest  # noqa: PLC0415
    from publishing.draft import validated  # noqa: PLC0415

    contents = {key: _text_of(path) for key, path in files.items() if path}
    settings = validated(
        lambda: BranchSettings(
            **texts,
            **contents,
            chunking=chunking,
        )
    )
    if settings == BranchSettings():
        raise InvalidInput(
            "say what is to be other: --extract-model, --prompt, --entity-types, --chunk-size, "
            "--chunk-overlap or --chunking"
        )
    return BranchRequest(workspace, name, settings, sample, reason)


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8") from None


async def _create(
    target: "Target", request: "BranchRequest", limits: dict[str, Any] | None, as_json: bool
) -> None:
    from cli.costs import show_estimate  # noqa: PLC0415
    from contracts.events import BudgetSet  # noqa: PLC0415
    from operations.branches import creating  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from runtime.bus.nats.blobs import NatsBlobs  # noqa: PLC0415
    from runtime.bus.nats.key_values import NatsLiveGenerations  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async with connect_bus(target.settings.nats_url) as bus:
        log = NatsLog(bus)
        if limits is None:
            pointers = await NatsLiveGenerations.bind(bus)
            cost_estimate = await creating.estimate(log, NatsBlobs(bus), pointers, target, request)
            show_estimate(cost_estimate, "nothing was created without --yes", as_json)
            return
        budget = BudgetSet(**limits, reason=request.reason)
        branch = await creating.create(log, target, request, budget if budget.is_limit else None)
    if as_json:
        print_json(branch_as_json(branch))
    else:
        echo(f"branch {branch.name} begins, its workspace is {branch.workspace}")
        note(f"see how far it is: lightstream branch status {branch.name}")


@app.command("list")
def list_(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """List the branches of a workspace, with what is other in each."""
    with errors(as_json):
        branches = on_bus(data, lambda log: _read_branches(log, workspace))
        if as_json:
            print_json([branch_as_json(branch) for branch in branches])
            return
        for branch in branches:
            state = "ended" if branch.is_ended else f"{branch.at:%Y-%m-%d %H:%M}"
            echo(line(f"{branch.name:<20} {state}  {_differences(branch.event.settings)}"))
        note(f"{len(branches)} branches of workspace {workspace}")


@app.command()
def status(
    name: Name, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Show how far a branch is, and what it has cost."""
    with errors(as_json):
        from operations.target import select_target  # noqa: PLC0415

        branch = on_bus(data, lambda log: read_named(log, workspace, name))
        result = asyncio.run(_status(select_target(data), branch))
        if as_json:
            print_json(result)
            return
        echo(
            line(f"branch {branch.name} of {branch.origin}: {_differences(branch.event.settings)}")
        )
        counts = result["status_counts"]
        parts = [f"{count} {key}" for key, count in counts.items() if count and key != "all"]
        echo(f"{counts.get('all', 0)} documents: {', '.join(parts) or 'none yet'}")
        total = result["cost"]
        money = "" if total["money"] is None else f", {total['money']:.4f} {result['currency']}"
        echo(f"paid: {total['calls']:,} calls, {total['tokens']:,} tokens{money}")


@app.command()
def drop(
    name: Name,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Drop a branch: its events, its texts and what every store holds of it. There is no way
    back.
    """
    with errors(as_json):
        from operations.target import select_target  # noqa: PLC0415

        branch = on_bus(data, lambda log: read_named(log, workspace, name))
        if not yes:
            if as_json:
                print_json({"would_drop": branch_as_json(branch)})
            else:
                echo(line(f"branch {branch.name}: {_differences(branch.event.settings)}"))
                note("nothing is dropped without --yes")
            return
        counts = asyncio.run(
            _drop(select_target(data), branch, reason, silent if as_json else _note_step)
        )
        if as_json:
            print_json({"dropped": branch.name, **counts})
        else:
            echo(f"dropped {branch.name}: {counts['events']} events, {counts['vectors']} vectors")


def _note_step(step: str) -> None:
    note(f"  {step}")


async def _drop(
    target: "Target", branch: "Branch", reason: str, report: "Callable[[str], None]"
) -> dict[str, int]:
    from operations.branches.dropping import drop  # noqa: PLC0415
    from operations.projections import open_prepared  # noqa: PLC0415

    with target.rebuild_lock():
        async with open_prepared(target.settings) as stack:
            bus = stack.client.jetstream()
            return await drop(bus, stack.stores, branch, reason, report)


async def _status(target: "Target", branch: "Branch") -> dict[str, Any]:
    from cli.costs import read_costs  # noqa: PLC0415
    from operations.target import query_client  # noqa: PLC0415

    async with query_client(target.api, branch.workspace) as client:
        counts = await client.status_counts()
    report = await read_costs(target, branch.workspace)
    total = report["total"]
    cost = {"calls": total["calls"], "tokens": total["prompt"] + total["completion"]}
    return {
        **branch_as_json(branch),
        "status_counts": counts,
        "cost": {**cost, "money": total["money"]},
        "currency": report["currency"],
        "budget": report["budget"],
    }


def on_bus(data: Path | None, read: "Callable[[Any], Any]") -> Any:
    """Return what is read from the log of the stack."""
    quiet_logs()
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async def run() -> Any:
        async with connect_bus(select_target(data).settings.nats_url) as bus:
            return await read(NatsLog(bus))

    return asyncio.run(run())


async def _read_branches(log: Any, workspace: str) -> "list[Branch]":
    from runtime.branches import read_branches  # noqa: PLC0415

    return await read_branches(log, workspace)


async def read_named(log: Any, workspace: str, name: str, *, with_ended: bool = True) -> "Branch":
    """Return the branch of that name. Raises InvalidInput where there is none."""
    from runtime.branches import read_branch  # noqa: PLC0415

    return await read_branch(log, workspace, name, with_ended=with_ended)


def branch_as_json(branch: "Branch") -> dict[str, Any]:
    """Return what a branch is, for output as JSON."""
    settings = branch.event.settings.model_dump(exclude_none=True)
    return {
        "name": branch.name,
        "workspace": branch.workspace,
        "origin": branch.origin,
        "created_at": branch.at.isoformat(),
        "actor": branch.actor,
        "settings": {key: value for key, value in settings.items() if value},
        "sample": branch.event.sample,
        "reason": branch.event.reason,
    }


def _differences(settings: "BranchSettings") -> str:
    """Return in words what is other in a branch."""
    parts = [f"model {settings.extract_model}"] if settings.extract_model else []
    parts += ["a prompt of its own"] if settings.prompt else []
    parts += ["types of entities of its own"] if settings.entity_types else []
    if settings.chunking:
        chunking = settings.chunking.model_dump(exclude_defaults=True)
        parts += ["chunking " + ", ".join(f"{key} {value}" for key, value in chunking.items())]
    return "; ".join(parts)
