"""How documents and edits enter the log: checked, cleaned, a text put beside the log when it is
long.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import DocumentAdded, DocumentCancelled, DocumentDeleted, Event, GraphEdited
from contracts.ids import UNKNOWN_SOURCE, document_id, event_id, former_ids, sha256
from contracts.moments import microseconds
from contracts.spelling import name_spelling
from contracts.text import INLINE_LIMIT, encodable, sanitize
from contracts.values import (
    BlobRef,
    Chunking,
    CustomKnowledge,
    DocumentVersion,
    Scalar,
    document_warnings,
)
from runtime.bus.codec import decode, explain
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Blobs, Log
from runtime.bus.repetitions import content_hash_of
from runtime.errors import InvalidInput, ServiceError
from runtime.parsing.names import validated_name

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""The longest text a document may have, as UTF-8."""

V = TypeVar("V")


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


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A document as a client submits it: a text, or `knowledge` instead of one."""

    text: str = ""
    knowledge: CustomKnowledge | None = None
    file_path: str = UNKNOWN_SOURCE
    id: str | None = None
    """Without one the id derives from the file's name, else from the text."""
    track_id: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    pages: Sequence[int] = ()
    """The places in the text at which its pages begin."""
    warnings: Sequence[str] = ()
    """What may be missing or wrong in the text."""
    chunking: Chunking | None = None
    default_chunking: Chunking | None = None
    """How the chunker cuts where `chunking` does not say, if known: then contradictions are
    rejected here.
    """

    def validated_content(self) -> str:
        """Return the text, or the knowledge as JSON. Raises InvalidInput for a blank, too long or
        contradictory one.
        """
        if chunking := self.chunking:
            default = self.default_chunking
            _validated(lambda: chunking.over(default).bounded() if default else chunking.bounded())
        content = self.knowledge.model_dump_json() if self.knowledge else encodable(self.text)
        _check(self.text, content, self.knowledge)
        return content

    def event(self, id: str, file_path: str, content: str, blob: BlobRef | None) -> DocumentAdded:
        """Return the event that carries the content, or the reference to it. Raises
        InvalidInput.
        """
        shortened = len(content) != len(self.text)
        return _validated(
            lambda: DocumentAdded(
                document_id=id,
                text=None if blob or self.knowledge else content,
                blob=blob,
                knowledge=self.knowledge,
                file_path=file_path,
                track_id=self.track_id,
                metadata=dict(self.metadata),
                chunking=self.chunking,
                pages=tuple(
                    (len(encodable(self.text[:place])) for place in self.pages)
                    if shortened
                    else self.pages
                ),
                warnings=document_warnings(self.warnings),
            )
        )


async def add_document(
    log: Log, blobs: Blobs, submission: Submission, *, workspace: str, source: str, key: str = ""
) -> Added:
    """Publish a DocumentAdded and return once the log has it durably. What stands there already is
    not added.

    Of several calls of one workspace with the same `key` within the log's duplicate window only the
    first one adds anything, whatever the others say: all of them return where the first one's event
    stands, and its track id.

    Raises InvalidInput for a submission that cannot be a document, `Unavailable` when the log does
    not take it.
    """
    content, knowledge = submission.validated_content(), submission.knowledge
    given_path = encodable(submission.file_path)
    file_path = validated_name(name_spelling(given_path)) or UNKNOWN_SOURCE
    given_id = encodable(submission.id or "") or document_id(
        content if knowledge else sanitize(content), file_path
    )
    name = await existing_id(log, workspace=workspace, id=given_id, file_path=given_path)
    before, current, at = await _current_version(log, workspace, name)
    if current and content_hash_of(current) == sha256(content):
        return Added(
            name, before, is_new=False, track_id=current.track_id or "", at=microseconds(at)
        )
    blob = (
        await blobs.put(content, workspace)
        if not knowledge and len(content.encode()) > INLINE_LIMIT
        else None
    )
    # What stood before is part of the id: a text that comes back after another one is a new event.
    cause = f"{workspace}/key/{key}" if key else f"{workspace}/{name}/{before}/{sha256(content)}"
    envelope: Envelope[Event] = wrap(
        submission.event(name, file_path, content, blob),
        id=event_id(cause, "DocumentAdded"),
        source=source,
        workspace=workspace,
        time=_after(at),
        lineage=command_lineage(),
    )
    if key:
        return await _added_at_sequence(
            log, await log.publish(envelope, once_per_workspace=True), envelope
        )
    return Added(
        name, await log.publish(envelope), True, submission.track_id or "", _time(envelope)
    )


async def existing_id(log: Log, *, workspace: str, id: str, file_path: str = UNKNOWN_SOURCE) -> str:
    """Return the id under which the log has the document: this one, or one from before names had
    one spelling.

    Where it has none, the id in the one spelling of names.
    """
    spelled = name_spelling(id)
    if former := former_ids(id, file_path):
        for each in dict.fromkeys((spelled, *former)):
            if (await _current_version(log, workspace, each)).event:
                return each
    return spelled


