"""`sync`, `watch` and `sources`: places whose documents are kept in step with the log."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from cli.access import Allow, Deny, access_of_options
from cli.audit_lines import audit_line
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
)
from cli.source_output import last_run, show_outcome, source_fields
from cli.terminal import counted, line

if TYPE_CHECKING:
    from contracts.events import SourceState
    from operations.sources.sync import SyncOutcome, SyncRequest
    from operations.target import Target
    from runtime.bus.port import Log
    from runtime.parsing.routing import ParsingServices

# `--help` answers at once: the bus and the clients of sources are loaded by what needs them.

app = typer.Typer(
    help="Sources of documents: list, pause, resume, forget. `sync` reads them.",
    no_args_is_help=True,
)

T = TypeVar("T")
SOURCE_HELP = (
    "A folder, or an address: s3://BUCKET/PREFIX, git+https://…#BRANCH, https://… of a sitemap or "
    "a page, rss:https://…, imaps://USER@HOST/MAILBOX, sftp://HOST/FOLDER, "
    "postgresql://USER@HOST/DB?table=TABLE."
)
Share = Annotated[
    float,
    typer.Option(
        "--most-gone",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Share of a source's documents that is deleted without --yes.",
    ),
]
AllGone = Annotated[
    bool, typer.Option("--yes", help="Delete whatever is gone, however much that is.")
]
Name = Annotated[str, typer.Argument(metavar="SOURCE", help="As `list` has it, or a folder.")]


def sync(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE…]", help=f"{SOURCE_HELP} None: all that are not paused."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing: show what would be done.")
    ] = False,
    yes: AllGone = False,
    most_gone: Share = 0.25,
    allow: Allow = None,
    deny: Deny = None,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Read what changed in sources since the last time, and delete what is gone from them.

    How far each is stands in the log, so any machine goes on. User and password come from
    SOURCE_USER and SOURCE_PASSWORD, keys of S3 from AWS_ACCESS_KEY_ID and the others of AWS. Ends
    with code 1 when a document was refused, or kept as too many are gone.
    """
    with (
        errors(as_json),
        _without_secrets(sources or []),
        audit_line("sync", data, reason, changes=not dry_run, sources=sources),
    ):
        quiet_logs()
        from operations.sources.sync import SyncRequest  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        access = access_of_options(allow, deny, sources)
        target = select_target(data)
        services = _services(target)
        request = SyncRequest(workspace, dry_run, yes, most_gone, reason, access, services)
        outcomes = asyncio.run(_sync_all(target, sources or [], request, as_json))
        if as_json:
            print_json([_fields(outcome) for outcome in outcomes])
        if any(outcome.has_failed for outcome in outcomes):
            raise typer.Exit(1)


def watch(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=SOURCE_HELP)],
    interval: Annotated[
        float,
        typer.Option(
            "--every",
            metavar="SECONDS",
            min=1,
            help="Between two looks; what changes in a folder is seen at once, besides.",
        ),
    ] = 300,
    yes: AllGone = False,
    most_gone: Share = 0.25,
    allow: Allow = None,
    deny: Deny = None,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Sync a source now and whenever it changes, until it is stopped by Ctrl+C."""
    with (
        errors(as_json),
        _without_secrets([source]),
        audit_line("watch", data, reason, source=source),
    ):
        quiet_logs()
        from operations.sources.sync import SyncRequest  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        access = access_of_options(allow, deny, [source])
        target = select_target(data)
        services = _services(target)
        request = SyncRequest(workspace, False, yes, most_gone, reason, access, services)
        with suppress(KeyboardInterrupt):
            asyncio.run(_watch(target, source, request, interval, as_json))


@app.command("list")
def list_(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """List the sources of the workspace: state, documents, and how the last run ended."""
    with errors(as_json):
        from publishing.sources import read_sources  # noqa: PLC0415

        synced_sources = _with_log(data, lambda log: read_sources(log, workspace))
        if as_json:
            print_json([source_fields(source) for source in synced_sources])
            return
        for source in synced_sources:
            echo(f"{line(source.name)}  {last_run(source)}", label=f"{source.state:7} ")
        note(counted(len(synced_sources), "source"))


@app.command()
def pause(
    source: Name,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Read nothing of a source until it is resumed; its documents stay."""
    _set(source, "paused", reason, data, as_json, workspace)


