"""`access`: who may see a document, now or at a time, and why."""

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
    print_json,
)
from cli.document_ids import document_id
from cli.terminal import line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.access import Access
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.document_access import AccessExplanation, DocumentAccess, StatedAccess

# `--help` answers at once: the client is loaded by the command that needs it.

app = typer.Typer(help="Who may see a document, now or at a time, and why.", no_args_is_help=True)

Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="PRINCIPAL",
        help="Who may see what is added: user:ann, group:legal. May be repeated. Else everyone.",
    ),
]
Deny = Annotated[
    list[str] | None,
    typer.Option("--deny", metavar="PRINCIPAL", help="Who may not, though allowed."),
]
Doc = Annotated[str, typer.Argument(metavar="DOC", help="Id or file name.")]


@app.command()
def show(
    document: Doc, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Show who may see a document."""

    async def shown(client: "AsyncLightstream") -> "DocumentAccess":
        return await client.document_access(await document_id(client, document))

    with errors(as_json):
        access = call_query_service(data, workspace, shown)
        if as_json:
            print_json(access.model_dump())
        else:
            echo(_sentence(access))
            for older_access in access.older_lists:
                echo(line(f"until its new text is processed only who {_readers(older_access)}"))


@app.command("set")
def set_(
    document: Doc,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="PRINCIPAL",
            help="Who may see it: user:ann, group:legal, everyone. May be repeated.",
        ),
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option("--deny", metavar="PRINCIPAL", help="Who may not, though allowed."),
    ] = None,
    nobody: Annotated[
        bool, typer.Option("--nobody", help="Only who sees all documents may see it.")
    ] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Change who may see a document, without extracting it again. `--allow everyone` takes every
    restriction back.
    """
    with errors(as_json):
        from lightstream_rag.document_access import Access, AccessChange  # noqa: PLC0415
        from runtime.errors import InvalidInput  # noqa: PLC0415

        if not (allow or deny or nobody):
            raise InvalidInput("say who may see it: --allow, --deny, or --nobody")
        if allow and nobody:
            raise InvalidInput("--allow and --nobody contradict each other: give one of them")
        access: Access | None = {"allow": allow or ([] if nobody else ["everyone"])}
        access["deny"] = deny or []
        new_access = None if access == {"allow": ["everyone"], "deny": []} else access

        async def changed(client: "AsyncLightstream") -> AccessChange:
            id = await document_id(client, document)
            return await client.change_document_access(id, new_access, reason=reason)

        change = call_query_service(data, workspace, changed)
        if as_json:
            print_json(change.model_dump())
        else:
            echo(f"{line(change.document_id)}: {'changed' if change.is_new else 'as it was'}")


@app.command()
def explain(
    document: Doc,
    who: Annotated[
        list[str] | None,
        typer.Option("--as", metavar="USER", help="Who asks: ann, group:legal. May be repeated."),
    ] = None,
    at: Annotated[
        str, typer.Option("--at", metavar="TIME|SEQ", help="At that time; else now.")
    ] = "now",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Say whether somebody may see a document, or could at a time, and why. Ends with code 1 where
    it is hidden.
    """
    with errors(as_json):
        explanation = call_query_service(
            data,
            workspace,
            lambda client: _explained(client, document, who or [], at),
        )
        if as_json:
            print_json(explanation.model_dump())
        else:
            verdict = "sees it" if explanation.is_visible else "does not see it"
            asker = ", ".join(explanation.principals) or "somebody of no group"
            echo(line(f"{asker} {verdict}: {explanation.reason}"))
            if explanation.changed_at:
                echo(line(_since(explanation)))
        if not explanation.is_visible:
            raise typer.Exit(1)


async def _explained(
    client: "AsyncLightstream", document: str, who: "Sequence[str]", at: str
) -> "AccessExplanation":
    # A document that is gone is in no list; its id is enough.
    return await client.explain_document_access(await document_id(client, document), who, at=at)


def _sentence(access: "DocumentAccess") -> str:
    if access.access is None:
        return "everyone of the workspace may see it"
    return line(f"{_readers(access.access)}; {_since(access)}")


def _readers(access: "StatedAccess") -> str:
    denial = f", not {', '.join(access.deny)}" if access.deny else ""
    names = ", ".join(access.allow) or "nobody but who sees all documents"
    return f"{names} may see it{denial}"


def _since(access: "DocumentAccess") -> str:
    by = f" by {access.changed_by}" if access.changed_by else ""
    return f"since {access.changed_at}{by}"


def access_of_options(
    allow: "Sequence[str] | None", deny: "Sequence[str] | None", sources: "Sequence[str] | None"
) -> "Access | None":
    """Return who may see what sources add. Raises InvalidInput for what is no principal, and where
    the sources are not named: each has readers of its own.
    """
    from contracts.access import access_of  # noqa: PLC0415
    from publishing.draft import validated  # noqa: PLC0415
    from runtime.errors import InvalidInput  # noqa: PLC0415

    access = validated(lambda: access_of(allow or [], deny or []))
    if access and not sources:
        raise InvalidInput("--allow and --deny are about named sources: name the SOURCE, too")
    return access
