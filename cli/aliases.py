"""`alias`: which names mean the same entity, and which one means two; decided by people, taken back
without a trace.
"""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.client import call_query_service
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Workspace,
    Yes,
    echo,
    errors,
    note,
    print_json,
)
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.models import AliasDecision, AliasProposal

# `--help` answers at once: the client is loaded by the command that needs it.

app = typer.Typer(
    help="Other names of entities: propose, accept, reject, undo; split a homonym.",
    no_args_is_help=True,
)

T = TypeVar("T")
MAX_ACCEPTED = 1000
"""Proposals that one `propose --accept` accepts at most."""


class Rule(StrEnum):
    """The rules that propose."""

    SPELLING = "spelling"
    PLURAL = "plural"
    TITLE = "title"
    ABBREVIATION = "abbreviation"
    SURNAME = "surname"
    SAME = "same"


class State(StrEnum):
    """What may have been decided."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    PROPOSED = "proposed"


Name = Annotated[str, typer.Argument(metavar="NAME", help="The other name.")]
EntityName = Annotated[
    str, typer.Argument(metavar="ENTITY", help="The entity it means, as the graph has it.")
]
AliasReason = Annotated[
    str,
    typer.Option(
        "--reason", "--evidence", metavar="TEXT", help="Why; it is kept with the decision."
    ),
]


@app.command("list")
def list_(
    state: Annotated[State | None, typer.Option("--state", help="Only these decisions.")] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show what was decided last about each name and entity."""
    with errors(as_json):
        aliases = call_query_service(
            data, workspace, lambda client: client.aliases(state.value if state else None)
        )
        if as_json:
            print_json([alias.model_dump() for alias in aliases])
            return
        for alias in aliases:
            editor = (
                f"  ({alias.proposed_by or alias.editor})"
                if alias.proposed_by or alias.editor
                else ""
            )
            echo(f"{alias.name} = {alias.entity}{editor}", label=f"{alias.state:9}")
        note(f"{len(aliases)} decided")


@app.command()
def propose(
    rule: Annotated[
        list[Rule] | None, typer.Option("--rule", help="Only of this rule; may be repeated.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=MAX_ACCEPTED, help="How many at most.")
    ] = 50,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept them all; needs --rule.")
    ] = False,
    reason: AliasReason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show names that may mean the same entity and are not decided, the surest first."""
    with errors(as_json):
        rules = [rule_name.value for rule_name in rule or ()]
        if accept and not rules:
            raise typer.BadParameter("--accept needs --rule: say which rules are to be trusted")
        proposals = call_query_service(
            data, workspace, lambda client: client.alias_proposals(limit, rules=rules)
        )
        if accept:
            proposals = without_chains(proposals)
            call_query_service(data, workspace, partial(_accept_all, proposals, reason))
        if as_json:
            print_json([proposal.model_dump() for proposal in proposals])
            return
        for proposal in proposals:
            why = f": {proposal.evidence}" if proposal.evidence else ""
            echo(
                f"{proposal.name} = {proposal.entity}  ({proposal.proposed_by}{why})",
                label="accepted " if accept else "",
            )
        outcome = (
            "accepted" if accept else "proposed; accept with: lightstream alias accept NAME ENTITY"
        )
        note(f"{len(proposals)} {outcome}")


@app.command()
def accept(
    name: Name,
    entity: EntityName,
    reason: AliasReason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Let a name mean an entity from now on: if it is an entity itself, the two become one."""
    _decide(
        data,
        workspace,
        as_json,
        lambda client: client.accept_alias([name], entity, evidence=reason),
    )


@app.command()
def reject(
    name: Name,
    entity: EntityName,
    yes: Yes = False,
    reason: AliasReason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Say that a name does not mean an entity: it is not proposed again, and taken back if it was
    accepted.
    """
    if yes:
        _decide(
            data,
            workspace,
            as_json,
            lambda client: client.reject_alias([name], entity, evidence=reason),
        )
    else:
        _show_decided("reject", name, entity, data, as_json, workspace)


@app.command()
def undo(
    name: Name,
    entity: EntityName,
    yes: Yes = False,
    reason: AliasReason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Take back what was decided, merges too: the graph is as if it had never been said."""
    if yes:
        _decide(
            data,
            workspace,
            as_json,
            lambda client: client.undo_alias([name], entity, evidence=reason),
        )
    else:
        _show_decided("undo", name, entity, data, as_json, workspace)


@app.command()
def split(
    name: Annotated[
        str, typer.Argument(metavar="ENTITY", help="The entity whose name means two things.")
    ],
    new_name: Annotated[
        str, typer.Argument(metavar="NEW_ENTITY", help="What it means in the documents named.")
    ],
    documents: Annotated[
        list[str],
        typer.Option("--document", metavar="DOCUMENT", help="Id or file name; may be repeated."),
    ],
    reason: AliasReason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Let a name mean another entity in some documents, and in later versions of them.

    `lightstream history NEW_ENTITY` shows the sequence of it, and `lightstream undo` takes it back.
    """
    _decide(
        data,
        workspace,
        as_json,
        lambda client: client.split_entity(name, new_name, documents, evidence=reason),
    )


def _show_decided(
    action: str, name: str, entity: str, data: Data, as_json: bool, workspace: str
) -> None:
    """Print what is decided now about the name, which `action` would change."""
    with errors(as_json):
        state = call_query_service(
            data, workspace, lambda client: _decided_state(client, action, name, entity)
        )
        if as_json:
            print_json({f"would_{action}": {"name": name, "entity": entity, "decided": state}})
            return
        echo(f"would {action} {name} = {entity}, {state or 'not decided'} now")
        note("nothing is decided without --yes")


async def _decided_state(
    client: "AsyncLightstream", action: str, name: str, entity: str
) -> str | None:
    """Return what is decided about the name. Raises InvalidInput where the action would be
    refused.
    """
    for alias in await client.aliases():
        if (alias.name, alias.entity) == (name, entity):
            return alias.state
    if action == "undo":
        raise InvalidInput(f"nobody has decided whether {name!r} means {entity!r}")
    if not await client.entity_exists(entity):
        raise InvalidInput(f"there is no entity of the name {entity!r}")
    return None


def without_chains(proposals: "Sequence[AliasProposal]") -> "list[AliasProposal]":
    """Return the proposals so that all can be accepted in this order: each means the entity that
    those before it have left. What they have decided already is left out.
    """
    joined: dict[str, str] = {}
    acceptable: list[AliasProposal] = []
    for proposal in proposals:
        entity = proposal.entity
        while entity in joined:
            entity = joined[entity]
        if proposal.name in joined or proposal.name == entity:
            continue
        joined[proposal.name] = entity
        acceptable.append(proposal.model_copy(update={"entity": entity}))
    return acceptable


async def _accept_all(
    proposals: "Sequence[AliasProposal]", reason: str, client: "AsyncLightstream"
) -> None:
    for proposal in proposals:
        evidence = "; ".join(filter(None, (proposal.evidence, reason)))
        await client.accept_alias(
            [proposal.name], proposal.entity, proposed_by=proposal.proposed_by, evidence=evidence
        )


def _decide(
    data: Data,
    workspace: str,
    as_json: bool,
    act: "Callable[[AsyncLightstream], Awaitable[AliasDecision]]",
) -> None:
    with errors(as_json):
        decision = call_query_service(data, workspace, act)
        if as_json:
            print_json(decision.model_dump())
        else:
            echo(decision.message)
