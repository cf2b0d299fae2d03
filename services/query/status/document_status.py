"""The state of one document, as a fold of the facts about it. Order does not matter, and twice is once.

Which chunks a stage has done is kept as a set of bits, one per chunk order: a fact that comes again sets the same bit,
and a document of 10,000 chunks takes 1,250 bytes a stage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    DocumentCancelled,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    GraphMerged,
    StageFailed,
    VectorsIndexed,
)
from contracts.ids import UNKNOWN_SOURCE
from contracts.moments import microseconds
from contracts.values import ChunkRef, DocumentVersion, Scalar

SUMMARY_LENGTH = 250
MAX_CAUSES = 20
"""Failures without a version that are kept: anybody may publish what cannot be read."""

STATUSES = (
    "pending", "parsing", "analyzing", "processing", "preprocessed", "processed", "partial", "failed", "deleting",
)  # fmt: skip
"""LightRAG's names, with `partial` (some chunks failed, the others are searchable) and `deleting` of our own."""

SETTLED = ("processed", "partial", "failed")
"""Nothing more comes of such a document by itself."""

DELETED = "deleted"
"""Of a document that left no trace. It is in no list and no count; the row is kept, so that late facts find it."""

LEAVING = ("deleting", DELETED)

STEPS = ("extracted", "merged", "embedded", "indexed")
"""What every chunk goes through; `embedded` is its own vector, `indexed` those of what it says."""

_STEP_OF = {
    ("extractor", "ChunksCreated"): "extracted",
    ("indexer", "ChunksCreated"): "embedded",
    ("merger", "EntitiesExtracted"): "merged",
    ("indexer", "GraphMerged"): "indexed",
}


@dataclass(frozen=True)
class Failure:
    """Why a step cannot be done: for one chunk, or, without an `order`, for the whole document."""

    stage: str
    step: str
    order: int | None
    message: str
    cause: str = ""
    """Of a failure that names no version: the event that began it. It counts for the version that event added."""


@dataclass(frozen=True)
class DocumentStatus:
    """What is known of one document. `bits` maps each step to the set of chunk orders that have done it."""

    id: str
    file_path: str = UNKNOWN_SOURCE
    track_id: str = ""
    metadata: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    summary: str = ""
    length: int = 0
    created_at: str = ""
    updated_at: str = ""
    version: int = 0
    added: int = 0
    """When this version was added, in microseconds since 1970: what callers know of its place in the log."""
    added_id: str = ""
    """Event id of the DocumentAdded of this version."""
    chunk_count: int = 0
    bits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STEPS, 0))
    failures: tuple[Failure, ...] = ()
    deleted: int = 0
    """Sequence of the newest DocumentDeleted; one before the version says nothing about it."""
    erased: dict[str, int] = field(default_factory=dict[str, int])
    """What that deletion has reached: `chunks` and `graph` as sets of parts, `parts` of the graph."""
    first_cut: int = 0
    """The oldest version of which chunks were seen: where it is older than this one, some may have to be removed."""
    sequence: int = 0
    """The newest fact that was seen."""

    def done(self, step: str) -> int:
        """How many chunks have gone through a step."""
        return self.bits[step].bit_count()

    @property
    def open_failures(self) -> tuple[Failure, ...]:
        """Failures that no later success has healed."""
        return tuple(f for f in self.failures if self._concerns(f) and not self._healed(f))

    def _concerns(self, failure: Failure) -> bool:
        return failure.cause in {"", self.added_id} or not self.added_id

    def _healed(self, failure: Failure) -> bool:
        if failure.stage == "chunker":
            return self.chunk_count > 0
        if failure.order is None:
            return 0 < self.chunk_count == self.done(failure.step)
        return bool(self.bits[failure.step] >> failure.order & 1)

    @property
    def status(self) -> str:
        """One of STATUSES."""
        if self.deleted > self.version:
            everywhere = (
                self.erased.get("chunks") and self.erased.get("graph") == (1 << self.erased.get("parts", 0)) - 1
            )
            return DELETED if everywhere else "deleting"
        failures = self.open_failures
        if not self.chunk_count:
            return "failed" if failures else "pending"
        everything = (1 << self.chunk_count) - 1
        complete = everything
        for step in STEPS:
            complete &= self.bits[step]
        failed = 0
        for failure in failures:
            failed |= everything if failure.order is None else 1 << failure.order
        if complete == everything:
            return "processed"
        if (complete | failed) & everything != everything:
            return "processing"
        return "partial" if complete else "failed"


@dataclass(frozen=True)
class RecordedEvent:
    """An event with what the fold needs of its envelope."""

    event: Event
    id: str
    correlation: str
    sequence: int
    recorded_at: datetime


def apply(status: DocumentStatus | None, fact: RecordedEvent) -> DocumentStatus | None:
    """The document's state after one more fact."""
    event = fact.event
    known = status or DocumentStatus(event.aggregate_id)
    if isinstance(event, DocumentAdded):
        changed = _added(known, event, fact)
    elif isinstance(event, DocumentDeleted):
        changed = _deleted(known, fact.sequence)
    elif isinstance(event, StageFailed) and not event.of_graph:
        changed = _failed(known, event, fact)
    elif isinstance(event, DocumentCancelled):
        changed = _cancelled(known, event, fact)
    elif isinstance(event, (GraphMerged, VectorsIndexed)) and event.document and event.document.deleted:
        changed = _erased(known, event, event.document.version)
    elif isinstance(event, (ChunksCreated, EntitiesExtracted, GraphMerged, VectorsIndexed)) and event.document:
        base = _state_for_version(known, event.document, fact)
        changed = _with_progress(base, event) if base else known
    else:
        return status
    at = fact.recorded_at.isoformat(timespec="microseconds")
    return replace(
        changed,
        updated_at=max(changed.updated_at, at),
        created_at=min(changed.created_at or at, at),
        sequence=max(changed.sequence, fact.sequence),
        first_cut=_first_cut(known.first_cut, event),
    )


