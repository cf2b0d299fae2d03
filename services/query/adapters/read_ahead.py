"""Buffers a stream, so that a slow consumer does not block its producer."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sized
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T", bound=Sized)


async def read_ahead(pieces: AsyncGenerator[T], max_size: int) -> AsyncGenerator[T]:
    """Yield the pieces, read ahead while fewer than `max_size` characters are buffered. Raises what
    `pieces` raises.

    `pieces` is closed when it ends, even if its buffer is not yet consumed, or when this generator
    is closed.
    """
    queue: deque[T] = deque()
    pieces_waiting = asyncio.Event()
    space_free = asyncio.Event()
    size = 0

    async def read() -> None:
        nonlocal size
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    queue.append(piece)
                    size += len(piece)
                    pieces_waiting.set()
                    while size >= max_size:
                        space_free.clear()
                        await space_free.wait()
        finally:
            pieces_waiting.set()

    reader = asyncio.create_task(read())
    try:
        while queue or not reader.done():
            if not queue:
                pieces_waiting.clear()
                await pieces_waiting.wait()
                continue
            piece = queue.popleft()
            yield piece
            size -= len(piece)
            space_free.set()
        await reader
    finally:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
