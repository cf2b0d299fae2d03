"""`up` and `down`: the stack of a data folder."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli import lost
from cli.common import DATA, Data, Json, echo, errors, note, print_json, silent
from cli.settings_file import DEFAULT_FILE, note_settings_file
from embedded.data_folder import DataFolder, StackState
from embedded.ports import HIGHEST_PORT, USUAL_ADDRESS, ApiAddress
from runtime.errors import Busy

# `--help` answers at once: drivers are loaded by the command that needs them.

TRIED_NETWORKS = "MODEL_ALLOWED_NETWORKS"
LOCAL_ADDRESSES = ("127.0.0.1", "::1", "localhost")
LOCAL_NETWORKS = "127.0.0.0/8, ::1/128"

Report = Callable[[str], None]
"""Takes one line about what happened."""


def up(
    context: typer.Context,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Leave it running in the background.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            envvar="PORT",
            min=1,
            max=HIGHEST_PORT,
            help="Port of the API. Without it 9621, or another when taken.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            envvar="HOST",
            help="Address of the API: 0.0.0.0 for whoever reaches this machine, who may do all "
            "that accounts do not forbid.",
        ),
    ] = USUAL_ADDRESS.host,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild",
            help="Make a store that was lost anew from the log at once, without asking.",
        ),
    ] = False,
    stores: Annotated[
        str,
        typer.Option(
            metavar="ENV_FILE",
            help=(
                "From now on use the stores it names: empty ones for a new stack, else filled by "
                "`rebuild all --to`; `own`: those of the folder again."
            ),
        ),
    ] = "",
    region: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="From now on let other regions follow this one by that name."
        ),
    ] = "",
    follow: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Follow the region of that address, of `region address` there: read its log only.",
        ),
    ] = "",
    graph: Annotated[
        Literal["sqlite", "arcadedb"] | None,
        typer.Option(
            help="Where a new stack keeps its graph: in a SQLite file, or in ArcadeDB, which is a "
            "process of its own and speaks Bolt and Cypher as Neo4j does; sqlite."
        ),
    ] = None,
    vectors: Annotated[
        Literal["sqlite", "milvus"] | None,
        typer.Option(
            help="Where a new stack keeps its vectors: in a SQLite file, or in Milvus Lite, which "
            "is a process of its own and speaks as Milvus does; sqlite."
        ),
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=256,
            help="Streams of a new stack's log, for many large workspaces; 1, or with --follow as "
            "many as there.",
        ),
    ] = None,
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Start the stack: bus, stores and the five services, each a process of its own.

    It runs until Ctrl-C, or with --detach until `lightstream down`. With --stores no store is
    started: those of the file are used, also by later starts. A language model is used when
    OPENAI_API_KEY, or LLM_BASE_URL, LLM_MODEL and LLM_API_KEY, are set, in the environment or in
    .env of the working folder, which `lightstream init` writes.
    """
    with errors(as_json):
        if not as_json:
            note_settings_file(context)
        folder = DataFolder.at(data)
        report = silent if as_json else note
        _offer_models(context, host)
        _place_stores(folder, stores, report)
        _place_region(folder, region, follow, partitions)
        _place_partitions(folder, partitions)
        _begin_stores(folder, graph, vectors)
        if detach:
            _start_in_background(folder, report, ApiAddress(host, port), rebuild, as_json)
            return
        has_answered = _serve(folder, report, ApiAddress(host, port), rebuild, as_json)
        if has_answered is None:
            return
        report("stopped")
        raise typer.Exit(0 if has_answered else 130)


def _offer_models(context: typer.Context, host: str) -> None:
    """Have the page save models into the settings file, and try those of this machine where nobody
    else reaches the API. What the environment says counts.
    """
    from runtime.settings_lines import STACK_FILE  # noqa: PLC0415

    file: str | None = context.find_root().params.get("env_file")
    if file != "":
        os.environ.setdefault(STACK_FILE, str(Path(file or DEFAULT_FILE).absolute()))
    if host in LOCAL_ADDRESSES:
        os.environ.setdefault(TRIED_NETWORKS, LOCAL_NETWORKS)


def _place_stores(folder: DataFolder, place: str, report: Report) -> None:
    """Have the stack use the stores of a file; without one say where LightRAG's variables name some
    that a new stack would not use.
    """
    if place:
        from cli.common import quiet_logs  # noqa: PLC0415
        from operations.moving.placing import use_stores  # noqa: PLC0415

        quiet_logs()
        use_stores(folder, place)
    elif not (folder.path / "bus").is_dir():
        from operations.moving.lightrag_stores import names_postgres  # noqa: PLC0415

        if names_postgres(os.environ) or os.environ.get("STORES_URL"):
            report(
                "the stores will be those of the folder; for the PostgreSQL that the settings "
                "name begin with `lightstream up --stores .env`"
            )


def _place_partitions(folder: DataFolder, count: int | None) -> None:
    """Have the log of a new stack be made with so many partitions."""
    if count is not None:
        from embedded.partitions import set_partitions  # noqa: PLC0415

        set_partitions(folder, count)


