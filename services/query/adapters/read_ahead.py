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
    has_pieces = asyncio.Event()
    has_space = asyncio.Event()
    size = 0

    async def read() -> None:
        nonlocal size
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    queue.append(piece)
                    size += len(piece)
                    has_pieces.set()
                    while size >= max_size:
                        has_space.clear()
                        await has_space.wait()
        finally:
            has_pieces.set()

    reader = asyncio.create_task(read())
    try:
        while queue or not reader.done():
            if not queue:
                has_pieces.clear()
                await has_pieces.wait()
                continue
            piece = queue.popleft()
            yield piece
            size -= len(piece)
            has_space.set()
        await reader
    finally:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
