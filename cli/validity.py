"""`validity`: since when and until when a document holds, and what it supersedes."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cli.client import call_query_service
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    echo,
    errors,
    note,
    print_json,
)
from cli.terminal import line

if TYPE_CHECKING:
    from lightstream_rag.documents import Validity
    from lightstream_rag.models import DocumentValidity, ValidityStated

app = typer.Typer(
    help="When documents hold and what they supersede: show, set, withdraw.", no_args_is_help=True
)

DocumentId = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="Its id, as `status` shows it.")
]
Moment = datetime | None
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
"""Of a time; one without a zone is UTC."""


@app.command()
def show(
    document: DocumentId, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Show when a document holds, what it supersedes and what supersedes it."""
    with errors(as_json):
        validity = call_query_service(
            data, workspace, lambda client: client.document_validity(document)
        )
        if as_json:
            print_json(validity.model_dump(mode="json"))
            return
        for text in _lines(validity):
            echo(text)


@app.command("set")
def set_(
    document: DocumentId,
    valid_from: Annotated[
        Moment, typer.Option("--from", formats=FORMATS, help="From when it holds.")
    ] = None,
    valid_until: Annotated[
        Moment, typer.Option("--until", formats=FORMATS, help="From when it holds no longer.")
    ] = None,
    supersedes: Annotated[
        list[str] | None,
        typer.Option(
            "--supersedes", metavar="DOCUMENT", help="A document it replaces; may be repeated."
        ),
    ] = None,
    authority: Annotated[
        int,
        typer.Option(
            "--authority",
            min=-100,
            max=100,
            help="Its weight, for who looks; nothing is ordered by it.",
        ),
    ] = 0,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """State when a document holds and what it supersedes, in place of what was said before."""
    with errors(as_json):
        validity: Validity = {"supersedes": supersedes or (), "authority": authority}
        if valid_from:
            validity["valid_from"] = _with_zone(valid_from)
        if valid_until:
            validity["valid_until"] = _with_zone(valid_until)
        statement = call_query_service(
            data,
            workspace,
            lambda client: client.state_validity(document, validity, reason=reason),
        )
        _show_statement(statement, as_json)


@app.command()
def withdraw(
    document: DocumentId,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Take back what was set: what the document was added with holds again."""
    with errors(as_json):
        statement = call_query_service(
            data, workspace, lambda client: client.withdraw_validity(document, reason=reason)
        )
        _show_statement(statement, as_json)


def _show_statement(statement: "ValidityStated", as_json: bool) -> None:
    if as_json:
        print_json(statement.model_dump(mode="json"))
        return
    echo(f"{line(statement.document_id)}: in the log at {statement.sequence}")
    for id in statement.unknown:
        note(f"  there is no document {line(id)} yet; should it come, it is superseded")


def _lines(validity: "DocumentValidity") -> list[str]:
    """Return what is to be said of a document, a line each."""
    lines = [f"holds from {validity.valid_from:%Y-%m-%d %H:%M}Z"] if validity.valid_from else []
    lines += [f"holds until {validity.valid_until:%Y-%m-%d %H:%M}Z"] if validity.valid_until else []
    lines += [f"supersedes {line(id)}" for id in validity.supersedes]
    lines += [f"superseded by {line(id)}" for id in validity.superseded_by]
    lines += [f"authority {validity.authority}"] if validity.authority else []
    source = "  (stated afterwards)" if validity.is_stated else ""
    return [f"{text}{source}" for text in lines] or [f"always holds{source}"]


def _with_zone(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
