"""Takes back all that people did in a workspace behind a place of its log, as one act."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from contracts.events import DocumentAdded, DocumentDeleted, Event
from knowledge.edit import Edit, standing_edits
from runtime.bus.codec import decode
from runtime.concurrency.bounded_gathering import gather_bounded
from runtime.errors import ServiceError
from services.gateway.past.logged_edits import logged_edits
from services.gateway.past.undo import JOINING, Undo, Undoing
from services.gateway.past.undo_events import PARALLEL_EVENTS, CommonUndoing, Remainder
from services.query.errors import BadRequest, Conflict, TooLarge

MAX_EVENTS = 5000
"""Events of one type that one act looks at."""

Alias = tuple[str, str | None]
"""Another name, and the entity that it means."""


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
    BadRequest for an edit that cannot be read, Unavailable.
    """

    async def plan_document(change: DocumentChange) -> Undoing | Remainder | None:
        return await _planned_document(undo, since, change)

    changes = await _document_changes(undo, since)
    plans = [
        *_planned_edits(undo, since, await logged_edits(undo.log, undo.workspace)),
        *await gather_bounded(plan_document, changes, at_once=PARALLEL_EVENTS),
    ]
    return CommonUndoing.of(plans)


def _planned_edits(
    undo: Undo, since: int, edits: Sequence[Edit]
) -> list[Undoing | Remainder | None]:
    """Return what takes back each edit behind the place, None where nothing has to. An alias that
    was in force at the place stays so, or is named if it is not any more.
    """
    older_edits = [edit for edit in edits if edit.sequence <= since]
    newer_edits = edits[len(older_edits) :]
    if len(newer_edits) > MAX_EVENTS:
        raise _too_many("GraphEdited", since)
    aliases_then = _aliases(older_edits)
    lost_aliases = aliases_then - _aliases(edits)

    def planned(edit: Edit) -> Undoing | Remainder | None:
        aliases = _aliases_of(edit)
        if edit.operation in ("undo_alias", "reject_alias") and aliases & lost_aliases:
            names = ", ".join(repr(name) for name, _ in sorted(aliases & lost_aliases, key=str))
            reason = f"{names} meant {edit.target!r} then: accept the alias again"
            return Remainder(edit.sequence, "GraphEdited", reason)
        is_in_force_since_then = edit.operation in JOINING and aliases <= aliases_then
        undoes_newer = edit.undoes > since
        if edit.operation == "undo_alias" or is_in_force_since_then or undoes_newer:
            return None
        try:
            return undo.plan_edit(edit, newer_edits)
        except Conflict:
            return None

    return [planned(edit) for edit in newer_edits]


def _aliases(edits: Sequence[Edit]) -> set[Alias]:
    """Return the other names of entities that are in force after these edits."""
    joining_edits = [edit for edit in standing_edits(edits) if edit.operation in JOINING]
    return {alias for edit in joining_edits for alias in _aliases_of(edit)}


def _aliases_of(edit: Edit) -> set[Alias]:
    return {(name, edit.target) for name in edit.names}


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
                raise _too_many(event_type, since)
            try:
                event = decode(message.data, message.subject, message.headers).data
            except ServiceError:
                continue
            yield message.sequence, event


def _too_many(event_type: str, since: int) -> TooLarge:
    return TooLarge(
        f"more than {MAX_EVENTS} events of type {event_type} stand behind sequence {since}: "
        "name a later place"
    )
