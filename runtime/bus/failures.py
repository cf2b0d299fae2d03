"""Build the StageFailed event of a dead-lettered message, in its envelope."""

from collections.abc import Sequence
from datetime import datetime

from contracts import subjects
from contracts.envelope import Envelope, Header, Lineage, wrap
from contracts.events import DocumentAdded, Event, Stage, StageFailed
from contracts.ids import again, event_id
from contracts.text import encodable
from contracts.values import ChunkRef, DocumentVersion
from runtime.bus.codec import header_of
from runtime.bus.port import Delivery, Message, version_added
from runtime.bus.retried_message import RetriedMessage
from runtime.errors import Poison
from runtime.telemetry import traceparent_for


def failure(
    stage: Stage,
    durable: str,
    message: Message,
    delivery: Delivery[Event] | None,
    error: Exception,
    time: datetime,
) -> Envelope[Event] | None:
    """Return the StageFailed event; None where no document can be named, or for a StageFailed
    message itself.
    """
    try:
        workspace, document, cause_type = subjects.split(message.subject)
    except ValueError:
        return None
    header = delivery.envelope if delivery else _header(message, workspace, document)
    if header is None or cause_type == StageFailed.type_name():
        return None
    event = delivery.event if delivery else None
    retry = message.retry if isinstance(message, RetriedMessage) else 0
    claimed_id, file_path = ("", "") if event else _id_and_path(message, document)
    failure_event = StageFailed(
        stage=stage,
        document_id=event.aggregate_id if event else header.subject or claimed_id or document,
        document=_document(delivery),
        chunks=_chunks(event),
        cause_type=cause_type,
        error_type=type(error).__name__,
        message=str(error)[:2000],
        attempt=message.attempt,
        retry_may_help=not isinstance(error, Poison),
        file_path=file_path,
    )
    return wrap(
        failure_event,
        id=event_id(again(f"{message.sequence}/{header.id}/{durable}", retry), "StageFailed"),
        source=f"lightstream/{stage}",
        workspace=header.workspace,
        time=time,
        lineage=Lineage(
            header.id, header.correlationid or header.id, traceparent_for(header.traceparent)
        ),
    )


def _document(delivery: Delivery[Event] | None) -> DocumentVersion | None:
    """Return the document version that an event names."""
    if delivery is None:
        return None
    event = delivery.event
    return (
        version_added(delivery, event)
        if isinstance(event, DocumentAdded)
        else getattr(event, "document", None)
    )


def _chunks(event: Event | None) -> tuple[ChunkRef, ...]:
    """Return the chunks that an event names."""
    chunks: Sequence[ChunkRef] = getattr(event, "chunks", None) or [
        c for c in [getattr(event, "chunk", None)] if c
    ]
    return tuple(ChunkRef(id=chunk.id, order=chunk.order) for chunk in chunks)


def _header(message: Message, workspace: str, document: str) -> Header | None:
    """Return the header of an event that could not be decoded: those of its attributes that agree
    with its subject.

    Returns None where its subject names its workspace only by a hash, which cannot be reversed.
    """
    try:
        header, _ = header_of(message.data, message.headers)
    except Poison:
        if workspace.startswith("x-"):
            return None
        return Header(
            id=f"log-{message.sequence}", source="unknown", type="unknown", workspace=workspace
        )
    if subjects.token(header.workspace) != workspace:
        return None
    named_subject = (
        header.subject if header.subject and subjects.token(header.subject) == document else None
    )
    return header.model_copy(update={"subject": named_subject})


def _id_and_path(message: Message, document: str) -> tuple[str, str]:
    """Return id and path of the document as an unusable body has them; empty strings for what it
    does not have.

    The id is returned only where it agrees with the subject, because lists name documents by it.
    """
    try:
        _, body = header_of(message.data, message.headers)
    except Poison:
        return "", ""
    id = body.get("document_id")
    path = body.get("file_path")
    is_valid = isinstance(id, str) and 0 < len(id) <= 512 and subjects.token(id) == document
    file_path = (
        "".join(letter for letter in path if letter.isprintable()) if isinstance(path, str) else ""
    )
    return id if is_valid and isinstance(id, str) else "", encodable(file_path)[:1024]
