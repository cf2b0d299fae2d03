"""Methods that look at the past of a workspace, and that take back what was done."""

from collections.abc import Sequence
from typing import Any, Literal

from lightstream_rag.flows import Call, Flow, get, json_body, parse_as, request
from lightstream_rag.models import ResponseModel

Change = Literal["appeared", "changed", "gone"]


class FieldChange(ResponseModel):
    """A field that differs; None where there was, or is, nothing."""

    before: Any = None
    after: Any = None


class Difference(ResponseModel):
    """A document (`id`), an entity (`name`) or a relation (`source`, `target`) that differs between
    two places.
    """

    id: str = ""
    name: str = ""
    source: str = ""
    target: str = ""
    change: Change
    fields: dict[str, FieldChange]


class Diff(ResponseModel):
    """What differs between two places of the log. `counts` counts all; the lists may be cut off."""

    from_sequence: int
    to_sequence: int
    counts: dict[str, dict[Change, int]]
    documents: list[Difference]
    entities: list[Difference]
    relations: list[Difference]
    is_truncated: bool


class EntityEvent(ResponseModel):
    """One event of an entity's history. `at`: microseconds since 1970; `effect`: `counts`, or why
    it no longer does.
    """

    sequence: int
    at: int
    type: str
    effect: str
    names: list[str]
    document_id: str = ""
    file_path: str = ""
    chunk_id: str = ""
    entity_type: str = ""
    description: str = ""
    operation: str = ""
    target: str = ""
    editor: str = ""
    reason: str = ""
    undone_by: int | None = None


class EntityHistory(ResponseModel):
    """The events that made an entity what it is, oldest first; `total` counts all of them."""

    name: str
    sequence: int
    exists: bool
    names: list[str]
    total: int
    events: list[EntityEvent]


class Undoing(ResponseModel):
    """What takes an event back. `position`: when it was published, in microseconds since 1970; 0
    for a dry run.
    """

    sequence: int
    type: str
    description: str
    published: bool
    position: int
    event_type: str
    event: dict[str, Any]


class EventLeft(ResponseModel):
    """An event that is not taken back, and why."""

    sequence: int
    type: str
    reason: str


class UndoneEvents(ResponseModel):
    """What takes several events back, newest first, and which of them stay."""

    published: bool
    undone: list[Undoing]
    left: list[EventLeft]


class CommonUndoing(UndoneEvents):
    """The same of everything behind the sequence `since`."""

    since: int


def diff(
    from_: str, to: str = "now", *, document: str | None = None, limit: int = 200
) -> Flow[Diff]:
    """Return what appeared, changed or went between two places of the log: sequences, times (ISO
    8601), or `now`.

    `document`: only what the document of this id or file name says. `limit`: things of each kind,
    at most 1,000.
    """
    of = {"document": document} if document else {}
    return get("/operations/diff", parse_as(Diff), **{"from": from_}, to=to, limit=limit, **of)


def entity_history(
    name: str, *, at: str = "now", after: int = 0, limit: int = 200
) -> Flow[EntityHistory]:
    """Return the events that made an entity what it is, at most 1,000 behind the sequence
    `after`.
    """
    return get(
        "/graph/entity/history", parse_as(EntityHistory), name=name, at=at, after=after, limit=limit
    )


def undo(sequence: int, *, reason: str = "", dry_run: bool = False) -> Flow[Undoing]:
    """Take back the edit, the deletion or the new text of a document at this sequence of the
    log.
    """
    body = json_body(sequence=sequence, reason=reason, dry_run=dry_run)
    return request(Call("POST", "/operations/undo", parse_as(Undoing), body))


def undo_events(
    sequences: Sequence[int] = (),
    *,
    documents: Sequence[str] = (),
    reason: str = "",
    dry_run: bool = False,
) -> Flow[UndoneEvents]:
    """Take back the events at these sequences of the log, and the last deletions of the documents
    of these ids, as one act. At most 1,000 of each; `left` lists what cannot be taken back.
    """
    body = json_body(
        sequences=list(sequences), documents=list(documents), reason=reason, dry_run=dry_run
    )
    return request(Call("POST", "/operations/undo_events", parse_as(UndoneEvents), body))


def undo_since(since: str, *, reason: str = "", dry_run: bool = False) -> Flow[CommonUndoing]:
    """Take back all edits, deletions and new texts behind a place of the log: a sequence, or a time
    (ISO 8601).
    """
    body = json_body(since=since, reason=reason, dry_run=dry_run)
    return request(Call("POST", "/operations/undo_since", parse_as(CommonUndoing), body))
