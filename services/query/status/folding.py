"""Folds events into the state of a document. Their order does not matter, and duplicates change
nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from contracts.events import (
    AccessChanged,
    ChunksCreated,
    DocumentAdded,
    DocumentCancelled,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    FiguresListed,
    GraphMerged,
    RetryRequested,
    StageFailed,
    SupersessionStated,
    TagsChanged,
    VectorsIndexed,
)
from contracts.ids import UNKNOWN_SOURCE
from contracts.moments import microseconds
from contracts.values import ChunkRef, DocumentVersion
from services.query.status.document_status import STEPS, DocumentStatus, Failure

SUMMARY_LENGTH = 250
MAX_CAUSES = 20
"""Limit of stored failures that name no version, because anybody may publish unreadable events."""

_STEP_OF = {
    ("extractor", "ChunksCreated"): "extracted",
    ("indexer", "ChunksCreated"): "embedded",
    ("merger", "EntitiesExtracted"): "merged",
    ("indexer", "GraphMerged"): "indexed",
}


_ABOUT_CHUNKS = (ChunksCreated, FiguresListed, EntitiesExtracted, GraphMerged, VectorsIndexed)


@dataclass(frozen=True)
class RecordedEvent:
    """An event with the fields of its envelope that `apply` reads."""

    event: Event
    id: str
    correlation: str
    sequence: int
    recorded_at: datetime


def apply(status: DocumentStatus | None, record: RecordedEvent) -> DocumentStatus | None:
    """Return the document's state after one more event; unchanged for an event that is not about
    its progress.
    """
    event = record.event
    state = status or DocumentStatus(event.aggregate_id)
    if isinstance(event, DocumentAdded):
        new_status = _added(state, event, record)
    elif isinstance(event, DocumentDeleted):
        new_status = _deleted(state, record.sequence)
    elif isinstance(event, StageFailed) and not event.of_graph:
        new_status = _failed(state, event, record)
    elif isinstance(event, AccessChanged | TagsChanged):
        new_status = state
    elif isinstance(event, RetryRequested):
        new_status = _with_retry(state, event, record.sequence)
    elif isinstance(event, SupersessionStated):
        new_status = _with_statement(state, event, record.sequence)
    elif isinstance(event, DocumentCancelled):
        new_status = _cancelled(state, event, record)
    elif (
        isinstance(event, (GraphMerged, VectorsIndexed))
        and event.document
        and event.document.deleted
    ):
        new_status = _with_removed_part(state, event, event.document.version)
    elif isinstance(event, _ABOUT_CHUNKS) and event.document:
        base = _state_for_version(state, event.document, record)
        new_status = _with_progress(base, event) if base else state
    else:
        return status
    at = record.recorded_at.isoformat(timespec="microseconds")
    return new_status.changed(
        updated_at=max(new_status.updated_at, at),
        created_at=min(new_status.created_at or at, at),
        sequence=max(new_status.sequence, record.sequence),
        first_cut=_first_cut(state.first_cut, event),
        **_access(new_status, event, record.sequence),
        **_tags(new_status, event, record.sequence),
    )


def _access(status: DocumentStatus, event: Event, sequence: int) -> dict[str, Any]:
    """Return the fields of the access: what was said last in the log since the last deletion."""
    is_newest = sequence > max(status.access_set, status.deleted)
    if (
        is_newest
        and isinstance(event, AccessChanged | DocumentAdded)
        and (event.access or isinstance(event, AccessChanged))
    ):
        return {"access": event.access, "access_set": sequence}
    if 0 < status.access_set < status.deleted:
        return {"access": None, "access_set": 0}
    return {}


def _tags(status: DocumentStatus, event: Event, sequence: int) -> dict[str, Any]:
    """Return the fields of the tags: those given last in the log since the last deletion."""
    if isinstance(event, TagsChanged) and sequence > max(status.tags_set, status.deleted):
        return {"tags": event.tags, "tags_set": sequence}
    if 0 < status.tags_set < status.deleted:
        return {"tags": None, "tags_set": 0}
    return {}


def _first_cut(first_cut: int, event: Event) -> int:
    if not isinstance(event, ChunksCreated):
        return first_cut
    return min(first_cut or event.document.version, event.document.version)


def _added(state: DocumentStatus, event: DocumentAdded, record: RecordedEvent) -> DocumentStatus:
    if record.id != state.added_id and record.sequence < state.version:
        return state
    is_same = record.id == state.added_id or record.sequence == state.version
    return replace(
        state if is_same else _new_version(state, record.sequence),
        added=microseconds(record.recorded_at),
        added_id=record.id,
        file_path=event.file_path,
        track_id=event.track_id or "",
        metadata=dict(event.metadata),
        summary=summary_of(event.text) if event.text else state.summary if is_same else "",
        length=event.blob.size if event.blob else len(event.text or ""),
        text_warnings=event.warnings,
        version_validity=event.validity,
        original_size=event.original.size if event.original else 0,
    )


def _deleted(state: DocumentStatus, version: int) -> DocumentStatus:
    return state if version <= state.deleted else replace(state, deleted=version, erased={})


def _with_removed_part(
    state: DocumentStatus, event: GraphMerged | VectorsIndexed, version: int
) -> DocumentStatus:
    """Record a part of a deletion as finished once it has reached the vectors; the graph's vectors
    come last.
    """
    if version < state.deleted or isinstance(event, GraphMerged):
        return state
    state = _deleted(state, version)
    bits = state.erased.get(event.kind, 0) | 1 << event.part
    return replace(
        state,
        erased={
            **state.erased,
            event.kind: bits,
            **({"parts": event.parts} if event.kind == "graph" else {}),
        },
    )


def _new_version(state: DocumentStatus, version: int) -> DocumentStatus:
    """Return the initial state of a newer version."""
    return DocumentStatus(
        state.id,
        created_at=state.created_at,
        updated_at=state.updated_at,
        version=version,
        failures=tuple(failure for failure in state.failures if failure.cause),
        deleted=state.deleted,
        erased=state.erased,
        sequence=state.sequence,
        retried=state.retried,
        access=state.access,
        access_set=state.access_set,
        stated_validity=state.stated_validity,
        statement=state.statement,
        tags=state.tags,
        tags_set=state.tags_set,
    )


def _state_for_version(
    state: DocumentStatus, document: DocumentVersion, record: RecordedEvent
) -> DocumentStatus | None:
    """Return the state that the event applies to: None if its version is older, an initial state if
    it is newer.
    """
    if document.version == state.version or (
        state.added_id and record.correlation == state.added_id
    ):
        return state
    if document.version < state.version:
        return None
    added_at = microseconds(document.added_at)
    return replace(
        _new_version(state, document.version), added=added_at, file_path=document.file_path
    )


def _with_progress(
    base: DocumentStatus,
    event: ChunksCreated | FiguresListed | EntitiesExtracted | GraphMerged | VectorsIndexed,
) -> DocumentStatus:
    if isinstance(event, FiguresListed):
        return _with_counts(base, event)
    if not isinstance(event, GraphMerged) and event.warnings:
        base = base.with_warnings(
            event.warnings, 1 << event.chunk.order if isinstance(event, EntitiesExtracted) else 0
        )
    if isinstance(event, ChunksCreated):
        first = event.chunks[0].content if event.part == 0 and event.chunks else ""
        return _with_counts(base, event).changed(summary=base.summary or summary_of(first))
    if isinstance(event, EntitiesExtracted):
        return _with_step_done(base, "extracted", (event.chunk,))
    if isinstance(event, GraphMerged):
        return _with_step_done(base, "merged", event.chunks)
    return _with_step_done(base, "embedded" if event.kind == "chunks" else "indexed", event.chunks)


def _with_counts(base: DocumentStatus, event: ChunksCreated | FiguresListed) -> DocumentStatus:
    """Record how many chunks there are, which are more once figures are described later."""
    count = max(base.chunk_count, event.chunk_count or 0)
    return base.changed(chunk_count=count, text_count=event.text_count or base.text_count)


def _with_step_done(base: DocumentStatus, step: str, chunks: Sequence[ChunkRef]) -> DocumentStatus:
    bits = base.bits[step]
    for chunk in chunks:
        bits |= 1 << chunk.order
    return base.changed(bits={**base.bits, step: bits})


def _failed(state: DocumentStatus, event: StageFailed, record: RecordedEvent) -> DocumentStatus:
    base = _state_for_version(state, event.document, record) if event.document else state
    if base is None:
        return state
    step = _STEP_OF.get((event.stage, event.cause_type), "extracted")
    cause = "" if event.document else record.correlation
    orders = [chunk.order for chunk in event.chunks] or [None]
    if event.file_path and not state.version:  # no version of it is known yet
        base = replace(base, file_path=min({state.file_path, event.file_path} - {UNKNOWN_SOURCE}))
    return _with_failures(
        base,
        [
            Failure(event.stage, step, order, event.message, cause, record.sequence)
            for order in orders
        ],
    )


def _cancelled(
    state: DocumentStatus, event: DocumentCancelled, record: RecordedEvent
) -> DocumentStatus:
    """Mark unfinished chunks as failed; the mark has no effect once all chunks are finished
    nevertheless.
    """
    base = _state_for_version(state, event.document, record)
    message = f"cancelled by {event.editor}" if event.editor else "cancelled"
    failure = Failure("query", STEPS[-1], None, message, sequence=record.sequence)
    return _with_failures(base, [failure]) if base else state


def _with_retry(state: DocumentStatus, event: RetryRequested, sequence: int) -> DocumentStatus:
    """Note the request. One for a single chunk changes nothing here: the chunk's success will
    show.
    """
    stage = event.stage or ""
    if event.chunk_id or state.retried.get(stage, 0) >= sequence:
        return state
    return replace(state, retried={**state.retried, stage: sequence})


def _with_statement(
    state: DocumentStatus, event: SupersessionStated, sequence: int
) -> DocumentStatus:
    if sequence <= state.statement:
        return state
    return replace(state, stated_validity=event.validity, statement=sequence)


def _with_failures(base: DocumentStatus, new_failures: Sequence[Failure]) -> DocumentStatus:
    newest_failures: dict[Failure, Failure] = {}
    for failure in (*base.failures, *new_failures):
        cause = replace(failure, sequence=0)
        newest_failures[cause] = max(
            failure,
            newest_failures.get(cause, failure),
            key=lambda candidate: candidate.sequence,
        )
    failures = newest_failures.values()
    named_failures = sorted(
        (f for f in failures if not f.cause),
        key=lambda f: (-1 if f.order is None else f.order, f.stage, f.step, f.message),
    )
    other_failures = sorted(
        (f for f in failures if f.cause), key=lambda f: (f.cause, f.stage, f.step, f.message)
    )
    return replace(base, failures=(*named_failures, *other_failures[:MAX_CAUSES]))


def summary_of(text: str) -> str:
    """Return the beginning of a text, for lists of documents."""
    text = text.strip()
    return text if len(text) <= SUMMARY_LENGTH else text[:SUMMARY_LENGTH] + "..."
