"""Ends streams with the token they were asked for with."""

import asyncio
import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAMS = ("text/event-stream", "application/x-ndjson")
"""Media types of answers that go on for as long as somebody reads them."""


async def answered_until(
    ends: float, app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Call the application, and end its answer at that time, in seconds since 1970, if it is a
    stream.

    Other requests go on to their end: they were permitted when they came, and an upload should not
    be half done.
    """
    is_whole, deadline = False, asyncio.timeout(None)
    try:
        async with deadline:

            async def limited(message: Message) -> None:
                nonlocal is_whole
                if message["type"] == "http.response.start" and _is_stream(message):
                    seconds_left = max(0.0, ends - time.time())
                    deadline.reschedule(asyncio.get_running_loop().time() + seconds_left)
                is_whole = message["type"] == "http.response.body" and not message.get("more_body")
                await send(message)

            await app(scope, receive, limited)
    except TimeoutError:
        if not deadline.expired():
            raise
        if not is_whole:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_stream(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return kind.partition(";")[0].strip().lower() in STREAMS
