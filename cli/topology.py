"""`topology`: streams and consumers as they are declared."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.audit_lines import audit_line
from cli.common import DATA, Data, Json, Reason, echo, errors, print_json, quiet_logs

# `--help` answers at once: the bus is loaded by the command that needs it.

if TYPE_CHECKING:
    from nats.js import JetStreamContext

Work = Callable[["JetStreamContext"], Awaitable[list[str]]]

app = typer.Typer(help="Streams, consumers and buckets of the bus.", no_args_is_help=True)

Nats = Annotated[
    str, typer.Option("--nats", metavar="URL", help="Another server than that of the stack.")
]
Replicas = Annotated[
    int | None,
    typer.Option(
        min=1, max=5, help="Copies of each stream in a cluster; without it, as many as there are."
    ),
]

DuplicateWindow = Annotated[
    int | None,
    typer.Option(
        min=120,
        max=86_400,
        metavar="SECONDS",
        help="For how long the log knows ids; without it as long as it does, a day if it is new.",
    ),
]

ShareSubjects = Annotated[
    bool,
    typer.Option(
        "--share-subjects",
        help="Have documents share subjects for what services make of them, as those of a new log "
        "do: once no older program runs, for those refuse the bus then.",
    ),
]

Format = Literal["json", "cli", "nack"]


@app.command()
def apply(
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    nats: Nats = "",
    replicas: Replicas = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, help="Streams of a new log; a log keeps those it was made with."
        ),
    ] = None,
    duplicate_window: DuplicateWindow = None,
    share_subjects: ShareSubjects = False,
) -> None:
    """Create what is missing and change what differs."""

    async def apply_to(bus: "JetStreamContext") -> list[str]:
        from runtime.bus import topology  # noqa: PLC0415

        return await topology.apply(
            bus, replicas, partitions, duplicate_window, share_subjects=share_subjects
        )

    with errors(as_json), audit_line("topology apply", data, reason):
        changes = asyncio.run(_run(nats or _of_stack(data), apply_to))
        _show(changes, as_json, "done", "nothing to do: the bus is as declared")


@app.command()
def check(
    data: Data = DATA, as_json: Json = False, nats: Nats = "", replicas: Replicas = None
) -> None:
    """Say where the bus differs from its declaration. Ends with code 1 when it does."""

    async def check_it(bus: "JetStreamContext") -> list[str]:
        from runtime.bus import topology  # noqa: PLC0415

        return await topology.check(bus, replicas=replicas)

    with errors(as_json):
        problems = asyncio.run(_run(nats or _of_stack(data), check_it))
        _show(problems, as_json, "problems", "the bus is as declared")
        if problems:
            raise typer.Exit(1)


@app.command()
def export(
    form: Annotated[
        Format, typer.Option("--format", help="What for: requests, the command `nats`, Kubernetes.")
    ] = "json",
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="Copies of each stream in a cluster.")
    ] = 1,
    duplicate_window: DuplicateWindow = None,
    share_subjects: ShareSubjects = False,
) -> None:
    """Print the declaration for other tools: `json` requests, a script for `nats` (`cli`),
    resources of `nack`.

    Reaches no server. Either such a tool owns the streams or `topology apply` does, never both.
    """
    from contracts.topology import DAY  # noqa: PLC0415
    from runtime.bus.topology_export import exported  # noqa: PLC0415

    text = exported(form, replicas, duplicate_window or DAY, share_subjects=share_subjects)
    echo(text.rstrip("\n"))


def _of_stack(data: Data) -> str:
    from operations.target import select_target  # noqa: PLC0415

    return select_target(data).settings.nats_url


async def _run(url: str, work: Work) -> list[str]:
    from nats.js.errors import APIError  # noqa: PLC0415

    from operations.command_bus import connect_bus  # noqa: PLC0415
    from runtime.bus.nats.connection import translated  # noqa: PLC0415
    from runtime.errors import ServiceError  # noqa: PLC0415

    quiet_logs()
    try:
        async with connect_bus(url) as bus:
            with translated():
                return await work(bus)
    except APIError as error:
        raise ServiceError(f"the bus refuses: {error.description}") from None


def _show(lines: list[str], as_json: bool, key: str, empty_line: str) -> None:
    if as_json:
        print_json({key: lines})
        return
    for line in lines or [empty_line]:
        echo(line)
