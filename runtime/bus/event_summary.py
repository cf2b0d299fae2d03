"""Events as a person reads them: one line each, without the texts they carry."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import (
    AccessChanged,
    AnswerGiven,
    BranchCreated,
    BranchDropped,
    BranchPromoted,
    BudgetSet,
    ChunksCreated,
    DescriptionSummarized,
    DocumentAdded,
    DocumentCancelled,
    DocumentDeleted,
    DocumentErased,
    EmbeddingModelChosen,
    EntitiesExtracted,
    ErasureRequested,
    Event,
    FeedbackGiven,
    FigureDescribed,
    FiguresListed,
    GoldenQuestionRemoved,
    GoldenQuestionSet,
    GoldenRunEnded,
    GraphEdited,
    GraphMerged,
    QuestionsCharged,
    RetryRequested,
    SourceSet,
    SourceSynced,
    StageFailed,
    SupersessionStated,
    TagsChanged,
    VectorsIndexed,
)
from contracts.graph_edits import ALIAS_OPERATIONS
from contracts.values import ChunkRef, DocumentVersion, TokenUsage
from runtime.bus.codec import decode, encode, header_of
from runtime.bus.port import Message
from runtime.errors import NewerVersion, Poison

MAX_TEXT = 500
"""Characters of a summary's text: the message of a failure may have 2,000."""


@dataclass(frozen=True)
class EventSummary:
    """One event of the log in short."""

    sequence: int
    id: str
    time: datetime
    """The event's own time, else when the log took it."""
    type: str
    document: str
    """In whose history it stands: a document's id, `_graph`, or `_sum-…` of one description."""
    text: str
    version: int | None = None
    """The text of the document that it is about: the sequence of its DocumentAdded."""
    cause: str | None = None
    """Id of the event that caused it."""
    correlation: str | None = None
    """Id of the event that began it all."""
    trace_id: str | None = None
    stage: str | None = None
    """The service that failed, or that is to try again."""
    chunks: tuple[int, ...] = ()
    """Orders of the chunks that it is about."""
    model: str | None = None
    tokens: TokenUsage | None = None
    duration_ms: int | None = None
    cached: bool | None = None
    actor: str | None = None
    """The principal who caused it."""
    file_path: str = ""
    """The name that it gives the document; empty where it gives none."""


def summarize(message: Message) -> EventSummary:
    """Return the summary of one message, also of one that cannot be decoded."""
    try:
        envelope = decode(message.data, message.subject, message.headers)
    except NewerVersion as error:
        subject_summary = (
            f"version {error.version}: newer than this code; a release that knows it will handle it"
        )
        return _undecoded(message, subject_summary)
    except Poison as error:
        return _undecoded(message, f"not readable: {error}")
    event = envelope.data
    return EventSummary(
        sequence=message.sequence,
        id=envelope.id,
        time=envelope.time or message.published_at,
        type=event.type_name(),
        document=event.aggregate_id,
        text=short_text(envelope)[:MAX_TEXT],
        version=_version_of(message.sequence, event),
        cause=envelope.causationid,
        correlation=envelope.correlation,
        trace_id=_trace_id(envelope.traceparent),
        stage=getattr(event, "stage", None),
        chunks=_orders(event),
        model=getattr(event, "model", None),
        tokens=event.usage
        if isinstance(event, EntitiesExtracted | FigureDescribed | DescriptionSummarized)
        else None,
        duration_ms=event.duration_ms
        if isinstance(event, EntitiesExtracted | FigureDescribed)
        else None,
        cached=event.cached if isinstance(event, EntitiesExtracted | FigureDescribed) else None,
        actor=envelope.actor,
        file_path=event.file_path if isinstance(event, DocumentAdded) else "",
    )


def whole_event(message: Message) -> dict[str, Any]:
    """Return the whole CloudEvent, lifted to the newest version; of one that cannot be decoded its
    attributes.
    """
    try:
        return orjson.loads(encode(decode(message.data, message.subject, message.headers)))
    except (Poison, NewerVersion):
        pass
    try:
        header, body = header_of(message.data, message.headers)
    except Poison:
        return {}
    return {**header.model_dump(mode="json", exclude_none=True), "data": body}


