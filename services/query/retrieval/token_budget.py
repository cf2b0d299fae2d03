"""Cutting lists to a token budget; items are whole or left out."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

FIRST_READ = 32
"""Keys of the first read; each further one takes twice as many."""


async def read_within_budget(
    keys: Sequence[K],
    read: Callable[[Sequence[K]], Awaitable[Mapping[K, T]]],
    budget: int,
    cost: Callable[[T], int],
) -> tuple[list[T], int]:
    """What stands under the keys, in their order, as long as its cost stays within the budget: whole items or none.

    Also gives what they cost. A key under which nothing stands is passed over.
    """
    kept: list[T] = []
    spent = start = 0
    count = FIRST_READ
    while start < len(keys):
        some = keys[start : start + count]
        found = await read(some)
        for key in some:
            if key not in found:
                continue
            costs = cost(found[key])
            if spent + costs > budget:
                return kept, spent
            spent += costs
            kept.append(found[key])
        start, count = start + count, 2 * count
    return kept, spent


def fit_budget(items: Sequence[T], budget: int, cost: Callable[[T], int]) -> list[T]:
    """The longest beginning of the list whose cost stays within the budget: items are whole or left out."""
    kept: list[T] = []
    for item in items:
        budget -= cost(item)
        if budget < 0:
            break
        kept.append(item)
    return kept