def _begin_stores(folder: DataFolder, graph: str | None, vectors: str | None) -> None:
    """Have a new stack keep its graph and its vectors there."""
    from embedded.stores import GRAPH, VECTORS  # noqa: PLC0415

    for store, choice in ((GRAPH, graph), (VECTORS, vectors)):
        if choice is not None:
            store.begin(folder, choice)


def _place_region(folder: DataFolder, name: str, writer: str, partitions: int | None) -> None:
    """Have the stack be the region of that name, and follow that of an address, whose log has as
    many partitions.
    """
    if name or writer:
        from embedded.region import set_region  # noqa: PLC0415

        set_region(folder, name, writer, partitions)


def _start_in_background(
    folder: DataFolder, report: Report, api: ApiAddress, rebuild: bool, as_json: bool
) -> None:
    from embedded import daemon  # noqa: PLC0415

    there = folder.is_running() and folder.read().phase == "ready"
    state = daemon.start(folder, report, api=api)
    _show(folder, state, as_json, "was running already" if there else "is running")
    if there:
        report_other_port(folder, state, api, report)
        report_other_models(folder, state, report)
    asyncio.run(lost.report_losses(folder, state, rebuild=rebuild, ask=False))


def _serve(
    folder: DataFolder, report: Report, api: ApiAddress, rebuild: bool, as_json: bool
) -> bool | None:
    """Run the stack until it is stopped, and return whether it was ready before; None where another
    process runs it.
    """
    from cli.common import quiet_logs  # noqa: PLC0415
    from embedded import daemon  # noqa: PLC0415

    quiet_logs()
    attending: set[asyncio.Task[None]] = set()

    def ready(state: StackState) -> None:
        _show(folder, state, as_json, "is running")
        ask = lost.can_ask() and not as_json
        attending.add(
            asyncio.create_task(lost.report_losses(folder, state, rebuild=rebuild, ask=ask))
        )

    while True:
        if state := daemon.running_state(folder, report):
            _show(folder, state, as_json, "was running already")
            report_other_port(folder, state, api, report)
            report_other_models(folder, state, report)
            asyncio.run(lost.report_losses(folder, state, rebuild=rebuild, ask=False))
            return None
        try:
            return asyncio.run(daemon.serve(folder, report, api=api, on_ready=ready))
        except Busy:
            continue  # another process was faster: wait for it


def report_other_port(
    folder: DataFolder, state: StackState, api: ApiAddress, report: Report
) -> None:
    """Say that a running stack keeps its port, where another one is asked for."""
    if api.port not in (None, state.ports["api"]):
        report(
            f"it keeps its port; for {api.port}: `lightstream down{folder.command_option}`, then "
            "`up`"
        )


def report_other_models(folder: DataFolder, state: StackState, report: Report) -> None:
    """Say that a running stack keeps the models it was started with, where this shell names
    others.
    """
    from embedded.stack import configured_models  # noqa: PLC0415

    models = configured_models()
    if models != state.models:
        names = ", ".join(f"{role} {model or 'none'}" for role, model in models.items())
        report(
            f"it keeps its models; for those of this shell ({names}): "
            f"`lightstream down{folder.command_option}`, then `up`"
        )


def down(data: Data = DATA, as_json: Json = False) -> None:
    """Stop the stack, and end what is left of one that was killed. The data stay."""
    with errors(as_json):
        from embedded import daemon  # noqa: PLC0415

        folder = DataFolder.at(data)
        was_stopped = daemon.stop(folder)
        if as_json:
            print_json({"data": str(folder.path), "stopped": was_stopped})
        else:
            echo(
                f"the stack in {folder.path} is stopped"
                if was_stopped
                else f"no stack was running in {folder.path}"
            )


def describe_stack(folder: DataFolder, state: StackState) -> dict[str, Any]:
    """The running stack for --json. `nats_url` holds the password of the bus."""
    from embedded.addresses import bus_url  # noqa: PLC0415

    children = {
        name: {"pid": child.identity.pid, "restarts": child.restarts}
        for name, child in state.children.items()
    }
    return {
        "data": str(folder.path),
        "phase": state.phase,
        "api": state.api,
        "docs": f"{state.api}/docs",
        "nats_url": bus_url(state),
        "ports": state.ports,
        "models": state.models,
        "stores": _places(state),
        "supervisor": state.supervisor.pid if state.supervisor else None,
        "processes": children,
    }


def _places(state: StackState) -> list[str]:
    """Return the addresses of stores elsewhere, without their passwords."""
    from runtime.variables import without_secrets  # noqa: PLC0415

    urls = [
        state.stores[name] for name in ("documents_url", "neo4j_uri", "milvus_uri") if state.stores
    ]
    return [without_secrets(url) for url in urls]


def _show(folder: DataFolder, state: StackState, as_json: bool, sentence: str) -> None:
    if as_json:
        print_json(describe_stack(folder, state))
        return
    language = state.models.get("language")
    echo(f"The stack in {folder.path} {sentence}.")
    echo(f"  open        {state.api}/ in a browser; the API is at /docs")
    echo(
        "  answers by  "
        f"{language or 'no language model: offline extraction, answers are quotations'}"
    )
    echo(f"  embeddings  {state.models.get('embedding')}")
    if places := dict.fromkeys(_places(state)):
        echo(f"  stores      {', '.join(places)}")
    echo(f"  stop with   lightstream down{folder.command_option}")
