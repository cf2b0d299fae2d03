"""`alias`: which names mean the same entity, proposed by rules, decided by people, taken back without a trace."""

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from standalone.cli.common import DATA, WORKSPACE, Data, Json, Workspace, echo, errors, note, print_json, quiet_logs

if TYPE_CHECKING:
    from lightstream.client import AsyncLightstream
    from lightstream.models import AliasDecision, AliasProposal

# `--help` answers at once: the client is loaded by the command that needs it.
# ruff: noqa: PLC0415

app = typer.Typer(help="Other names of entities: propose, accept, reject, undo.", no_args_is_help=True)

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


class State(StrEnum):
    """What may have been decided."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    PROPOSED = "proposed"


Name = Annotated[str, typer.Argument(metavar="NAME", help="The other name.")]
EntityName = Annotated[str, typer.Argument(metavar="ENTITY", help="The entity it means, as the graph has it.")]
Evidence = Annotated[str, typer.Option("--evidence", metavar="TEXT", help="Why; it is kept with the decision.")]


@app.command("list")
def list_(
    state: Annotated[State | None, typer.Option("--state", help="Only these decisions.")] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show what was decided last about each name and entity."""
    with errors(as_json):
        found = _ask(data, workspace, lambda client: client.aliases(state.value if state else None))
        if as_json:
            print_json([one.model_dump() for one in found])
            return
        for one in found:
            who = f"  ({one.proposed_by or one.editor})" if one.proposed_by or one.editor else ""
            echo(f"{one.name} = {one.entity}{who}", label=f"{one.state:9}")
        note(f"{len(found)} decided")


@app.command()
def propose(
    rule: Annotated[list[Rule] | None, typer.Option("--rule", help="Only of this rule; may be repeated.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MAX_ACCEPTED, help="How many at most.")] = 50,
    accept: Annotated[bool, typer.Option("--accept", help="Accept them all; needs --rule.")] = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show names that may mean the same entity and are not decided, the surest first."""
    with errors(as_json):
        rules = [one.value for one in rule or ()]
        if accept and not rules:
            raise typer.BadParameter("--accept needs --rule: say which rules are to be trusted")
        found = _ask(data, workspace, lambda client: client.alias_proposals(limit, rules=rules))
        for one in found if accept else ():
            _ask(data, workspace, partial(_accept_proposal, one))
        if as_json:
            print_json([one.model_dump() for one in found])
            return
        for one in found:
            why = f": {one.evidence}" if one.evidence else ""
            echo(f"{one.name} = {one.entity}  ({one.proposed_by}{why})", label="accepted " if accept else "")
        note(f"{len(found)} {'accepted' if accept else 'proposed; accept with: lightstream alias accept NAME ENTITY'}")


@app.command()
def accept(
    name: Name,
    entity: EntityName,
    evidence: Evidence = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Let a name mean an entity from now on: if it is an entity itself, the two become one."""
    _decide(data, workspace, as_json, lambda client: client.accept_alias([name], entity, evidence=evidence))


@app.command()
def reject(
    name: Name,
    entity: EntityName,
    evidence: Evidence = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Say that a name does not mean an entity: it is not proposed again, and taken back if it was accepted."""
    _decide(data, workspace, as_json, lambda client: client.reject_alias([name], entity, evidence=evidence))


@app.command()
def undo(
    name: Name, entity: EntityName, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Take back what was decided, merges too: the graph is as if it had never been said."""
    _decide(data, workspace, as_json, lambda client: client.undo_alias([name], entity))


async def _accept_proposal(one: "AliasProposal", client: "AsyncLightstream") -> None:
    await client.accept_alias([one.name], one.entity, proposed_by=one.proposed_by, evidence=one.evidence)


def _decide(
    data: Data, workspace: str, as_json: bool, act: "Callable[[AsyncLightstream], Awaitable[AliasDecision]]"
) -> None:
    with errors(as_json):
        decision = _ask(data, workspace, act)
        if as_json:
            print_json(decision.model_dump())
        else:
            echo(decision.message)


def _ask(data: Data, workspace: str, act: "Callable[[AsyncLightstream], Awaitable[T]]") -> T:
    """Run one call against the query service of the stack."""
    from standalone.operations.target import query_client, select_target

    async def run() -> T:
        async with query_client(select_target(data).api, workspace) as client:
            return await act(client)

    quiet_logs()
    return asyncio.run(run())