async def current_content_hash(
    log: Log, *, workspace: str, id: str, file_path: str = UNKNOWN_SOURCE
) -> str | None:
    """SHA-256 of what the document says now; None when the log has none of that id and name, or it
    is deleted.
    """
    id = await existing_id(log, workspace=workspace, id=id, file_path=file_path)
    _, current, _ = await _current_version(log, workspace, id)
    return content_hash_of(current) if current else None


def content_hash(text: str) -> str:
    """SHA-256 of a text as `current_content_hash` tells it."""
    return sha256(encodable(text))


async def reprocess_document(
    log: Log, *, workspace: str, id: str, version: int, source: str
) -> Added | None:
    """Publish what the document says in this version as a new one, so that everything is done
    again.

    Returns None where the log has no document of that id, or something newer than that version.
    Raises `Unavailable`.
    """
    before, current, at = await _current_version(log, workspace, id)
    if current is None or before != version:
        return None
    return await _publish_again(log, workspace, current, source, f"{id}/{before}/again", at)


async def restore_document(log: Log, *, workspace: str, event: DocumentAdded, source: str) -> Added:
    """Publish what a document said before as its newest version. Raises `Unavailable`."""
    before, _, at = await _current_version(log, workspace, event.document_id)
    return await _publish_again(
        log, workspace, event, source, f"{event.document_id}/{before}/restored", at
    )


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
    added, deleted = await asyncio.gather(
        log.newest(workspace, id, "DocumentAdded"), log.newest(workspace, id, "DocumentDeleted")
    )
    if added is None:
        return None
    if deleted and deleted.sequence > added.sequence:
        return Added(id, deleted.sequence, is_new=False)
    event = _validated(lambda: DocumentDeleted(document_id=id, track_id=track_id, reason=reason))
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(f"{workspace}/{id}/{added.sequence}", "DocumentDeleted"),
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
    before, current, at = await _current_version(log, workspace, id)
    if current is None:
        return None
    version = DocumentVersion(id=id, version=before, added_at=at, file_path=current.file_path)
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


async def edit_graph(log: Log, *, workspace: str, edit: GraphEdited, source: str) -> int:
    """Publish an edit of the graph and return its time, in microseconds since 1970, once the log
    has it durably.

    Of the same edit, made several times at the same moment, there is one. Raises `Unavailable`.
    """
    newest = await log.newest(workspace, edit.aggregate_id, edit.type_name())
    before = newest.sequence if newest else 0
    envelope: Envelope[Event] = wrap(
        edit,
        id=event_id(
            f"{workspace}/{edit.aggregate_id}/{before}/{sha256(edit.model_dump_json())}",
            edit.type_name(),
        ),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    await log.publish(envelope)
    return _time(envelope)


def _validated(make: Callable[[], V]) -> V:
    """Return the result of the constructor; raise InvalidInput with the reason when the contracts
    forbid it.
    """
    try:
        return make()
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None
    except ValueError as error:
        raise InvalidInput(str(error)) from None


def _check(text: str, content: str, knowledge: CustomKnowledge | None) -> None:
    if knowledge:
        if text:
            raise InvalidInput("give a text or knowledge, not both")
        return
    if not sanitize(content):
        raise InvalidInput("the text is empty; give at least one printable character")
    size = len(content.encode())
    if size > MAX_TEXT_BYTES:
        raise InvalidInput(
            f"the text has {size:,} bytes, at most {MAX_TEXT_BYTES:,} are taken: split the document"
        )


class _CurrentVersion(NamedTuple):
    """The newest sequence at which a document was added, deleted or erased; what was added there,
    if readable; when.
    """

    sequence: int
    event: DocumentAdded | None = None
    at: datetime = datetime.fromtimestamp(0, UTC)


async def _current_version(log: Log, workspace: str, name: str) -> _CurrentVersion:
    added, deleted, erased = await asyncio.gather(
        *(
            log.newest(workspace, name, kind)
            for kind in ("DocumentAdded", "DocumentDeleted", "DocumentErased")
        )
    )
    before = max(message.sequence if message else 0 for message in (added, deleted, erased))
    if not added or added.sequence != before:
        return _CurrentVersion(before)
    try:
        envelope = decode(added.data, added.subject, added.headers)
    except ServiceError:
        return _CurrentVersion(before)
    assert isinstance(envelope.data, DocumentAdded)
    return _CurrentVersion(before, envelope.data, envelope.time or added.published_at)


async def _added_at_sequence(log: Log, sequence: int, envelope: Envelope[Event]) -> Added:
    """Read the event at the sequence that the log returned for this id: it may be an earlier
    one.
    """
    message = await log.following(sequence - 1, subjects.ALL)
    assert message is not None
    stored = decode(message.data, message.subject, message.headers)
    assert isinstance(stored.data, DocumentAdded)
    is_new, at = stored.time == envelope.time, microseconds(stored.time or message.published_at)
    return Added(stored.data.document_id, sequence, is_new, stored.data.track_id or "", at)


def _after(at: datetime) -> datetime:
    """Now, or a moment after `at` where a clock is ahead of ours by up to a second: versions follow
    each other.
    """
    now = datetime.now(UTC)
    return max(now, min(at + timedelta(microseconds=1), now + timedelta(seconds=1)))


def _time(envelope: Envelope[Event]) -> int:
    assert envelope.time
    return microseconds(envelope.time)
