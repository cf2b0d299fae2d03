"""Documents as events: a document enters the log, is published again, deleted, or the work on it
stops.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import DocumentAdded, DocumentCancelled, DocumentDeleted, Event
from contracts.ids import event_id
from contracts.moments import microseconds
from contracts.values import DocumentVersion
from publishing.access import access_of_restored, change_access_of_text
from publishing.current_version import current_version, existing_id
from publishing.draft import DocumentDraft, validated
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Blobs, Log, Message
from runtime.bus.repetitions import content_hash_of
from runtime.errors import InvalidInput, ServiceError


class OtherText(InvalidInput):
    """The document has another text already, which the draft does not replace."""


class Added(NamedTuple):
    """The sequence of a document in the log. `is_new` is False when the log had this very text
    already.

    `track_id` is that of the stored event, `at` its time in microseconds since 1970: greater than
    that of every earlier version of the document.
    """

    document_id: str
    sequence: int
    is_new: bool
    track_id: str = ""
    at: int = 0


async def add_document(
    log: Log, blobs: Blobs, draft: DocumentDraft, *, workspace: str, source: str, key: str = ""
) -> Added:
    """Publish a DocumentAdded and return once the log has it durably. What stands there already is
    not added.

    Of several calls with the same draft and the same `key` at the same time only one adds anything;
    `added_with_key` says whether an earlier one has.

    Raises OtherText for a draft that replaces nothing, Unavailable when the log does not take it.
    """
    id = await existing_id(log, workspace=workspace, id=draft.id, file_path=draft.file_path)
    before, current_event, at = await current_version(log, workspace, id)
    if current_event:
        is_same_text = content_hash_of(current_event) == draft.content.sha256
        if is_same_text and _says_nothing_new(draft, current_event):
            if access := draft.event.access:
                # Of a text before this one something may be left, and is not for the same readers.
                await change_access_of_text(
                    log, workspace=workspace, id=id, access=access, source=source
                )
            return Added(id, before, False, current_event.track_id or "", microseconds(at))
        if not (draft.replaces or is_same_text):
            raise OtherText(f"there is another document of the id {id}")
    blob = await blobs.put(draft.content, workspace) if draft.is_long else None
    original = await blobs.put(draft.original, workspace) if draft.original else None
    figures = [await blobs.put(picture, workspace) for picture in draft.pictures]
    event = draft.event_of(id, blob, original, figures)
    # What stood before is part of the id: a text that comes back after another one is a new event.
    cause = f"{workspace}/{id}/{before}/{draft.content.sha256}"
    envelope: Envelope[Event] = wrap(
        event,
        id=_keyed_id(workspace, key) if key else event_id(cause, "DocumentAdded"),
        source=source,
        workspace=workspace,
        time=_after(at),
        lineage=command_lineage(),
    )
    sequence = await log.publish(envelope)
    if key:
        stored_message = await log.following(sequence - 1, subjects.ALL)
        if stored_message and (earlier := _added_by(stored_message, envelope.id)):
            return earlier._replace(is_new=earlier.at == _time(envelope))
    return Added(id, sequence, True, event.track_id or "", _time(envelope))


async def added_with_key(
    log: Log, draft: DocumentDraft, *, workspace: str, key: str
) -> Added | None:
    """Return the document that an earlier call of `add_document` with this draft and key added,
    whatever has become of it since; None where the log has none. Reads all texts that the document
    had. Raises Unavailable.
    """
    id = await existing_id(log, workspace=workspace, id=draft.id, file_path=draft.file_path)
    keyed_id = _keyed_id(workspace, key)
    async for message in log.history(workspace, id, "DocumentAdded"):
        if earlier := _added_by(message, keyed_id):
            return earlier
    return None


def _keyed_id(workspace: str, key: str) -> str:
    return event_id(f"{workspace}/key/{key}", "DocumentAdded")


def _added_by(message: Message, id: str) -> Added | None:
    """Return what a stored event of this id added; None for another event."""
    try:
        envelope = decode(message.data, message.subject, message.headers)
    except ServiceError:
        return None
    event = envelope.data
    if envelope.id != id or not isinstance(event, DocumentAdded):
        return None
    at = microseconds(envelope.time or message.published_at)
    return Added(event.document_id, message.sequence, False, event.track_id or "", at)


def _says_nothing_new(draft: DocumentDraft, current_event: DocumentAdded) -> bool:
    """Return whether a draft with the same text says nothing else of when the document holds, and
    brings no original and no other figures than those that are there.
    """
    validity = draft.event.validity
    brings_original = draft.original is not None and current_event.original is None
    hashes = [picture.sha256 for picture in draft.pictures]
    brings_figures = bool(hashes) and hashes != [figure.sha256 for figure in current_event.figures]
    is_same_validity = validity is None or validity == current_event.validity
    return is_same_validity and not (brings_original or brings_figures)


async def reprocess_document(
    log: Log, *, workspace: str, id: str, version: int, source: str
) -> Added | None:
    """Publish what the document says in this version as a new one, so that everything is done
    again.

    Returns None where the log has no document of that id, or something newer than that version.
    Raises `Unavailable`.
    """
    before, current_event, at = await current_version(log, workspace, id)
    if current_event is None or before != version:
        return None
    event = current_event.model_copy(update={"access": None})
    return await _publish_again(log, workspace, event, source, f"{id}/{before}/again", at)


async def restore_document(log: Log, *, workspace: str, event: DocumentAdded, source: str) -> Added:
    """Publish what a document said before as its newest version, for those who could see that text
    and may see what the document says now, or said last. Raises `Unavailable`.
    """
    id = event.document_id
    before, _, at = await current_version(log, workspace, id)
    # What it said itself may be out of date, and a deletion forgets what was said since.
    access = await access_of_restored(log, workspace, event)
    event = event.model_copy(update={"access": access})
    return await _publish_again(log, workspace, event, source, f"{id}/{before}/restored", at)


async def _publish_again(
    log: Log, workspace: str, event: DocumentAdded, source: str, cause: str, at: datetime
) -> Added:
    """Publish an event that the log has already, as something new that happens after `at`."""
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(f"{workspace}/{cause}", "DocumentAdded"),
        source=source,
        workspace=workspace,
        time=_after(at),
        lineage=command_lineage(),
    )
    return Added(
        event.document_id, await log.publish(envelope), True, event.track_id or "", _time(envelope)
    )


async def delete_document(
    log: Log, *, workspace: str, id: str, source: str, track_id: str | None = None, reason: str = ""
) -> Added | None:
    """Publish a DocumentDeleted and return once the log has it; None for a document the log does
    not have.

    One that is deleted already is not deleted again (`is_new` is False). Raises `Unavailable`.
    """
    id = await existing_id(log, workspace=workspace, id=id)
    addition, deletion = await asyncio.gather(
        log.newest(workspace, id, "DocumentAdded"), log.newest(workspace, id, "DocumentDeleted")
    )
    if addition is None:
        return None
    if deletion and deletion.sequence > addition.sequence:
        return Added(id, deletion.sequence, is_new=False)
    event = validated(lambda: DocumentDeleted(document_id=id, track_id=track_id, reason=reason))
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(f"{workspace}/{id}/{addition.sequence}", "DocumentDeleted"),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return Added(id, await log.publish(envelope), is_new=True)


async def cancel_document(
    log: Log, *, workspace: str, id: str, editor: str, source: str
) -> DocumentVersion | None:
    """Publish a cancellation of the work on the document's current version; return None where there
    is none.

    Repeats change nothing. Raises `Unavailable`.
    """
    before, current_event, at = await current_version(log, workspace, id)
    if current_event is None:
        return None
    version = DocumentVersion(id=id, version=before, added_at=at, file_path=current_event.file_path)
    envelope: Envelope[Event] = wrap(
        DocumentCancelled(document=version, editor=editor[:256]),
        id=event_id(f"{workspace}/{id}/{before}", "DocumentCancelled"),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    await log.publish(envelope)
    return version


def _after(at: datetime) -> datetime:
    """Now, or a moment after `at` where a clock is ahead of ours by up to a second: versions follow
    each other.
    """
    now = datetime.now(UTC)
    return max(now, min(at + timedelta(microseconds=1), now + timedelta(seconds=1)))


def _time(envelope: Envelope[Event]) -> int:
    assert envelope.time
    return microseconds(envelope.time)
