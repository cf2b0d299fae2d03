"""Takes back all that people did in a workspace behind a place of its log, as one act."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from contracts.events import DocumentAdded, DocumentDeleted, Event, GraphEdited
from contracts.values import ALIAS_OPERATIONS
from runtime.batching import batched
from runtime.bus.codec import decode
from runtime.errors import ServiceError
from services.gateway.past.undo import Undo, Undoing
from services.query.errors import BadRequest, Conflict, TooLarge

MAX_EVENTS = 5000
"""Events of one type that one act looks at."""

PARALLEL_EVENTS = 16
"""Events that are planned or published at the same time."""

A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True)
class Remainder:
    """An event behind the place that is not taken back, and why."""

    sequence: int
    type: str
    reason: str


@dataclass(frozen=True)
class CommonUndoing:
    """What takes back everything behind the sequence `since`, newest first, and what stays."""

    since: int
    undoings: tuple[Undoing, ...]
    remainders: tuple[Remainder, ...]


@dataclass(frozen=True)
class DocumentChange:
    """The newest change of a document. `content`: of what was added, its hash; empty: deleted."""

    sequence: int
    document_id: str
    file_path: str = ""
    content: str = ""


async def plan_since(undo: Undo, since: int) -> CommonUndoing:
    """Return what would be published to take back all edits, deletions and new texts behind a
    sequence.

    What is taken back already needs nothing; a document that was not there at that place stays, and
    so does what cannot be undone. Raises TooLarge for more than `MAX_EVENTS` events of a type,
    Unavailable.
    """

    async def plan_document(change: DocumentChange) -> Undoing | Remainder | None:
        return await _planned_document(undo, since, change)

    async def plan_edit(sequence: int) -> Undoing | Remainder | None:
        return await _planned_edit(undo, sequence)

    plans = [
        *await _gathered(plan_edit, await _edits_to_undo(undo, since)),
        *await _gathered(plan_document, await _document_changes(undo, since)),
    ]
    plans.sort(key=lambda plan: plan.sequence if plan else 0, reverse=True)
    return CommonUndoing(
        since,
        tuple(plan for plan in plans if isinstance(plan, Undoing)),
        tuple(plan for plan in plans if isinstance(plan, Remainder)),
    )


async def apply_since(undo: Undo, since: int) -> CommonUndoing:
    """Publish what `plan_since` returns, and return it with positions.

    Raises what it raises; after an outage in between, a repetition publishes what is missing.
    """
    plan = await plan_since(undo, since)
    undoings = await _gathered(undo.publish, plan.undoings)
    return CommonUndoing(since, tuple(undoings), plan.remainders)


async def _edits_to_undo(undo: Undo, since: int) -> list[int]:
    """Return the sequences of edits behind the place, without undoings of other edits behind it."""
    edits = [
        (sequence, event)
        async for sequence, event in _events(undo, "GraphEdited", since)
        if isinstance(event, GraphEdited)
    ]
    decided_aliases = {
        (name, edit.target)
        for _, edit in edits
        if edit.operation in (*ALIAS_OPERATIONS, "merge_entities")
        and edit.operation != "undo_alias"
        for name in edit.names
    }

    def undoes_newer(edit: GraphEdited) -> bool:
        if edit.operation == "undo_alias":
            return all((name, edit.target) in decided_aliases for name in edit.names)
        return (edit.undoes or 0) > since

    return [sequence for sequence, edit in edits if not undoes_newer(edit)]


async def _document_changes(undo: Undo, since: int) -> list[DocumentChange]:
    """Return the newest change of each document that was added or deleted behind the place."""
    changes: dict[str, DocumentChange] = {}
    async for sequence, event in _events(undo, "DocumentAdded", since):
        if isinstance(event, DocumentAdded):
            changes[event.document_id] = DocumentChange(
                sequence, event.document_id, event.file_path, _content(event)
            )
    async for sequence, event in _events(undo, "DocumentDeleted", since):
        if isinstance(event, DocumentDeleted):
            addition = changes.get(event.document_id)
            if addition is None or addition.sequence < sequence:
                changes[event.document_id] = DocumentChange(sequence, event.document_id)
    return list(changes.values())


async def _planned_edit(undo: Undo, sequence: int) -> Undoing | Remainder | None:
    """Return what takes an edit back; None for one that is taken back already."""
    try:
        return await undo.plan(sequence)
    except Conflict:
        return None
    except BadRequest as error:
        return Remainder(sequence, "GraphEdited", str(error))


async def _planned_document(
    undo: Undo, since: int, change: DocumentChange
) -> Undoing | Remainder | None:
    """Return what gives a document the text it had at the place; None where it is as it was."""
    id = change.document_id
    type_name = "DocumentAdded" if change.content else "DocumentDeleted"
    try:
        before = await undo.document_at(id, since)
    except BadRequest as error:
        return Remainder(change.sequence, type_name, str(error))
    if before is None:
        if not change.content:
            return None
        return Remainder(
            change.sequence,
            type_name,
            f"document {id!r} ({change.file_path}) is new since then: to take it back, delete it",
        )
    if change.content == _content(before):
        return None
    action = "new text" if change.content else "deletion"
    description = f"undo the {action} of {before.file_path} ({id}): its text of then is added again"
    return Undoing(change.sequence, type_name, description, before)


def _content(event: DocumentAdded) -> str:
    """Return the hash of what an addition says: all but its track id."""
    return hashlib.sha256(event.model_dump_json(exclude={"track_id"}).encode()).hexdigest()


async def _events(undo: Undo, event_type: str, since: int) -> AsyncIterator[tuple[int, Event]]:
    """Yield the workspace's events of a type behind the place, each with its sequence. Those that
    cannot be read are left out.
    """
    count = 0
    async with aclosing(undo.log.history(undo.workspace, None, event_type, since)) as messages:
        async for message in messages:
            count += 1
            if count > MAX_EVENTS:
                raise TooLarge(
                    f"more than {MAX_EVENTS} events of type {event_type} stand behind sequence "
                    f"{since}: name a later place"
                )
            try:
                event = decode(message.data, message.subject, message.headers).data
            except ServiceError:
                continue
            yield message.sequence, event


async def _gathered(act: Callable[[A], Awaitable[R]], arguments: Sequence[A]) -> list[R]:
    """Return what the calls return, in order, `PARALLEL_EVENTS` of them at a time."""
    results: list[R] = []
    for batch in batched(arguments, PARALLEL_EVENTS):
        results += await asyncio.gather(*map(act, batch))
    return results
