"""Several generators read as one."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TypeVar

T = TypeVar("T")


async def merged(generators: Sequence[AsyncGenerator[T]]) -> AsyncGenerator[T]:
    """Yield what these yield, as it comes, until one of them ends or raises; what it raises is
    raised. Of each at most one item waits. All are closed in the end.
    """
    next_items = {asyncio.ensure_future(anext(generator)): generator for generator in generators}
    try:
        while next_items:
            await asyncio.wait(next_items, return_when=asyncio.FIRST_COMPLETED)
            for item in [item for item in next_items if item.done()]:
                generator = next_items.pop(item)
                try:
                    value = item.result()
                except StopAsyncIteration:
                    return
                yield value
                next_items[asyncio.ensure_future(anext(generator))] = generator
    finally:
        for item in next_items:
            item.cancel()
        await asyncio.gather(*next_items, return_exceptions=True)
        for generator in generators:
            await generator.aclose()