def _undecoded(message: Message, text: str) -> EventSummary:
    """Return what the subject and the attributes tell, where there are any."""
    _, document, kind = subjects.split(message.subject)
    try:
        header, _ = header_of(message.data, message.headers)
    except Poison:
        return EventSummary(message.sequence, "", message.published_at, kind, document, text)
    if header.subject and subjects.token(header.subject) == document:
        document = header.subject
    at = header.time or message.published_at
    return EventSummary(
        message.sequence, header.id, at, kind, document, text[:MAX_TEXT], cause=header.causationid
    )


def _version_of(sequence: int, event: Event) -> int | None:
    if isinstance(event, DocumentAdded):
        return sequence
    document = getattr(event, "document", None)
    return document.version if isinstance(document, DocumentVersion) else None


def _trace_id(traceparent: str | None) -> str | None:
    """Return the trace id of a W3C `traceparent`, None for any other text."""
    parts = (traceparent or "").split("-")
    return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 else None


def _orders(event: Event) -> tuple[int, ...]:
    if isinstance(event, EntitiesExtracted | FigureDescribed):
        return (event.chunk.order,)
    chunks: Iterable[ChunkRef] = getattr(event, "chunks", ())
    return tuple(chunk.order for chunk in chunks)


def short_text(envelope: Envelope[Event]) -> str:
    """Return the event in a few words."""
    match envelope.data:
        case DocumentAdded() as event:
            size = event.blob.size if event.blob else len((event.text or "").encode())
            return f"{event.file_path}, {size:,} bytes"
        case ChunksCreated() as event:
            part = (
                f", part {event.part + 1} of {event.parts or 'several'}" if event.parts != 1 else ""
            )
            return f"{len(event.chunks)} of {event.chunk_count or 'more'} chunks{part}"
        case EntitiesExtracted() as event:
            counts = f"{len(event.entities)} entities, {len(event.relations)} relations"
            return (
                f"chunk {event.chunk.order + 1}: {counts} "
                f"({event.model}{', cached' if event.cached else ''})"
            )
        case GraphMerged() as event:
            return f"{len(event.entities)} entities and {len(event.relations)} relations changed"
        case VectorsIndexed() as event:
            return (
                f"{event.kind}: {len(event.chunks)} chunks, {event.embedded} texts embedded "
                f"({event.model})"
            )
        case StageFailed() as event:
            return (
                f"{event.stage} gave up a {event.cause_type}: {event.error_type}: {event.message}"
            )
        case RetryRequested() | ErasureRequested() | DocumentErased() | DocumentDeleted() as event:
            return _of_request(event)
        case DocumentCancelled() | AccessChanged() | FiguresListed() | FigureDescribed() as event:
            return _document_text(event)
        case GraphEdited() as event:
            return _edit_text(event)
        case event:
            return _further_text(event)


def _figure_text(event: FiguresListed | FigureDescribed) -> str:
    if isinstance(event, FiguresListed):
        numbers = ", ".join(str(listed.figure.number) for listed in event.figures)
        return f"to be described: figures {numbers}"
    cached = ", cached" if event.cached else ""
    return f"figure {event.number} is described ({event.model}{cached})"


def _document_text(
    event: DocumentCancelled | AccessChanged | FiguresListed | FigureDescribed,
) -> str:
    if isinstance(event, FiguresListed | FigureDescribed):
        return _figure_text(event)
    if isinstance(event, DocumentCancelled):
        return f"work on it is stopped{f' by {event.editor}' if event.editor else ''}"
    why = f": {event.reason}" if event.reason else ""
    texts = "its newest text" if event.newest_text_only else "it"
    if event.access is None:
        return f"everyone may see {texts}{why}"
    denial = f", not {', '.join(event.access.deny)}" if event.access.deny else ""
    return f"{', '.join(event.access.allow) or 'nobody'} may see {texts}{denial}{why}"


def _edit_text(event: GraphEdited) -> str:
    preposition = "as" if event.operation in ALIAS_OPERATIONS else "into"
    into = f" {preposition} {event.target!r}" if event.target else ""
    by = f" by {event.editor}" if event.editor else ""
    into = f" of sequence {event.undoes}{into}" if event.undoes else into
    return f"{event.operation.replace('_', ' ')} {', '.join(map(repr, event.names))}{into}{by}"


