"""`validity`: since when and until when a document holds, and what it supersedes; supersessions
that names of documents suggest, accepted and rejected by people.
"""

from datetime import UTC, datetime
from enum import StrEnum
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
from cli.document_ids import document_id, document_ids
from cli.terminal import counted, line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from contracts.values import Validity as PublishedValidity
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.models import DocumentValidity, ValidityStated
    from lightstream_rag.validity import SupersessionProposals, Validity

app = typer.Typer(
    help="When documents hold and what they supersede: stated, proposed by names, decided.",
    no_args_is_help=True,
)

Document = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its id or file name.")]
OlderDocument = Annotated[
    str, typer.Argument(metavar="OLDER", help="Id or file name of the older document.")
]
Moment = datetime | None
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
"""Of a time; one without a zone is UTC."""

ValidFrom = Annotated[
    Moment,
    typer.Option(
        "--valid-from",
        formats=FORMATS,
        metavar="TIME",
        help="From when they hold: 2026-03-01, 2026-03-01T12:00+01:00.",
    ),
]
ValidUntil = Annotated[
    Moment,
    typer.Option(
        "--valid-until", formats=FORMATS, metavar="TIME", help="From when they hold no longer."
    ),
]
Supersedes = Annotated[
    list[str] | None,
    typer.Option(
        "--supersedes",
        metavar="DOCUMENT",
        help="Id or file name of one they replace; may be repeated.",
    ),
]
Authority = Annotated[
    int,
    typer.Option(
        "--authority",
        min=-100,
        max=100,
        help="The greater is preferred to lesser ones in force that contradict it.",
    ),
]


class Rule(StrEnum):
    """The rules that propose."""

    VERSION = "version"
    AMENDMENT = "amendment"
    DATE = "date"


