"""Events as a person reads them: one line each."""

from dataclasses import dataclass
from datetime import datetime

from contracts.envelope import Envelope
from contracts.events import (
    BudgetSet,
    ChunksCreated,
    DocumentAdded,
    DocumentCancelled,
    EntitiesExtracted,
    Event,
    GraphEdited,
    GraphMerged,
    RetryRequested,
    StageFailed,
    VectorsIndexed,
)
from contracts.ids import path_id
from contracts.subjects import PREFIX, of_document, token
from contracts.values import ALIAS_OPERATIONS
from runtime.bus.codec import decode
from runtime.bus.port import Message
from runtime.errors import NewerVersion, Poison
from standalone.operations.newer_events import newer_event


@dataclass(frozen=True)
class EventLine:
    """One message of the log as it is shown."""

    sequence: int
    time: datetime
    type: str
    document: str
    gist: str
    id: str = ""
    cause: str | None = None
    actor: str | None = None
    """In whose name it was published; None for what a service made of another event."""


def subjects_of(workspace: str, document: str | None) -> list[str]:
    """The subjects of a workspace's events, or of one document's: by its id, or by the name it was added under."""
    if document is None:
        return [f"{PREFIX}.{token(workspace)}.*.*"]
    return [of_document(workspace, name) for name in dict.fromkeys((document, path_id(document)))]


def event_line(message: Message) -> EventLine:
    """Return the line of one message, also of one that cannot be decoded."""
    try:
        envelope = decode(message.data, message.subject, message.headers)
    except NewerVersion as error:
        newer = newer_event(message, error)
        told = f"version {newer.version}: newer than this code; a release that knows it will handle it"
        return EventLine(message.sequence, message.published_at, newer.type, newer.document, told)
    except Poison as error:
        kind, document = message.subject.split(".")[-1], message.subject.split(".")[-2]
        return EventLine(message.sequence, message.published_at, kind, document, f"not readable: {error}")
    return EventLine(
        message.sequence,
        envelope.time or message.published_at,
        envelope.data.type_name(),
        envelope.data.aggregate_id,
        gist(envelope),
        envelope.id,
        envelope.causationid,
        envelope.actor,
    )


def gist(envelope: Envelope[Event]) -> str:
    """Summarize the event in a few words."""
    match envelope.data:
        case DocumentAdded() as event:
            size = event.blob.size if event.blob else len((event.text or "").encode())
            return f"{event.file_path}, {size:,} bytes"
        case ChunksCreated() as event:
            part = f", part {event.part + 1} of {event.parts or 'several'}" if event.parts != 1 else ""
            return f"{len(event.chunks)} of {event.chunk_count or 'more'} chunks{part}"
        case EntitiesExtracted() as event:
            found = f"{len(event.entities)} entities, {len(event.relations)} relations"
            return f"chunk {event.chunk.order}: {found} ({event.model}{', cached' if event.cached else ''})"
        case GraphMerged() as event:
            return f"{len(event.entities)} entities and {len(event.relations)} relations changed"
        case VectorsIndexed() as event:
            return f"{event.kind}: {len(event.chunks)} chunks, {event.embedded} texts embedded ({event.model})"
        case StageFailed() as event:
            return f"{event.stage} gave up a {event.cause_type}: {event.error_type}: {event.message}"
        case RetryRequested() as event:
            part = f"chunk {event.chunk_id}" if event.chunk_id else "what failed"
            where, why = f" in the {event.stage}" if event.stage else "", f": {event.reason}" if event.reason else ""
            return f"{part} is tried again{where}{why}"
        case DocumentCancelled() | BudgetSet() as event:
            return _limit_gist(event)
        case GraphEdited() as event:
            preposition = "as" if event.operation in ALIAS_OPERATIONS else "into"
            into = f" {preposition} {event.target!r}" if event.target else ""
            by = f" by {event.editor}" if event.editor else ""
            into = f" of sequence {event.undoes}{into}" if event.undoes else into
            return f"{event.operation.replace('_', ' ')} {', '.join(map(repr, event.names))}{into}{by}"
        case event:
            return f"about {event.aggregate_id}"


def _limit_gist(event: DocumentCancelled | BudgetSet) -> str:
    if isinstance(event, DocumentCancelled):
        return f"work on it is stopped{f' by {event.editor}' if event.editor else ''}"
    limits = [f"{event.money:g}"] if event.money is not None else []
    limits += [f"{event.tokens:,} tokens"] if event.tokens is not None else []
    period = "" if event.period == "total" or not limits else f" a {event.period}"
    why = f": {event.reason}" if event.reason else ""
    return f"budget {' and '.join(limits) or 'cleared'}{period}{why}"
