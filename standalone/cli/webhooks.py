"""`webhooks`: where the events of a workspace are sent over HTTP."""

import asyncio
import json
from typing import Annotated, Any

import typer

from standalone.cli import terminal
from standalone.cli.common import DATA, WORKSPACE, Data, Json, Workspace, echo, errors, note, print_json, quiet_logs

# `--help` answers at once: the client is loaded by the command that needs it.
# ruff: noqa: PLC0415

app = typer.Typer(help="Webhooks: addresses that are told what happens.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="As `webhooks list` has it.")]
PATH = "/operations/webhooks"


Yes = Annotated[bool, typer.Option("--yes", help="Do it. Without it the command only says what it would do.")]
Url = Annotated[str, typer.Argument(metavar="URL", help="https://…, public unless the deployment allows its network.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", help="A type of events, or document.processed …; several times for several."),
]
Start = Annotated[int | None, typer.Option("--after", metavar="SEQ", min=0, help="From behind this sequence on.")]
Body = Annotated[bool, typer.Option("--include-body", help="Send events whole, with their texts.")]


@app.command()
def add(
    url: Url,
    types: Types = None,
    after: Start = None,
    include_body: Body = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Register an address, and print its secret: this is the only time it is shown."""
    body: dict[str, Any] = {"url": url, "include_body": include_body}
    body |= {"types": types} if types else {}
    body |= {"after": after} if after is not None else {}
    with errors(as_json):
        new = _ask(data, workspace, "POST", PATH, body)
        if as_json:
            print_json(new)
            return
        echo(f"{new['id']}  {terminal.line(new['url'])}")
        echo(f"secret  {new['secret']}")
        note("Keep the secret: it is not shown again. Receivers check `webhook-signature` with it.")


@app.command("list")
def list_webhooks(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """List the addresses of the workspace: state, events still to be sent, and the last error."""
    with errors(as_json):
        found = _ask(data, workspace, "GET", PATH)["webhooks"]
        if as_json:
            print_json(found)
            return
        for one in found:
            error = f"  {one['last_error']}, {one['failures']} times" if one["failures"] else ""
            what = terminal.line(f"{one['url']}  {','.join(one['types'])}{error}")
            echo(f"{one['id']}  {one['state']:<8}  {one['lag']:>6} behind  {what}")
        if not found:
            note("no webhooks")


@app.command()
def remove(
    id: Id,
    yes: Yes = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Send nothing more there, and forget the secret."""
    with errors(as_json):
        if yes:
            removed = _ask(data, workspace, "DELETE", f"{PATH}/{id}")["id"]
        else:
            listed = _ask(data, workspace, "GET", PATH)["webhooks"]
            removed = next((one["id"] for one in listed if one["id"] == id), None)
        if as_json:
            print_json({"removed" if yes else "would_remove": removed})
        elif removed:
            echo(f"{'removed' if yes else 'would remove'} {removed}")
        else:
            note("there is no webhook of that id")
        raise typer.Exit(0 if removed else 1)


@app.command()
def replay(
    id: Id,
    after: Annotated[int, typer.Option(metavar="SEQ", min=0, help="Send what comes behind this sequence.")],
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Send again from a place of the log on, or skip what a receiver will never take. Ids of messages stay the same."""
    _changed(data, as_json, workspace, f"{PATH}/{id}/replay", {"after": after})


@app.command()
def enable(id: Id, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """Try a disabled or failing address again at once, from where it stopped."""
    _changed(data, as_json, workspace, f"{PATH}/{id}/enable", {})


@app.command()
def test(id: Id, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """Send a message of the type `test` now. Ends with code 1 when the receiver does not take it."""
    with errors(as_json):
        result = _ask(data, workspace, "POST", f"{PATH}/{id}/test", {})
        if as_json:
            print_json(result)
        else:
            echo(f"delivered, {result['status']}" if result["delivered"] else f"not delivered: {result['error']}")
        raise typer.Exit(0 if result["delivered"] else 1)


def _changed(data: Data, as_json: bool, workspace: str, path: str, body: dict[str, Any]) -> None:
    with errors(as_json):
        now = _ask(data, workspace, "POST", path, body)
        if as_json:
            print_json(now)
        else:
            echo(f"{now['id']}  {now['state']}  behind sequence {now['cursor']}, {now['lag']} events to come")


def _ask(data: Data, workspace: str, method: str, path: str, body: Any = None) -> Any:
    """Return the answer of the query service of the stack."""
    from lightstream.flows import Call, request
    from standalone.operations.target import query_client, select_target

    async def run() -> Any:
        async with query_client(select_target(data).api, workspace) as client:
            return await client.run(request(Call(method, path, json.loads, body)))

    quiet_logs()
    return asyncio.run(run())
