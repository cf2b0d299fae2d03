"""`history`, `diff` and `undo`: what made the graph what it is, what changed, and taking it
back.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

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
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.past import Difference, EntityEvent, UndoneEvents

# `--help` answers at once: the client is loaded by the command that needs it.

Place = "a sequence of the log, a time such as 2026-03-01T12:00:00Z (UTC without a zone), or now"
WIDTH = 100
"""Characters of a value that are shown; --json shows all."""

Limit = Annotated[
    int, typer.Option("--limit", min=1, max=1000, help="How many at most, of each kind.")
]


def history(
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="Its name, as the graph has it.")],
    at: Annotated[str, typer.Option("--as-of", metavar="SEQ|TIME", help=f"Up to {Place}.")] = "now",
    after: Annotated[
        int, typer.Option("--after", metavar="SEQ", min=0, help="Go on behind this sequence.")
    ] = 0,
    limit: Limit = 200,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show the events that made an entity what it is, oldest first, each with its chunk and whether
    it still counts.
    """
    with errors(as_json):
        changes = call_query_service(
            data,
            workspace,
            lambda client: client.entity_history(entity, at=at, after=after, limit=limit),
        )
        if as_json:
            print_json(changes.model_dump())
            return
        other_names = [name for name in changes.names if name != changes.name]
        there = "is in the graph" if changes.exists else "is not in the graph"
        also = f"; documents say {', '.join(other_names)}" if other_names else ""
        note(f"{changes.name} {there} at sequence {changes.sequence}{also}")
        for event in changes.events:
            _show_event(event)
        if len(changes.events) < changes.total:
            note(
                f"{len(changes.events)} of {changes.total} events; go on with --after "
                f"{changes.events[-1].sequence}"
            )


def _show_event(event: "EntityEvent") -> None:
    from datetime import UTC, datetime  # noqa: PLC0415

    time = datetime.fromtimestamp(event.at / 1e6, UTC)
    action = event.operation.replace("_", " ") or event.type
    where = event.chunk_id or event.document_id
    into = f" → {event.target}" if event.target else ""
    effect = (
        ""
        if event.effect == "counts"
        else f" [{event.effect}{f' by {event.undone_by}' if event.undone_by else ''}]"
    )
    editor = f" by {event.editor}" if event.editor else ""
    details = ": ".join(filter(None, (event.entity_type, event.description)))
    text = (
        f"{action}{effect}  {', '.join(event.names)}{into}  {event.file_path} {where}{editor}  "
        f"{_short(details)}"
    )
    echo(f"{event.sequence:>7}  {time:%Y-%m-%d %H:%M:%S}  {terminal.line(' '.join(text.split()))}")


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=f"From {Place}.")],
    after: Annotated[str, typer.Argument(metavar="B", help="To; as A.")] = "now",
    document: Annotated[
        str | None, typer.Option(help="Only what this document says: its id or file name.")
    ] = None,
    limit: Limit = 200,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show which documents, entities and relations appeared, changed or went between two places of
    the log.
    """
    with errors(as_json):
        difference = call_query_service(
            data,
            workspace,
            lambda client: client.diff(before, after, document=document, limit=limit),
        )
        if as_json:
            print_json(difference.model_dump())
            return
        note(f"from sequence {difference.from_sequence} to {difference.to_sequence}")
        for kind, differences in (
            ("documents", difference.documents),
            ("entities", difference.entities),
            ("relations", difference.relations),
        ):
            counts = ", ".join(
                f"{count} {change}" for change, count in difference.counts[kind].items() if count
            )
            echo(f"{kind:<10} {counts or 'the same'}")
            _show_differences(differences)
        if difference.is_truncated:
            note(f"only {limit} of each kind are shown: see --limit")


def _show_differences(differences: "Sequence[Difference]") -> None:
    signs = {"appeared": "+", "changed": "~", "gone": "-"}
    for difference in differences:
        path = difference.fields.get("file_path") or difference.fields.get("type")
        details = (
            ""
            if path is None or difference.change == "changed"
            else f"  ({path.after or path.before})"
        )
        name = difference.id or difference.name or f"{difference.source} — {difference.target}"
        echo(f"  {signs[difference.change]} {terminal.line(name + details)}")
        for field, values in difference.fields.items() if difference.change == "changed" else ():
            echo(f"      {field}: {_short(values.before)} → {_short(values.after)}")


def undo(
    sequences: Annotated[
        list[int] | None,
        typer.Argument(metavar="SEQ…", min=1, help="Of the events, as `log` has them."),
    ] = None,
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="SEQ|TIME",
            help="Everything behind this place instead: edits, deletions and new texts.",
        ),
    ] = "",
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Take back edits of the graph, deletions of documents, their new texts, or what was stated of
    their validity, each by an event that compensates it.

    The graph is then as if the edit had never been made; a document has its text of before, at no
    cost for extraction. What is undone can be undone again by the sequence of the undoing. Ends
    with code 2 for what cannot be undone. With --since, documents that were added behind the place
    stay, and are listed.
    """
    with errors(as_json):
        if bool(sequences) == bool(since):
            raise InvalidInput("name what to undo: sequences, or --since a place of the log")
        if since:
            _undo_since(since, yes, reason, data, as_json, workspace)
            return
        answer = call_query_service(
            data, workspace, partial(_undo_events, sequences or (), reason, yes)
        )
        undoings = answer.undone
        if as_json:
            answers = [undoing.model_dump() for undoing in undoings]
            print_json(answers[0] if len(answers) == 1 else answers)
            return
        for undoing in undoings:
            echo(terminal.line(undoing.description))
        if not yes:
            event_types = sorted({undoing.event_type for undoing in undoings})
            note(f"nothing is published without --yes, and with it a {' and a '.join(event_types)}")


async def _undo_events(
    sequences: Sequence[int], reason: str, yes: bool, client: "AsyncLightstream"
) -> "UndoneEvents":
    """Undo them as one act. Where one of them cannot be undone none is; raises InvalidInput with
    the reasons.
    """
    plan = await client.undo_events(sequences, dry_run=True)
    if plan.left:
        raise InvalidInput("; ".join(event.reason for event in plan.left))
    return await client.undo_events(sequences, reason=reason) if yes else plan


def _undo_since(
    since: str, yes: bool, reason: str, data: Data, as_json: bool, workspace: str
) -> None:
    undoing = call_query_service(
        data, workspace, lambda client: client.undo_since(since, reason=reason, dry_run=not yes)
    )
    if as_json:
        print_json(undoing.model_dump())
        return
    for undone in undoing.undone:
        echo(f"{undone.sequence:>7}  {terminal.line(undone.description)}")
    for event in undoing.left:
        note(f"{event.sequence:>7}  stays: {terminal.line(event.reason)}")
    outcome = "undone" if undoing.published else "to undo; nothing is published without --yes"
    note(f"{len(undoing.undone)} events behind sequence {undoing.since} {outcome}")


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return terminal.line(text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…")
