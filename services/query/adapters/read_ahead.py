"""Reads what is being written ahead of whoever takes it: a slow reader does not hold up who writes."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing


async def read_ahead(pieces: AsyncGenerator[str], most: int) -> AsyncGenerator[str]:
    """The pieces, taken as fast as they come while fewer than `most` characters wait. Raises what `pieces` raises.

    `pieces` are closed as soon as they have ended, whether what waits was taken or not; or with this generator.
    """
    waiting: deque[str] = deque()
    some, room = asyncio.Event(), asyncio.Event()
    size = 0

    async def read() -> None:
        nonlocal size
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    waiting.append(piece)
                    size += len(piece)
                    some.set()
                    while size >= most:
                        room.clear()
                        await room.wait()
        finally:
            some.set()

    reading = asyncio.create_task(read())
    try:
        while waiting or not reading.done():
            if not waiting:
                some.clear()
                await some.wait()
                continue
            piece = waiting.popleft()
            yield piece
            size -= len(piece)
            room.set()
        await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
