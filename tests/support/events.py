"""Events, envelopes and deliveries with plain names for tests, and the consumer that hands them to
a processor.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from contracts.envelope import Envelope, Lineage, wrap
from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    EntitiesExtracted,
    Event,
    GraphMerged,
    StageFailed,
    VectorsIndexed,
)
from contracts.ids import chunk_id, event_id, sha256
from contracts.values import Chunk, ChunkRef, DocumentVersion, ExtractedEntity, ExtractedRelation
from runtime.bus.port import Delivery

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""The time of everything that is not about time."""


def sealed(
    event: Event, *, id: str = "cause", workspace: str = "w", **attributes: Any
) -> Envelope[Event]:
    """The event in an envelope from a test's own publisher."""
    time = attributes.pop("time", NOON)
    return wrap(
        event, id=id, source="tests", workspace=workspace, time=time, lineage=Lineage(**attributes)
    )


def delivered(
    event: Event,
    sequence: int = 1,
    *,
    attempt: int = 1,
    bugs: int = 0,
    workspace: str = "w",
    id: str = "",
    **attributes: Any,
) -> Delivery[Any]:
    """The event as a handler sees it."""
    envelope = sealed(event, id=id or f"event-{sequence}", workspace=workspace, **attributes)
    return Delivery(envelope, sequence, attempt, NOON, bugs)


def document(
    id: str = "d", version: int = 1, *, added_at: datetime = NOON, file_path: str = "d.txt"
) -> DocumentVersion:
    """One version of a document."""
    return DocumentVersion(id=id, version=version, added_at=added_at, file_path=file_path)


def added(id: str = "d", text: str = "text", **fields: Any) -> DocumentAdded:
    """A document with its text inline."""
    return DocumentAdded(
        document_id=id, text=text, file_path=fields.pop("file_path", f"{id}.txt"), **fields
    )


def reference(id: str, order: int = 0) -> ChunkRef:
    """A chunk by name and place."""
    return ChunkRef(id=chunk_id(id, order), order=order)


def chunk(
    id: str = "d", order: int = 0, content: str = "text", headings: Sequence[str] = ()
) -> Chunk:
    """A passage."""
    return Chunk(
        id=chunk_id(id, order), order=order, tokens=1, content=content, headings=tuple(headings)
    )


def chunked(
    of: DocumentVersion, *contents: str, part: int = 0, parts: int = 1, first: int = 0
) -> ChunksCreated:
    """One part with these passages, the first of them at place `first`."""
    chunks = tuple(chunk(of.id, first + number, content) for number, content in enumerate(contents))
    return ChunksCreated(
        document=of, part=part, parts=parts, chunk_count=first + len(chunks), chunks=chunks
    )


def entity(name: str, type: str = "thing", description: str = "") -> ExtractedEntity:
    """A row about an entity."""
    return ExtractedEntity(name=name, type=type, description=description or f"{name} is there")


def relation(
    source: str, target: str, description: str = "", *keywords: str, weight: float = 1.0
) -> ExtractedRelation:
    """A row about two entities."""
    text = description or f"{source} knows {target}"
    return ExtractedRelation(
        source=source, target=target, description=text, keywords=keywords, weight=weight
    )


def extracted(
    of: DocumentVersion,
    order: int = 0,
    entities: Sequence[ExtractedEntity] = (),
    relations: Sequence[ExtractedRelation] = (),
    warnings: Sequence[str] = (),
) -> EntitiesExtracted:
    """What one chunk says."""
    return EntitiesExtracted(
        document=of,
        chunk=reference(of.id, order),
        entities=tuple(entities),
        relations=tuple(relations),
        model="scripted",
        prompt_version="1",
        cache_key=sha256(f"{of.id}/{of.version}/{order}"),
        warnings=tuple(warnings),
    )


def merged(of: DocumentVersion, *orders: int) -> GraphMerged:
    """These chunks are in the graph."""
    return GraphMerged(document=of, chunks=_references(of, orders), entities=(), relations=())


def indexed(of: DocumentVersion, kind: Any, *orders: int) -> VectorsIndexed:
    """These chunks, or what they say, can be searched."""
    return VectorsIndexed(
        document=of,
        kind=kind,
        chunks=_references(of, orders),
        embedded=len(orders),
        model="m",
        dimension=2,
    )


def failed(
    stage: Any,
    cause_type: str,
    of: DocumentVersion | None,
    *orders: int,
    id: str = "d",
    message: str = "no",
) -> StageFailed:
    """A stage gave these chunks up; without any, the whole document."""
    return StageFailed(
        stage=stage,
        document_id=of.id if of else id,
        document=of,
        chunks=_references(of, orders) if of else (),
        cause_type=cause_type,
        error_type="Poison",
        message=message,
        attempt=1,
        retry_may_help=False,
    )


def derived(cause: str, event: Event) -> str:
    """An id as the event processor derives it, for tests that need distinct and repeatable ones."""
    return event_id(cause, event.type_name(), event.ordinal)


def _references(of: DocumentVersion, orders: Sequence[int]) -> tuple[ChunkRef, ...]:
    return tuple(reference(of.id, order) for order in orders)
