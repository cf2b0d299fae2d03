"""The steps between what the stores found and what a context may hold. Pure functions over plain data.

The rules are LightRAG's (ranking by degree and weight, round robin, whole-item token budgets).
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

from contracts.graph import Relation

T = TypeVar("T")
Pair = tuple[str, str]


def interleave(*lists: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """First of each list, second of each, and so on; of equal keys the first stays."""
    seen: dict[Hashable, T] = {}
    for row in zip_longest(*lists):
        for item in row:
            if item is not None:
                seen.setdefault(key(item), item)
    return list(seen.values())


def ranked(relations: Iterable[Relation], degrees: Mapping[str, int]) -> list[Relation]:
    """By the degrees of both ends together, then by weight, highest first; names break ties."""

    def rank(relation: Relation) -> tuple[float, float, Pair]:
        degree = degrees.get(relation.source, 0) + degrees.get(relation.target, 0)
        return (-degree, -relation.weight, relation.key)

    return sorted(relations, key=rank)


def within(items: Sequence[T], budget: int, cost: Callable[[T], int]) -> list[T]:
    """The longest beginning of the list whose cost stays within the budget: items are whole or left out."""
    kept: list[T] = []
    for item in items:
        budget -= cost(item)
        if budget < 0:
            break
        kept.append(item)
    return kept
