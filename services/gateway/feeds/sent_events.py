"""Server-sent events: what happens in a workspace, as it happens."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from contracts import subjects
from contracts.partitions import LogPosition
from runtime.bus.event_summary import summarize, whole_event
from runtime.bus.feed.port import EventFeed
from runtime.bus.port import Message
from runtime.costs.prices import Prices
from runtime.errors import Retryable
from services.gateway.feeds.models import EventSummary
from services.gateway.feeds.reading import EventFilter
from services.gateway.feeds.streams import EventStreams
from services.gateway.places import PLAIN, Places
from services.gateway.questions.streaming import EventStreamResponse

HEARTBEAT_SECONDS = 15.0
"""After so long without an event a comment is sent, so that no proxy takes the connection for
dead.
"""

MAX_SECONDS = 3600.0
"""How long a stream goes on. Its client comes back where it was, with credentials that are checked
again.
"""

RECONNECT_MS = 2000
"""Milliseconds after which a client comes back."""


async def event_stream(
    streams: EventStreams,
    feed: EventFeed,
    event_filter: EventFilter,
    after: int,
    *,
    principal: str,
    block: Callable[[Message], str],
) -> AsyncGenerator[str]:
    """Yield the events behind `after` as server-sent events, each as `block` writes it, `id` being
    its place.

    Nothing is buffered: of a client that reads slowly the log keeps what it has not read. When the
    bus does not answer, the stream ends, and the client comes back.
    """
    with streams.opened(principal):
        yield f"retry: {RECONNECT_MS}\nid: {event_filter.places.shown(after)}\n: connected\n\n"
        pages = streams.follow(
            feed, event_filter, after, wait=HEARTBEAT_SECONDS, seconds=MAX_SECONDS
        )
        try:
            async with aclosing(pages):
                async for messages, position in pages:
                    for message in messages:
                        yield block(message)
                    if not messages:
                        # Without data nothing is dispatched, but a client resumes from there.
                        yield f": heartbeat\nid: {event_filter.places.shown(position)}\n\n"
        except Retryable as error:
            yield f": ends, for {type(error).__name__}\n\n"


async def stream_of_all(
    streams: EventStreams,
    feed: EventFeed,
    position: LogPosition,
    *,
    principal: str,
    block: Callable[[Message, LogPosition], str],
) -> AsyncGenerator[str]:
    """Yield as `event_stream` does the events of all workspaces behind a place in the whole log,
    each as `block` writes it with the place behind it. What is about questions is left out.
    """
    with streams.opened(principal):
        yield f"retry: {RECONNECT_MS}\nid: {position.text}\n: connected\n\n"
        pages = streams.follow_all(feed, position, wait=HEARTBEAT_SECONDS, seconds=MAX_SECONDS)
        try:
            async with aclosing(pages):
                async for messages, page_end in pages:
                    shown = [m for m in messages if not subjects.is_apart(m.subject)]
                    for message in shown:
                        position = position.behind([message.sequence])
                        yield block(message, position)
                    position = page_end
                    if not shown:
                        yield f": heartbeat\nid: {position.text}\n\n"
        except Retryable as error:
            yield f": ends, for {type(error).__name__}\n\n"


async def started(lines: AsyncGenerator[str]) -> EventStreamResponse:
    """Return the answer that sends these lines. What is raised before the first one has a status
    code of its own.
    """
    first = await anext(lines)

    async def all_lines() -> AsyncGenerator[str]:
        async with aclosing(lines):
            yield first
            async for line in lines:
                yield line

    return EventStreamResponse(all_lines())


def event_block(
    message: Message, *, prices: Prices, with_body: bool, places: Places = PLAIN
) -> str:
    """Return one event in the format of server-sent events."""
    summary = EventSummary.of(summarize(message), prices, places)
    fields: dict[str, Any] = summary.model_dump(mode="json", exclude_none=True)
    if with_body:
        fields["event"] = places.shown_in_fields(whole_event(message))
    return _block(str(summary.sequence), summary.type, fields)


def block_of_all(
    message: Message, position: LogPosition, *, prices: Prices, with_body: bool
) -> str:
    """Return one event of any workspace in the format of server-sent events; its id is the place
    behind it.
    """
    event = whole_event(message)
    summary = EventSummary.of(summarize(message), prices)
    fields = {
        "workspace": event.get("workspace", subjects.split(message.subject)[0]),
        **summary.model_dump(mode="json", exclude_none=True),
    }
    if with_body:
        fields["event"] = event
    return _block(position.text, summary.type, fields)


def _block(id: str, type_name: str, fields: Mapping[str, Any]) -> str:
    data = json.dumps(fields, ensure_ascii=False)
    return f"id: {id}\nevent: {type_name}\ndata: {data}\n\n"
