"""`webhooks`: where the events of a workspace are sent over HTTP."""

import json
import re
from typing import Annotated, Any

import typer

from cli import terminal
from cli.client import call_query_service
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
)

# `--help` answers at once: the client is loaded by the command that needs it.

app = typer.Typer(help="Webhooks: addresses that are told what happens.", no_args_is_help=True)


def webhook_id(text: str) -> str:
    """The id of a webhook. Raises BadParameter for what cannot be one."""
    if not re.fullmatch("[0-9a-f]{16}", text):
        raise typer.BadParameter(f"{text!r} is no id of a webhook: `webhooks list` has them")
    return text


Id = Annotated[
    str, typer.Argument(metavar="ID", help="As `webhooks list` has it.", callback=webhook_id)
]
PATH = "/operations/webhooks"


Url = Annotated[
    str,
    typer.Argument(
        metavar="URL", help="https://…, public unless the deployment allows its network."
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type", help="A type of events, or document.processed …; several times for several."
    ),
]
Start = Annotated[
    int | None, typer.Option("--after", metavar="SEQ", min=0, help="From behind this sequence on.")
]
Body = Annotated[bool, typer.Option("--include-body", help="Send events whole, with their texts.")]


@app.command()
def add(
    url: Url,
    types: Types = None,
    after: Start = None,
    include_body: Body = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Register an address, and print its secret: this is the only time it is shown."""
    body: dict[str, Any] = {"url": url, "include_body": include_body, "reason": reason}
    body |= {"types": types} if types else {}
    body |= {"after": after} if after is not None else {}
    with errors(as_json):
        endpoint = _ask(data, workspace, "POST", PATH, body)
        if as_json:
            print_json(endpoint)
            return
        echo(f"{endpoint['id']}  {terminal.line(endpoint['url'])}")
        echo(f"secret  {endpoint['secret']}")
        note("Keep the secret: it is not shown again. Receivers check `webhook-signature` with it.")


@app.command("list")
def list_webhooks(
    data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """List the addresses of the workspace: state, events still to be sent, and the last error."""
    with errors(as_json):
        webhooks = _ask(data, workspace, "GET", PATH)["webhooks"]
        if as_json:
            print_json(webhooks)
            return
        for endpoint in webhooks:
            error = (
                f"  {endpoint['last_error']}, {endpoint['failures']} times"
                if endpoint["failures"]
                else ""
            )
            endpoint_line = terminal.line(
                f"{endpoint['url']}  {','.join(endpoint['types'])}{error}"
            )
            echo(
                f"{endpoint['id']}  {endpoint['state']:<8}  {endpoint['lag']:>6} behind  "
                f"{endpoint_line}"
            )
        if not webhooks:
            note("no webhooks")


@app.command()
def remove(
    id: Id,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Send nothing more there, and forget the secret."""
    with errors(as_json):
        if yes:
            removed_id = _ask(data, workspace, "DELETE", f"{PATH}/{id}", reason=reason)["id"]
        else:
            removed_id = id if _listed(data, workspace, id) else None
        if as_json:
            print_json({"removed" if yes else "would_remove": removed_id})
        elif removed_id:
            echo(f"{'removed' if yes else 'would remove'} {removed_id}")
        else:
            note(f"there is no webhook {id!r}: `webhooks list` has those of workspace {workspace}")
        raise typer.Exit(0 if removed_id else 2)


@app.command()
def replay(
    id: Id,
    after: Annotated[
        int, typer.Option(metavar="SEQ", min=0, help="Send what comes behind this sequence.")
    ],
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Send again from a place of the log on, or skip what a receiver will never take. Ids of
    messages stay the same.
    """
    if yes:
        _changed(
            data, as_json, workspace, f"{PATH}/{id}/replay", {"after": after, "reason": reason}
        )
        return
    with errors(as_json):
        now = _listed(data, workspace, id)
        if as_json:
            print_json(
                {"would_replay": now and {"id": id, "cursor": now["cursor"], "after": after}}
            )
        elif now:
            echo(f"would send to {id} from behind sequence {after}; it is behind {now['cursor']}")
            note("nothing is sent again without --yes")
        else:
            note(f"there is no webhook {id!r}: `webhooks list` has those of workspace {workspace}")
        raise typer.Exit(0 if now else 2)


@app.command()
def enable(
    id: Id,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Try a disabled or failing address again at once, from where it stopped."""
    _changed(data, as_json, workspace, f"{PATH}/{id}/enable", {}, reason=reason)


@app.command()
def rotate(
    id: Id,
    keep_hours: Annotated[
        int,
        typer.Option(
            metavar="HOURS", min=0, max=720, help="Sign with the former secret too, for so long."
        ),
    ] = 24,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Make a new secret, and print it: this is the only time it is shown. For a time both are
    valid.
    """
    with errors(as_json):
        endpoint = _ask(
            data,
            workspace,
            "POST",
            f"{PATH}/{id}/rotate",
            {"keep_hours": keep_hours, "reason": reason},
        )
        if as_json:
            print_json(endpoint)
            return
        echo(f"secret  {endpoint['secret']}")
        note(
            "Messages are signed with the former secret too until "
            f"{endpoint['former_secret_until']}."
        )


@app.command()
def test(
    id: Id, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Send a message of the type `test` now. Ends with code 1 when the receiver does not take
    it.
    """
    with errors(as_json):
        result = _ask(data, workspace, "POST", f"{PATH}/{id}/test", {})
        if as_json:
            print_json(result)
        else:
            echo(
                f"delivered, {result['status']}"
                if result["delivered"]
                else f"not delivered: {result['error']}"
            )
        raise typer.Exit(0 if result["delivered"] else 1)


def _listed(data: Data, workspace: str, id: str) -> dict[str, Any] | None:
    """Return the webhook of that id, None without."""
    return next(
        (
            endpoint
            for endpoint in _ask(data, workspace, "GET", PATH)["webhooks"]
            if endpoint["id"] == id
        ),
        None,
    )


def _changed(
    data: Data, as_json: bool, workspace: str, path: str, body: dict[str, Any], **params: str
) -> None:
    with errors(as_json):
        now = _ask(data, workspace, "POST", path, body, **params)
        if as_json:
            print_json(now)
        else:
            echo(
                f"{now['id']}  {now['state']}  behind sequence {now['cursor']}, {now['lag']} "
                "events to come"
            )


def _ask(
    data: Data, workspace: str, method: str, path: str, body: Any = None, **params: str
) -> Any:
    """Return the answer of the query service of the stack."""
    from lightstream_rag.flows import Call, request  # noqa: PLC0415

    call = Call(method, path, json.loads, body, params=params)
    return call_query_service(data, workspace, lambda client: client.run(request(call)))
