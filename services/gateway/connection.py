"""Work that is done only as long as its client waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

T = TypeVar("T")


async def while_connected(request: Request | None, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of the work, which is cancelled when the client of the request disconnects
    before.

    The body of the request must have been read. Without a request the work is awaited. Raises
    ClientDisconnect, and what the work raises.
    """
    if request is None:
        return await work
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnection(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnection(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
