"""`stores`: tables, indexes, constraints and collections as this program needs them."""

import asyncio

import typer

from cli.audit_lines import audit_line
from cli.common import DATA, Data, Json, Reason, echo, errors, print_json, quiet_logs

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.

app = typer.Typer(
    help="Tables, indexes, constraints and collections of the three stores.", no_args_is_help=True
)


@app.command()
def apply(reason: Reason = "", data: Data = DATA, as_json: Json = False) -> None:
    """Create what is missing and record the schema's version. Needs the bus as declared: `topology
    apply` comes first.

    Services do the same when they start. Ends with code 1 when a newer version has prepared the
    stores.
    """
    with errors(as_json), audit_line("stores apply", data, reason):
        changes = asyncio.run(_run(data, change=True))
        _show(changes, as_json, "done", "nothing to do: the stores are as needed")


@app.command()
def check(data: Data = DATA, as_json: Json = False) -> None:
    """Say what the stores lack, and change nothing. Ends with code 1 when they lack anything."""
    with errors(as_json):
        problems = asyncio.run(_run(data, change=False))
        _show(problems, as_json, "problems", "the stores are as needed")
        if problems:
            raise typer.Exit(1)


async def _run(data: Data, *, change: bool) -> list[str]:
    from operations import stores  # noqa: PLC0415
    from operations.settings import CommandSettings  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    quiet_logs()
    settings = select_target(data).settings
    if not change:
        return await stores.check(settings)
    accounts = await stores.make_accounts(settings) if isinstance(settings, CommandSettings) else []
    return accounts + await stores.apply(settings)


def _show(lines: list[str], as_json: bool, key: str, empty_line: str) -> None:
    if as_json:
        print_json({key: lines})
        return
    for line in [f"made: {line}" if key == "done" else line for line in lines] or [empty_line]:
        echo(line)
