"""How a document enters the log: checked, cleaned, its text put beside the log when it is long."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from contracts.envelope import Envelope, seal
from contracts.events import DocumentAdded, DocumentDeleted, Event
from contracts.ids import UNKNOWN_SOURCE, document_id, event_id, sha256
from contracts.text import INLINE_LIMIT, encodable, sanitize
from contracts.values import Chunking, Scalar
from runtime.bus.codec import decode
from runtime.bus.port import Blobs, Log, Message
from runtime.errors import InvalidInput, ServiceError
from runtime.telemetry import traceparent_for

MAX_TEXT_BYTES = 20 * 1024 * 1024
"""The longest text a document may have, as UTF-8."""


class Added(NamedTuple):
    """Where a document stands in the log. `is_new` is False when this very text stood there already."""

    document_id: str
    sequence: int
    is_new: bool


async def add_document(
    log: Log,
    blobs: Blobs,
    *,
    workspace: str,
    text: str,
    source: str,
    file_path: str = UNKNOWN_SOURCE,
    id: str | None = None,
    track_id: str | None = None,
    metadata: Mapping[str, Scalar] | None = None,
    chunking: Chunking | None = None,
) -> Added:
    """Publish a DocumentAdded and return once the log has it durably. A text that stands there already is not added.

    Raises InvalidInput for a text that is blank or too long, `Unavailable` when the log does not take it.
    """
    text = encodable(text)
    if not sanitize(text):
        raise InvalidInput("the text is empty; give at least one printable character")
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise InvalidInput(f"the text has {size:,} bytes, at most {MAX_TEXT_BYTES:,} are taken: split the document")
    file_path = encodable(file_path) or UNKNOWN_SOURCE
    name = encodable(id) if id else document_id(sanitize(text), file_path)
    added, deleted = await asyncio.gather(
        log.newest(workspace, name, "DocumentAdded"), log.newest(workspace, name, "DocumentDeleted")
    )
    before = max(added.sequence if added else 0, deleted.sequence if deleted else 0)
    if added and added.sequence == before and _hash(added) == sha256(text):
        return Added(name, before, is_new=False)
    blob = await blobs.put(text) if size > INLINE_LIMIT else None
    event = DocumentAdded(
        document_id=name,
        text=None if blob else text,
        blob=blob,
        file_path=file_path,
        track_id=track_id,
        metadata=dict(metadata or {}),
        chunking=chunking,
    )
    envelope: Envelope[Event] = seal(
        event,
        # What stood before is part of the id: a text that comes back after another one is a new fact.
        id=event_id(f"{workspace}/{name}/{before}/{sha256(text)}", "DocumentAdded"),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        traceparent=traceparent_for(),
    )
    return Added(name, await log.publish(envelope), is_new=True)


async def delete_document(
    log: Log, *, workspace: str, id: str, source: str, track_id: str | None = None
) -> Added | None:
    """Publish a DocumentDeleted and return once the log has it; None for a document the log does not have.

    One that is deleted already is not deleted again (`is_new` is False). Raises `Unavailable`.
    """
    added, deleted = await asyncio.gather(
        log.newest(workspace, id, "DocumentAdded"), log.newest(workspace, id, "DocumentDeleted")
    )
    if added is None:
        return None
    if deleted and deleted.sequence > added.sequence:
        return Added(id, deleted.sequence, is_new=False)
    event = DocumentDeleted(document_id=id, track_id=track_id)
    envelope: Envelope[Event] = seal(
        event,
        id=event_id(f"{workspace}/{id}/{added.sequence}", "DocumentDeleted"),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        traceparent=traceparent_for(),
    )
    return Added(id, await log.publish(envelope), is_new=True)


def _hash(message: Message) -> str:
    """SHA-256 of the text of a DocumentAdded; empty for one that cannot be read."""
    try:
        event = decode(message.data, message.subject).data
    except ServiceError:
        return ""
    assert isinstance(event, DocumentAdded)
    return event.blob.sha256 if event.blob else sha256(event.text or "")
