"""The routes about events, and about what a document's chunks gave. No logic."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request
from fastapi.responses import StreamingResponse

from runtime.bus.event_summary import summarize, whole_event
from runtime.bus.points import MAX_SEQUENCE
from runtime.errors import NotFound
from services.gateway.auth.middleware import too_many_requests
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.caller_places import CallerPlaces, end_of_log
from services.gateway.errors import no_document
from services.gateway.feeds.dependencies import FeedDependencies, FeedDeps
from services.gateway.feeds.models import (
    After,
    Before,
    DocumentChunk,
    DocumentChunks,
    DocumentId,
    EventList,
    EventSummary,
    EventTypes,
    Limit,
    WholeEvent,
)
from services.gateway.feeds.reading import (
    EventFilter,
    PageLimits,
    event_at,
    events_after,
    events_before,
    visible_page,
)
from services.gateway.feeds.sent_events import event_block, event_stream, started
from services.gateway.feeds.streams import RETRY_AFTER
from services.gateway.feeds.visible_events import VisibleEvents, visible_types
from services.gateway.graph.document_passages import document_passages
from services.gateway.promoted_branches import ReadWorkspace
from services.gateway.reference.responses import Responses, error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest
from services.query.partitions import Partitions
from services.query.status.document_status import STATUSES
from services.query.visibility.documents import documents_seen_by

router = APIRouter(tags=["events"])

EXAMPLE = (
    'id: 4711\nevent: DocumentAdded\ndata: {"sequence": 4711, "type": "DocumentAdded", '
    '"document": "doc-f8e5…"}\n\n'
)
STREAM: Responses = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}},
        "description": "a stream of events, without an end",
    }
}

CLOSED_BODIES = (
    "these credentials see only a part of the documents, and whole events are for those who see "
    "all: leave `include` out"
)

DocumentName = Annotated[
    str | None, Query(min_length=1, max_length=512, description="of this document only, by its id")
]


# Coroutines, though they await nothing: FastAPI runs a plain function in another thread, which
# costs a millisecond.
async def _paging(
    places: CallerPlaces, after: After = None, before: Before = None, limit: Limit = 100
) -> PageLimits:
    if after is not None and before is not None:
        raise BadRequest("give `after` or `before`, not both")
    start, end = (None if place is None else places.sequence(place) for place in (after, before))
    return PageLimits(start, end, limit)


async def _start(
    deps: FeedDeps,
    places: CallerPlaces,
    after: After = None,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=MAX_SEQUENCE, description="goes before `after`")
    ] = None,
) -> int:
    start = after if last_event_id is None else last_event_id
    return await end_of_log(deps.log, places) if start is None else places.sequence(start)


async def _of_workspace(
    workspace: Workspace,
    places: CallerPlaces,
    document: DocumentName = None,
    types: EventTypes = (),
) -> EventFilter:
    return EventFilter(workspace, document, tuple(types), places)


OfWorkspace = Annotated[EventFilter, Depends(_of_workspace)]


async def _seen_of_workspace(
    event_filter: OfWorkspace, deps: FeedDeps, viewer: CurrentViewer
) -> EventFilter:
    if viewer is None:
        return event_filter
    visible = VisibleEvents(deps.visibility, event_filter.workspace, viewer)
    return replace(event_filter, types=visible_types(event_filter.types), visible=visible)


async def _of_document(
    document_id: DocumentId,
    workspace: Workspace,
    deps: FeedDeps,
    viewer: CurrentViewer,
    types: EventTypes = (),
) -> EventFilter:
    if viewer is None:
        return EventFilter(workspace, document_id, tuple(types))
    visible = VisibleEvents(deps.visibility, workspace, viewer)
    return EventFilter(workspace, document_id, visible_types(types), visible=visible)


SeenOfWorkspace = Annotated[EventFilter, Depends(_seen_of_workspace)]
OfDocument = Annotated[EventFilter, Depends(_of_document)]
Page = Annotated[PageLimits, Depends(_paging)]


@router.get("/events/stream", responses=STREAM, response_class=StreamingResponse)
async def stream_events(
    request: Request,
    deps: FeedDeps,
    event_filter: SeenOfWorkspace,
    after: Annotated[int, Depends(_start)],
    include: Annotated[
        Literal["body"] | None, Query(description="`body`: send each event whole")
    ] = None,
) -> StreamingResponse:
    """Send the events of the workspace as they happen, as server-sent events; without `after`, from
    now on.
    """
    if include and event_filter.visible:
        raise HTTPException(403, CLOSED_BODIES)
    principal: str = request.state.principal.name
    if deps.streams.has_all(principal):
        raise too_many_requests(
            RETRY_AFTER, f"{deps.streams.share} event streams of these credentials are open"
        )
    block = partial(
        event_block, prices=deps.prices, with_body=include == "body", places=event_filter.places
    )
    lines = event_stream(
        deps.streams, deps.feed, event_filter, after, principal=principal, block=block
    )
    return await started(lines)


@router.get("/events", responses=error_responses(404))
async def list_events(
    deps: FeedDeps, event_filter: OfWorkspace, paging: Page, places: CallerPlaces
) -> EventList:
    """Return a page of events: those behind `after`, or the last ones in front of `before`, else
    the newest. 404 for a document of which there is none at all.
    """
    if paging.after is not None:
        page = await events_after(deps.feed, event_filter, paging.after, paging.limit)
    else:
        page = await events_before(deps.feed, event_filter, paging.before, paging.limit)
    if not page.events and event_filter.document:
        await _refuse_unknown(deps, event_filter)
    return EventList.of(page, deps.prices, places)


@router.get("/events/{sequence}", responses=error_responses(404))
async def get_event(
    sequence: Annotated[int, Path(ge=1, le=MAX_SEQUENCE, examples=[4711])],
    deps: FeedDeps,
    workspace: Workspace,
    places: CallerPlaces,
) -> WholeEvent:
    """Return one event of the workspace whole."""
    try:
        message = await event_at(deps.feed, EventFilter(workspace), places.sequence(sequence))
    except BadRequest:
        message = None
    if message is None:
        raise NotFound(f"there is no event of sequence {sequence}: GET /events lists them")
    summary = EventSummary.of(summarize(message), deps.prices, places)
    shown_event = places.shown_in_fields(whole_event(message))
    return WholeEvent(sequence=sequence, summary=summary, event=shown_event)


@router.get("/documents/{document_id:path}/events", responses=error_responses(404))
async def document_events(
    deps: FeedDeps, event_filter: OfDocument, paging: Page, places: CallerPlaces
) -> EventList:
    """Return what happened to a document, from the first event on; also of one that was deleted
    since.
    """
    if event_filter.visible:
        page = await visible_page(deps.feed, event_filter, event_filter.visible, paging)
        if not page.events and not await event_filter.visible.sees(event_filter.document or ""):
            raise _no_event_of(event_filter)
        return EventList.of(page, deps.prices, places)
    if paging.before is not None:
        page = await events_before(deps.feed, event_filter, paging.before, paging.limit)
    else:
        page = await events_after(deps.feed, event_filter, paging.after or 0, paging.limit)
    if not page.events:
        await _refuse_unknown(deps, event_filter)
    return EventList.of(page, deps.prices, places)


async def _refuse_unknown(deps: FeedDependencies, event_filter: EventFilter) -> None:
    """Raise NotFound for a document of which the log has no event."""
    any_event = EventFilter(event_filter.workspace, event_filter.document).subject
    if not await deps.feed.count(any_event):
        raise _no_event_of(event_filter)


def _no_event_of(event_filter: EventFilter) -> NotFound:
    return NotFound(
        f"there is no event of a document {event_filter.document!r}: GET /events lists those there "
        "are"
    )


@router.get("/documents/{document_id:path}/chunks", responses=error_responses(404))
async def document_chunks(
    document_id: DocumentId,
    deps: FeedDeps,
    workspace: ReadWorkspace,
    viewer: CurrentViewer,
    after: Annotated[int, Query(ge=-1, le=10_000_000, description="chunks behind this order")] = -1,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DocumentChunks:
    """Return the chunks of a document, each with the entities and relations that it gave to the
    graph.
    """
    partitions = Partitions.of(workspace, await deps.pointers.live("status", "graph"))
    documents = await documents_seen_by(viewer, deps.documents, deps.visibility, workspace)
    status = (await documents.get(partitions.status, [document_id])).get(document_id)
    if status is None or status[0].status not in STATUSES:
        raise no_document(document_id)
    count = status[0].chunk_count
    orders = range(after + 1, min(after + 1 + limit, count))
    passages = await document_passages(
        deps.passages, deps.provenance, partitions, document_id, orders
    )
    return DocumentChunks(
        document_id=document_id,
        file_path=status[0].file_path,
        chunk_count=count,
        chunks=[DocumentChunk.of(passage) for passage in passages],
        after=orders[-1] if orders and orders[-1] + 1 < count else None,
    )
