"""Cuts lists to a token budget; items are whole or left out."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

FIRST_READ = 128
"""Number of keys in the first read, which most budgets end within. A further read has as many as
the rest of the budget holds, if they cost what those before did, and a tenth more.
"""
FEWEST_READ = 16
"""Number of keys in a further read at least."""


async def read_within_budget(
    keys: Sequence[K],
    read: Callable[[Sequence[K]], Awaitable[Mapping[K, T]]],
    budget: int,
    cost: Callable[[T], int],
    last_cost: Callable[[T], int],
) -> tuple[list[T], int]:
    """Return the values of the keys, in order, until the next would exceed the budget; and the cost
    of all.

    Keys without a value are skipped. A value that fits with `last_cost` only may be the last one.
    """
    items: list[T] = []
    tokens_spent = start = 0
    count = FIRST_READ
    while start < len(keys):
        batch = keys[start : start + count]
        values = await read(batch)
        for key in batch:
            if key not in values:
                continue
            item_cost = cost(values[key])
            if tokens_spent + item_cost > budget and tokens_spent + last_cost(values[key]) > budget:
                return items, tokens_spent
            tokens_spent += item_cost
            items.append(values[key])
        start += count
        count = 2 * count
        if tokens_spent:
            count = max(FEWEST_READ, (budget - tokens_spent) * start * 11 // (10 * tokens_spent))
    return items, tokens_spent


def fit_budget(items: Sequence[T], budget: int, cost: Callable[[T], int]) -> list[T]:
    """Return the longest prefix of the list whose total cost is within the budget."""
    result: list[T] = []
    for item in items:
        budget -= cost(item)
        if budget < 0:
            break
        result.append(item)
    return result