@app.command()
def show(
    document: Document, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Show when a document holds, what it supersedes and what supersedes it."""
    with errors(as_json):

        async def shown(client: "AsyncLightstream") -> "DocumentValidity":
            return await client.document_validity(await document_id(client, document))

        validity = call_query_service(data, workspace, shown)
        if as_json:
            print_json(validity.model_dump(mode="json"))
            return
        for text in _lines(validity):
            echo(text)


@app.command("set")
def set_(
    document: Document,
    valid_from: Annotated[
        Moment, typer.Option("--from", formats=FORMATS, metavar="TIME", help="From when it holds.")
    ] = None,
    valid_until: Annotated[
        Moment,
        typer.Option(
            "--until", formats=FORMATS, metavar="TIME", help="From when it holds no longer."
        ),
    ] = None,
    supersedes: Annotated[
        list[str] | None,
        typer.Option(
            "--supersedes", metavar="DOCUMENT", help="A document it replaces; may be repeated."
        ),
    ] = None,
    authority: Authority = 0,
    coexists_with: Annotated[
        list[str] | None,
        typer.Option(
            "--coexists-with",
            metavar="DOCUMENT",
            help="One that it leaves in force: no rule proposes it. May be repeated.",
        ),
    ] = None,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """State when a document holds and what it supersedes, in place of what was said before."""
    with errors(as_json):
        validity: Validity = {"authority": authority}
        if valid_from:
            validity["valid_from"] = with_zone(valid_from)
        if valid_until:
            validity["valid_until"] = with_zone(valid_until)

        async def stated(client: "AsyncLightstream") -> "ValidityStated":
            older_names = supersedes or []
            names = [document, *older_names, *(coexists_with or [])]
            id, *other_ids = await document_ids(client, names)
            validity["supersedes"] = other_ids[: len(older_names)]
            validity["coexists_with"] = other_ids[len(older_names) :]
            return await client.state_validity(id, validity, reason=reason)

        _show_statement(call_query_service(data, workspace, stated), as_json)


@app.command()
def withdraw(
    document: Document,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Take back what was set: what the document was added with holds again."""
    with errors(as_json):

        async def withdrawn(client: "AsyncLightstream") -> "ValidityStated":
            id = await document_id(client, document)
            return await client.withdraw_validity(id, reason=reason)

        _show_statement(call_query_service(data, workspace, withdrawn), as_json)


@app.command()
def propose(
    rule: Annotated[
        list[Rule] | None, typer.Option("--rule", help="Only by this rule; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 50,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show documents that, by their names, may supersede others and are not decided."""
    with errors(as_json):
        rules = [name.value for name in rule or ()]
        answer = call_query_service(
            data, workspace, lambda client: client.supersession_proposals(limit, rules=rules)
        )
        if as_json:
            print_json(answer.model_dump())
            return
        _show_proposals(answer)


@app.command()
def accept(
    document: Document,
    predecessor: OlderDocument,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Decide that a document supersedes another one. What else holds of it stays."""
    _decide(document, predecessor, True, reason, data, as_json, workspace)


@app.command()
def reject(
    document: Document,
    predecessor: OlderDocument,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Decide that both documents stay in force; takes an acceptance back, and is not proposed
    again.
    """
    _decide(document, predecessor, False, reason, data, as_json, workspace)


@app.command()
def contradictions(
    name: Annotated[str, typer.Argument(metavar="ENTITY", help="An entity of the graph.")],
    other: Annotated[
        str, typer.Argument(metavar="OTHER", help="The other end, for a relation.")
    ] = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show what documents in force seem to say differently of an entity or a relation."""
    with errors(as_json):
        answer = call_query_service(
            data, workspace, lambda client: client.contradictions(name, other)
        )
        if as_json:
            print_json(answer.model_dump())
            return
        for pair in answer.contradictions:
            for statement in (pair.first, pair.second):
                authority = f" (authority {statement.authority})" if statement.authority else ""
                source = f"{line(statement.file_path)}{authority}"
                echo(line(statement.statement), label=f"{source}: ")
            echo("")
        note(
            f"{counted(len(answer.contradictions), 'contradiction')}, told by quantities and "
            f"negations alone, in {counted(answer.looked_at, 'description')}"
        )


def _decide(
    document: str,
    predecessor: str,
    is_accepted: bool,
    reason: str,
    data: "Path | None",
    as_json: bool,
    workspace: str,
) -> None:
    async def decided(client: "AsyncLightstream") -> "ValidityStated":
        id, older_id = await document_ids(client, [document, predecessor])
        return await client.decide_supersession(
            id, older_id, is_accepted=is_accepted, reason=reason
        )

    with errors(as_json):
        _show_statement(call_query_service(data, workspace, decided), as_json)


def _show_proposals(answer: "SupersessionProposals") -> None:
    for proposal in answer.proposals:
        echo(
            f"{line(proposal.document_id)} ({line(proposal.file_path)}) supersedes "
            f"{line(proposal.supersedes)} ({line(proposal.superseded_file_path)}): "
            f"{line(proposal.evidence)}",
            label=f"{proposal.rule:10}",
        )
    note(
        f"{len(answer.proposals)} proposed from the names of {answer.looked_at} of "
        f"{answer.documents} documents; decide with: lightstream validity accept|reject "
        "DOCUMENT OLDER"
    )


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
    lines += [f"leaves in force {line(id)}" for id in validity.coexists_with]
    lines += [f"superseded by {line(id)}" for id in validity.superseded_by]
    lines += [f"authority {validity.authority}"] if validity.authority else []
    source = "  (stated afterwards)" if validity.is_stated else ""
    return [f"{text}{source}" for text in lines] or [f"always holds{source}"]


def validity_of(
    valid_from: datetime | None,
    valid_until: datetime | None,
    supersedes: "Sequence[str]",
    authority: int = 0,
) -> "PublishedValidity | None":
    """Return it as events have it; None where nothing is said. Raises ValueError for times in the
    wrong order.
    """
    if not (valid_from or valid_until or supersedes or authority):
        return None
    from contracts.values import Validity as PublishedValidity  # noqa: PLC0415

    return PublishedValidity(
        valid_from=with_zone(valid_from) if valid_from else None,
        valid_until=with_zone(valid_until) if valid_until else None,
        supersedes=tuple(dict.fromkeys(supersedes)),
        authority=authority,
    )


def superseded_documents(
    data: "Path | None", workspace: str, names: "Sequence[str]"
) -> "Sequence[str]":
    """Return the ids of documents that others supersede, by their ids or file names."""
    if not names:
        return []
    return call_query_service(data, workspace, lambda client: document_ids(client, names))


def with_zone(moment: datetime) -> datetime:
    """Return the time, in UTC where it has no zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