def _further_text(event: Event) -> str:
    match event:
        case AnswerGiven():
            return _answer_text(event)
        case BudgetSet() | QuestionsCharged():
            return _spending_text(event)
        case FeedbackGiven():
            return f"an answer got a thumb {event.rating}"
        case GoldenRunEnded():
            return f"{event.passed_count} of {len(event.results)} golden questions passed"
        case GoldenQuestionSet() | GoldenQuestionRemoved():
            verb = "set" if isinstance(event, GoldenQuestionSet) else "removed"
            return f"golden question {event.id} {verb}"
        case SourceSynced():
            changes = f"{len(event.documents)} documents read, {len(event.removed_ids)} gone"
            return f"{event.source}: {changes}"
        case SourceSet():
            return f"source {event.source} is {event.state}"
        case SupersessionStated() | TagsChanged():
            return _statement_text(event)
        case BranchCreated() | BranchDropped() | BranchPromoted() | EmbeddingModelChosen():
            return _workspace_text(event)
        case _:
            return f"about {event.aggregate_id}"


def _of_request(event: RetryRequested | ErasureRequested | DocumentErased | DocumentDeleted) -> str:
    why = f": {event.reason}" if event.reason else ""
    if isinstance(event, DocumentDeleted):
        return f"deleted{why}"
    if isinstance(event, RetryRequested):
        part = f"chunk {event.chunk_id}" if event.chunk_id else "what failed"
        return f"{part} is tried again{f' in the {event.stage}' if event.stage else ''}{why}"
    if isinstance(event, ErasureRequested):
        return f"is to be erased{why}"
    prefix = (
        f"erased, receipt {event.receipt}"
        if event.receipt
        else f"{len(event.erased)} events are to be erased"
    )
    return prefix + why


def _statement_text(event: SupersessionStated | TagsChanged) -> str:
    why = f": {event.reason}" if event.reason else ""
    if isinstance(event, TagsChanged):
        return f"{', '.join(event.tags) or 'no tags'}{why}"
    validity = event.validity
    if validity is None:
        return f"what was stated of its validity is taken back{why}"
    parts = [f"supersedes {', '.join(validity.supersedes)}"] if validity.supersedes else []
    parts += [f"holds from {validity.valid_from:%Y-%m-%d}"] if validity.valid_from else []
    parts += [f"holds until {validity.valid_until:%Y-%m-%d}"] if validity.valid_until else []
    parts += [f"has authority {validity.authority}"] if validity.authority else []
    return f"{', '.join(parts) or 'holds, and supersedes nothing'}{why}"


def _answer_text(event: AnswerGiven) -> str:
    count = len(event.evidence.documents)
    words = event.question.text or "a question"
    return f"answered from {count} documents, receipt {event.receipt}: {words}"


def _workspace_text(
    event: BranchCreated | BranchDropped | BranchPromoted | EmbeddingModelChosen,
) -> str:
    why = f": {event.reason}" if event.reason else ""
    if isinstance(event, EmbeddingModelChosen):
        return f"embedded by {event.model or 'the model of the whole stack'} from here on{why}"
    if isinstance(event, BranchCreated):
        return f"branch {event.name} of {event.origin} begins{why}"
    if isinstance(event, BranchDropped):
        return f"the branch is dropped{why}"
    return f"{f'branch {event.name}' if event.name else 'the workspace itself'} answers now{why}"


def _spending_text(event: BudgetSet | QuestionsCharged) -> str:
    if isinstance(event, QuestionsCharged):
        tokens = sum(cost.usage.prompt + cost.usage.completion for cost in event.costs)
        return (
            f"questions took {tokens:,} tokens "
            f"({', '.join(dict.fromkeys(cost.step for cost in event.costs))})"
        )
    limits = [f"{event.money:g}"] if event.money is not None else []
    limits += [f"{event.tokens:,} tokens"] if event.tokens is not None else []
    period = "" if event.period == "total" or not limits else f" a {event.period}"
    why = f": {event.reason}" if event.reason else ""
    return f"budget {' and '.join(limits) or 'cleared'}{period}{why}"
