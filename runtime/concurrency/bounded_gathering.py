"""Calls at the same time, but not more of them than a bound."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from runtime.batching import batched

A = TypeVar("A")
R = TypeVar("R")


async def gather_bounded(
    act: Callable[[A], Awaitable[R]], arguments: Iterable[A], *, at_once: int
) -> list[R]:
    """Return what the calls return, in order. Raises what the first of them raises."""
    results: list[R] = []
    for batch in batched(arguments, at_once):
        results += await asyncio.gather(*map(act, batch))
    return results
