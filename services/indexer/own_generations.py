"""Handles the events of each generation of vectors by themselves: workspaces may have their own."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from contracts.graph import Generations
from runtime.bus.port import Delivery

R = TypeVar("R")

HandleBatch = Callable[[Sequence[Delivery[Any]], Generations], Awaitable[Sequence[R]]]


async def handle_by_generation(
    batch: Sequence[Delivery[Any]], generations: Generations, handle: HandleBatch[R]
) -> Sequence[R]:
    """Call `handle` for the events of each generation of vectors, which it gets as the live one,
    and return its results in the order of the batch. Raises what it raises.
    """
    groups: dict[int, list[Delivery[Any]]] = {}
    for delivery in batch:
        generation = generations.of_workspace(delivery.workspace).vectors
        groups.setdefault(generation, []).append(delivery)
    results: dict[int, R] = {}
    for generation, deliveries in groups.items():
        of_group = await handle(deliveries, generations.having("vectors", generation))
        for delivery, result in zip(deliveries, of_group, strict=True):
            results[delivery.sequence] = result
    return [results[delivery.sequence] for delivery in batch]
