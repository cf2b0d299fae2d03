"""How a document enters the log: checked, cleaned, its text put beside the log when it is long."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from contracts.envelope import Envelope, seal
from contracts.events import DocumentAdded, DocumentDeleted, Event
from contracts.ids import UNKNOWN_SOURCE, document_id, event_id, sha256
from contracts.text import INLINE_LIMIT, encodable, sanitize
from contracts.values import Chunking, Knowledge, Scalar
from runtime.bus.codec import decode, explain
from runtime.bus.port import Blobs, Log, Message
from runtime.errors import InvalidInput, ServiceError
from runtime.telemetry import traceparent_for

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""The longest text a document may have, as UTF-8."""


V = TypeVar("V")


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
    text: str = "",
    source: str,
    file_path: str = UNKNOWN_SOURCE,
    id: str | None = None,
    track_id: str | None = None,
    metadata: Mapping[str, Scalar] | None = None,
    chunking: Chunking | None = None,
    cut_by_default: Chunking | None = None,
    pages: Sequence[int] = (),
    knowledge: Knowledge | None = None,
) -> Added:
    """Publish a DocumentAdded and return once the log has it durably. What stands there already is not added.

    `pages` are the places in the text at which its pages begin. `knowledge` is given instead of a text.
    `cut_by_default` is how the chunker cuts where `chunking` does not say, if the caller knows: then what the two
    together cannot mean is refused here, and not by the chunker.

    Raises InvalidInput for what is blank, too long or contradicts itself, `Unavailable` when the log does not take it.
    """
    if chunking and cut_by_default:
        _taken(lambda: chunking.over(cut_by_default))
    content = knowledge.model_dump_json() if knowledge else encodable(text)
    _check(text, content, knowledge)
    file_path = encodable(file_path) or UNKNOWN_SOURCE
    name = encodable(id) if id else document_id(content if knowledge else sanitize(content), file_path)
    before, is_there = await _standing(log, workspace, name, sha256(content))
    if is_there:
        return Added(name, before, is_new=False)
    blob = await blobs.put(content) if not knowledge and len(content.encode()) > INLINE_LIMIT else None
    event = _taken(
        lambda: DocumentAdded(
            document_id=name,
            text=None if blob or knowledge else content,
            blob=blob,
            knowledge=knowledge,
            file_path=file_path,
            track_id=track_id,
            metadata=dict(metadata or {}),
            chunking=chunking,
            pages=tuple(pages if len(content) == len(text) else (len(encodable(text[:place])) for place in pages)),
        )
    )
    envelope: Envelope[Event] = seal(
        event,
        # What stood before is part of the id: a text that comes back after another one is a new fact.
        id=event_id(f"{workspace}/{name}/{before}/{sha256(content)}", "DocumentAdded"),
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


def _taken(make: Callable[[], V]) -> V:
    """What it makes; InvalidInput with the reason when the contracts forbid it."""
    try:
        return make()
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None


def _check(text: str, content: str, knowledge: Knowledge | None) -> None:
    if knowledge:
        if text:
            raise InvalidInput("give a text or knowledge, not both")
        return
    if not sanitize(content):
        raise InvalidInput("the text is empty; give at least one printable character")
    size = len(content.encode())
    if size > MAX_TEXT_BYTES:
        raise InvalidInput(f"the text has {size:,} bytes, at most {MAX_TEXT_BYTES:,} are taken: split the document")


async def _standing(log: Log, workspace: str, name: str, digest: str) -> tuple[int, bool]:
    """The newest sequence at which the document was added or deleted, and whether this very content was added there."""
    added, deleted = await asyncio.gather(
        log.newest(workspace, name, "DocumentAdded"), log.newest(workspace, name, "DocumentDeleted")
    )
    before = max(added.sequence if added else 0, deleted.sequence if deleted else 0)
    return before, bool(added and added.sequence == before and _hash(added) == digest)


def _hash(message: Message) -> str:
    """SHA-256 of the text or the knowledge of a DocumentAdded; empty for one that cannot be read."""
    try:
        event = decode(message.data, message.subject).data
    except ServiceError:
        return ""
    assert isinstance(event, DocumentAdded)
    if event.blob:
        return event.blob.sha256
    return sha256(event.knowledge.model_dump_json() if event.knowledge else event.text or "")