def _first_cut(known: int, event: Event) -> int:
    if not isinstance(event, ChunksCreated):
        return known
    return min(known or event.document.version, event.document.version)


def _added(known: DocumentStatus, event: DocumentAdded, fact: RecordedEvent) -> DocumentStatus:
    if fact.id != known.added_id and fact.sequence < known.version:
        return known
    same = fact.id == known.added_id or fact.sequence == known.version
    return replace(
        known if same else _new_version(known, fact.sequence),
        added=microseconds(fact.recorded_at),
        added_id=fact.id,
        file_path=event.file_path,
        track_id=event.track_id or "",
        metadata=dict(event.metadata),
        summary=summary_of(event.text) if event.text else known.summary if same else "",
        length=event.blob.size if event.blob else len(event.text or ""),
    )


def _deleted(known: DocumentStatus, version: int) -> DocumentStatus:
    return known if version <= known.deleted else replace(known, deleted=version, erased={})


def _erased(known: DocumentStatus, event: GraphMerged | VectorsIndexed, version: int) -> DocumentStatus:
    """A deletion has reached the vectors, of which those of the graph come last."""
    if version < known.deleted or isinstance(event, GraphMerged):
        return known
    known = _deleted(known, version)
    bits = known.erased.get(event.kind, 0) | 1 << event.part
    return replace(
        known, erased={**known.erased, event.kind: bits, **({"parts": event.parts} if event.kind == "graph" else {})}
    )


def _new_version(known: DocumentStatus, version: int) -> DocumentStatus:
    """The state of a newer version, of which nothing is done yet."""
    return DocumentStatus(
        known.id,
        created_at=known.created_at,
        updated_at=known.updated_at,
        version=version,
        failures=tuple(failure for failure in known.failures if failure.cause),
        deleted=known.deleted,
        erased=known.erased,
        sequence=known.sequence,
    )


def _state_for_version(known: DocumentStatus, document: DocumentVersion, fact: RecordedEvent) -> DocumentStatus | None:
    """The state to go on from: None for a fact about an older version, a new one for a newer version."""
    if document.version == known.version or (known.added_id and fact.correlation == known.added_id):
        return known
    if document.version < known.version:
        return None
    added = microseconds(document.added_at)
    return replace(_new_version(known, document.version), added=added, file_path=document.file_path)


def _with_progress(
    base: DocumentStatus, event: ChunksCreated | EntitiesExtracted | GraphMerged | VectorsIndexed
) -> DocumentStatus:
    if isinstance(event, ChunksCreated):
        first = event.chunks[0].content if event.part == 0 and event.chunks else ""
        return replace(
            base, chunk_count=event.chunk_count or base.chunk_count, summary=base.summary or summary_of(first)
        )
    if isinstance(event, EntitiesExtracted):
        return _with_step_done(base, "extracted", (event.chunk,))
    if isinstance(event, GraphMerged):
        return _with_step_done(base, "merged", event.chunks)
    return _with_step_done(base, "embedded" if event.kind == "chunks" else "indexed", event.chunks)


def _with_step_done(base: DocumentStatus, step: str, chunks: Sequence[ChunkRef]) -> DocumentStatus:
    bits = base.bits[step]
    for chunk in chunks:
        bits |= 1 << chunk.order
    return replace(base, bits={**base.bits, step: bits})


def _failed(known: DocumentStatus, event: StageFailed, fact: RecordedEvent) -> DocumentStatus:
    base = _state_for_version(known, event.document, fact) if event.document else known
    if base is None:
        return known
    step = _STEP_OF.get((event.stage, event.cause_type), "extracted")
    cause = "" if event.document else fact.correlation
    orders = [chunk.order for chunk in event.chunks] or [None]
    if event.file_path and not known.version:  # nothing else is known of it than that it cannot be read
        base = replace(base, file_path=min({known.file_path, event.file_path} - {UNKNOWN_SOURCE}))
    return _with_failures(base, [Failure(event.stage, step, order, event.message, cause) for order in orders])


def _cancelled(known: DocumentStatus, event: DocumentCancelled, fact: RecordedEvent) -> DocumentStatus:
    """Whatever is not done by now counts as failed, unless all of it is done nevertheless."""
    base = _state_for_version(known, event.document, fact)
    said = f"cancelled by {event.editor}" if event.editor else "cancelled"
    return _with_failures(base, [Failure("query", STEPS[-1], None, said)]) if base else known


def _with_failures(base: DocumentStatus, new: Sequence[Failure]) -> DocumentStatus:
    failures = {*base.failures, *new}
    named = sorted(
        (f for f in failures if not f.cause),
        key=lambda f: (-1 if f.order is None else f.order, f.stage, f.step, f.message),
    )
    others = sorted((f for f in failures if f.cause), key=lambda f: (f.cause, f.stage, f.step, f.message))
    return replace(base, failures=(*named, *others[:MAX_CAUSES]))


def working(counts: Mapping[str, int]) -> int:
    """On how many documents, of so many with each status, work goes on."""
    return sum(count for status, count in counts.items() if status not in SETTLED)


def summary_of(text: str) -> str:
    """The beginning of a text, for lists."""
    text = text.strip()
    return text if len(text) <= SUMMARY_LENGTH else text[:SUMMARY_LENGTH] + "..."
