"""`branch`: the same documents with another model, prompt or chunking, beside the live graph."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.chunking import ChunkOverlap, ChunkSize, Strategy
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
from cli.terminal import counted, line
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from nats.js import JetStreamContext

    from contracts.events import BranchSettings
    from lightstream_rag.models import Document
    from operations.target import Target
    from runtime.branch_options import BranchOptions
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
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until the branch can be asked and compared.")
    ] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Extract the documents once more with other settings, beside the live graph. Without --yes
    only estimate what that may cost. With --wait it ends with code 1 when a document failed.
    """
    with errors(as_json):
        quiet_logs()
        from operations.target import select_target  # noqa: PLC0415
        from publishing.draft import validated  # noqa: PLC0415
        from runtime.branch_options import BranchOptions  # noqa: PLC0415

        if wait and not yes:
            raise InvalidInput("--wait is for a branch that is created: give --yes, too")
        options = validated(
            lambda: BranchOptions(
                name=name,
                extract_model=extract_model,
                prompt=_text_of(prompt) if prompt else "",
                entity_types=_text_of(entity_types) if entity_types else "",
                chunk_size=chunk_size,
                chunk_overlap=chunk_overlap,
                chunking=chunking or "",
                sample=sample,
                budget=budget,
                budget_tokens=budget_tokens,
            )
        )
        target = select_target(data)
        if not yes:
            asyncio.run(_estimate(target, workspace, options, as_json))
            return
        has_failed = asyncio.run(
            _create(target, workspace, options, reason, wait=wait, as_json=as_json)
        )
        if has_failed:
            raise typer.Exit(1)


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8") from None


async def _estimate(
    target: "Target", workspace: str, options: "BranchOptions", as_json: bool
) -> None:
    from cli.costs import show_estimate  # noqa: PLC0415
    from operations.branches import creating  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from runtime.bus.nats.blobs import NatsBlobs  # noqa: PLC0415
    from runtime.bus.nats.key_values import NatsLiveGenerations  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async with connect_bus(target.settings.nats_url) as bus:
        pointers = await NatsLiveGenerations.bind(bus)
        cost_estimate = await creating.estimate(
            NatsLog(bus), NatsBlobs(bus), pointers, target, workspace, options
        )
    show_estimate(cost_estimate, "nothing was created without --yes", as_json)


async def _create(
    target: "Target",
    workspace: str,
    options: "BranchOptions",
    reason: str,
    *,
    wait: bool,
    as_json: bool,
) -> bool:
    """Return whether a document of the branch failed while it was waited for."""
    from operations.branches import creating  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async with connect_bus(target.settings.nats_url) as bus:
        branch = await creating.create(NatsLog(bus), target, workspace, options, reason)
        if not as_json:
            echo(f"branch {branch.name} begins, its workspace is {branch.workspace}")
        if not wait:
            if as_json:
                print_json(branch_as_json(branch))
            else:
                note(f"see how far it is: lightstream branch status {branch.name}")
            return False
        documents = await _followed(target, bus, branch, is_hidden=as_json)
    counts = dict(Counter(document.status for document in documents))
    if as_json:
        print_json({**branch_as_json(branch), "status_counts": {**counts, "all": len(documents)}})
    else:
        parts = [f"{count} {status}" for status, count in sorted(counts.items())]
        echo(f"{counted(len(documents), 'document')}: {', '.join(parts) or 'none any more'}")
    return any(document.status != "processed" for document in documents)


async def _followed(
    target: "Target", bus: "JetStreamContext", branch: "Branch", *, is_hidden: bool
) -> "list[Document]":
    """Return the documents of a branch that has begun, once all are worked on."""
    from cli.bars import progress_bars  # noqa: PLC0415
    from operations.adding import is_in_status  # noqa: PLC0415
    from operations.branches.creating import copy_documents  # noqa: PLC0415
    from operations.progress import wait_for_documents  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415
    from runtime.bus.nats.blobs import NatsBlobs  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    copies = await copy_documents(NatsLog(bus), NatsBlobs(bus), branch)

    async def caught_up() -> bool:
        return await is_in_status(bus, branch.workspace, copies.last_sequence)

    async with query_client(target.api, branch.workspace) as client:
        with progress_bars(is_hidden=is_hidden) as show:
            return await wait_for_documents(client, copies.added_at, caught_up, show)


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
        note(f"{counted(len(branches), 'branch', 'branches')} of workspace {workspace}")


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
        documents = counted(counts.get("all", 0), "document")
        echo(f"{documents}: {', '.join(parts) or 'none yet'}")
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
            vectors = counted(counts["vectors"], "vector")
            echo(f"dropped {branch.name}: {counted(counts['events'], 'event')}, {vectors}")


def _note_step(step: str) -> None:
    note(f"  {step}")


async def _drop(
    target: "Target", branch: "Branch", reason: str, report: "Callable[[str], None]"
) -> dict[str, int]:
    from operations.branches.dropping import drop  # noqa: PLC0415
    from operations.open_stack import open_prepared  # noqa: PLC0415

    with target.rebuild_lock():
        async with open_prepared(target.settings) as stack:
            bus = stack.client.jetstream()
            return await drop(bus, stack.stores, branch, reason, report)


async def _status(target: "Target", branch: "Branch") -> dict[str, Any]:
    from cli.costs import read_costs  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415

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
        parts += [f"chunks {settings.chunking}"]
    return "; ".join(parts)
