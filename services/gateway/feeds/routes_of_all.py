"""The route that streams the events of all workspaces."""

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import StreamingResponse

from contracts.partitions import LogPosition
from services.gateway.auth.middleware import too_many_requests
from services.gateway.feeds.dependencies import FeedDeps
from services.gateway.feeds.sent_events import block_of_all, started, stream_of_all
from services.gateway.feeds.streams import RETRY_AFTER
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import Responses
from services.query.errors import BadRequest

router = APIRouter(prefix="/operations/events", tags=["operations"])

EXAMPLE = (
    'id: 4711-17592186044420\nevent: DocumentAdded\ndata: {"workspace": "acme", '
    '"sequence": 17592186044420, "type": "DocumentAdded", "document": "doc-f8e5…"}\n\n'
)
STREAM: Responses = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}},
        "description": "a stream of events, without an end",
    }
}
BEGINNING = "0"
MAX_LENGTH = 5000
"""Characters of a place: of 256 partitions it has some 4,300."""

Place = Annotated[
    str | None,
    Query(
        max_length=MAX_LENGTH,
        description="events behind this place, the id of one that was sent; `0`: from the first on",
    ),
]


async def _start(
    deps: FeedDeps,
    after: Place = None,
    last_event_id: Annotated[
        str | None, Header(max_length=MAX_LENGTH, description="goes before `after`")
    ] = None,
) -> LogPosition:
    end = await deps.log.end()
    text = after if last_event_id is None else last_event_id
    if text is None:
        return end
    count = len(end.sequences)
    if text == BEGINNING:
        return LogPosition.start(count)
    try:
        position = LogPosition.of_text(text)
    except ValueError as error:
        raise BadRequest(f"{error}: give 0, or the id of an event of this stream") from None
    if len(position.sequences) != count:
        raise BadRequest(
            f"{text} is a place in a log of {len(position.sequences)} partitions, and this one has "
            f"{count}"
        )
    return position


@router.get("/stream", responses=STREAM, response_class=StreamingResponse)
async def stream_events_of_all(
    deps: FeedDeps,
    principal: WholeDeployment,
    position: Annotated[LogPosition, Depends(_start)],
    include: Annotated[
        Literal["body"] | None, Query(description="`body`: send each event whole")
    ] = None,
) -> StreamingResponse:
    """Send the events of all workspaces as they happen, as server-sent events; without `after`,
    from now on. Those of a workspace come in order; who comes back goes on behind the last id.
    """
    if deps.streams.has_all(principal.name):
        raise too_many_requests(
            RETRY_AFTER, f"{deps.streams.share} event streams of these credentials are open"
        )
    block = partial(block_of_all, prices=deps.prices, with_body=include == "body")
    lines = stream_of_all(deps.streams, deps.feed, position, principal=principal.name, block=block)
    return await started(lines)
