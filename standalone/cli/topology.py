"""`topology`: streams and consumers as they are declared."""

import asyncio
from typing import Annotated

import typer

from standalone.cli.common import DATA, Data, Json, echo, errors, print_json, quiet_logs

# `--help` answers at once: the bus is loaded by the command that needs it.
# ruff: noqa: PLC0415

app = typer.Typer(help="Streams, consumers and buckets of the bus.", no_args_is_help=True)

Nats = Annotated[str, typer.Option("--nats", metavar="URL", help="Another server than that of the stack.")]
Replicas = Annotated[int, typer.Option(min=1, max=5, help="Copies of each stream in a cluster.")]


@app.command()
def apply(data: Data = DATA, as_json: Json = False, nats: Nats = "", replicas: Replicas = 1) -> None:
    """Create what is missing and change what differs."""
    with errors(as_json):
        done = asyncio.run(_run(nats or _of_stack(data), replicas, change=True))
        _show(done, as_json, "done", "nothing to do: the bus is as declared")


@app.command()
def check(data: Data = DATA, as_json: Json = False, nats: Nats = "", replicas: Replicas = 1) -> None:
    """Say where the bus differs from its declaration. Ends with code 1 when it does."""
    with errors(as_json):
        problems = asyncio.run(_run(nats or _of_stack(data), replicas, change=False))
        _show(problems, as_json, "problems", "the bus is as declared")
        if problems:
            raise typer.Exit(1)


def _of_stack(data: Data) -> str:
    from standalone.operations.target import select_target

    return select_target(data).settings.nats_url


async def _run(url: str, replicas: int, *, change: bool) -> list[str]:
    from nats.js.errors import APIError

    from runtime.bus import topology
    from runtime.bus.nats.log import translated
    from runtime.errors import ServiceError
    from standalone.operations.publishing import connect_bus

    quiet_logs()
    try:
        async with connect_bus(url) as bus:
            with translated():
                return await (topology.apply(bus, replicas) if change else topology.check(bus, replicas=replicas))
    except APIError as error:
        raise ServiceError(f"the bus refuses: {error.description}") from None


def _show(lines: list[str], as_json: bool, key: str, none: str) -> None:
    if as_json:
        print_json({key: lines})
        return
    for line in lines or [none]:
        echo(line)