@app.command()
def resume(
    source: Name,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Let a paused source be read again."""
    _set(source, "active", reason, data, as_json, workspace)


@app.command()
def forget(
    source: Name,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Forget a source and how far it was read. Its documents stay: `delete` takes them away."""
    if yes:
        _set(source, "forgotten", reason, data, as_json, workspace)
        return
    with errors(as_json):
        from operations.sources.open import name_in_log  # noqa: PLC0415
        from publishing.sources import existing_source  # noqa: PLC0415

        name = name_in_log(source)
        source_now = _with_log(data, lambda log: existing_source(log, workspace, name))
        if as_json:
            print_json({"would_forget": source_fields(source_now)})
            return
        documents = counted(len(source_now.versions), "document")
        echo(f"would forget {line(name)} with {documents}; no document is deleted")
        note("nothing is forgotten without --yes")


@contextmanager
def _without_secrets(addresses: Sequence[str]) -> Generator[None]:
    """Refuse addresses with secrets before a line of them is written."""
    from operations.sources.open import refuse_secrets  # noqa: PLC0415

    refuse_secrets(addresses)
    yield


def _set(
    source: str, state: "SourceState", reason: str, data: Data, as_json: bool, workspace: str
) -> None:
    with errors(as_json):
        from operations.command_bus import SOURCE  # noqa: PLC0415
        from operations.sources.open import name_in_log  # noqa: PLC0415
        from publishing.sources import set_source  # noqa: PLC0415

        name = name_in_log(source)
        before = _with_log(
            data,
            lambda log: set_source(log, workspace, name, state, reason=reason, publisher=SOURCE),
        )
        if as_json:
            print_json({"source": name, "state": state, "before": before.state})
        else:
            echo(f"{line(name)} is {state}")


def _with_log(data: Data, act: "Callable[[Log], Awaitable[T]]") -> T:
    """Return what a call with the log of the stack gives."""
    quiet_logs()
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async def run() -> T:
        async with connect_bus(select_target(data).settings.nats_url) as bus:
            return await act(NatsLog(bus))

    return asyncio.run(run())


def _services(target: "Target") -> "ParsingServices":
    """Return who reads files, as the settings of the stack say."""
    from runtime.parsing.settings import ParserSettings  # noqa: PLC0415

    return target.settings_of(ParserSettings).parsing_services()


async def _sync_all(
    target: "Target", addresses: Sequence[str], request: "SyncRequest", as_json: bool
) -> "list[SyncOutcome]":
    """Sync each source in turn; none named: all that are not paused."""
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from publishing.sources import read_sources  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    async with connect_bus(target.settings.nats_url) as bus:
        if not addresses:
            source_now = await read_sources(NatsLog(bus), request.workspace)
            addresses = [source.name for source in source_now if source.state == "active"]
            if not addresses:
                note(f"workspace {request.workspace} has no active source: name one")
        if len(addresses) == 1:
            return [await _sync_one(bus, addresses[0], request, as_json)]
        return [await _sync_of_several(bus, address, request, as_json) for address in addresses]


async def _sync_of_several(
    bus: Any, address: str, request: "SyncRequest", as_json: bool
) -> "SyncOutcome":
    """Sync one of several sources: what one cannot do does not stop the others."""
    from operations.sources.sync import failed_outcome  # noqa: PLC0415
    from runtime.errors import InvalidInput, Unavailable  # noqa: PLC0415

    try:
        return await _sync_one(bus, address, request, as_json)
    except (InvalidInput, Unavailable) as error:
        note(f" {error}", label="error:", colour="red")
        return failed_outcome(address, error)


async def _sync_one(bus: Any, address: str, request: "SyncRequest", as_json: bool) -> "SyncOutcome":
    from cli.bars import progress_bars  # noqa: PLC0415
    from operations.progress import Stage  # noqa: PLC0415
    from operations.sources.open import open_source  # noqa: PLC0415
    from operations.sources.sync import Sync  # noqa: PLC0415
    from runtime.bus.nats.blobs import NatsBlobs  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    source = open_source(address, request.services)
    try:
        with progress_bars(is_hidden=as_json) as show:

            def on_progress(count: int, total: int) -> None:
                show([Stage("read", count, total)])

            run = Sync(NatsLog(bus), NatsBlobs(bus), source, request, on_progress)
            outcome = await run.run()
    finally:
        await source.close()
    if not as_json:
        show_outcome(outcome)
    return outcome


async def _watch(
    target: "Target", address: str, request: "SyncRequest", interval: float, as_json: bool
) -> None:
    """Sync at every change. A source that is silent for a while is asked again."""
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.sources.changes import changes_of  # noqa: PLC0415
    from operations.sources.open import name_in_log  # noqa: PLC0415
    from runtime.errors import InvalidInput, Unavailable  # noqa: PLC0415

    name = name_in_log(address)
    was_read = False
    async with connect_bus(target.settings.nats_url) as bus:
        async for _ in changes_of(name, interval):
            try:
                outcome = await _sync_one(bus, name if was_read else address, request, as_json)
            except (InvalidInput, Unavailable) as error:
                # What was wrong from the beginning does not become right by waiting. A folder that
                # is unmounted comes back, and a source that was paused is resumed.
                if isinstance(error, InvalidInput) and not was_read:
                    raise
                note(f"{error}; the next change or look tries again")
                continue
            was_read = True
            if as_json:
                print_json(_fields(outcome))


def _fields(outcome: "SyncOutcome") -> dict[str, Any]:
    fields = asdict(outcome)
    return {name: value for name, value in fields.items() if name != "times"}
