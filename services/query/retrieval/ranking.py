"""The steps between what the stores found and what a context may hold. Pure functions over plain data.

The rules are LightRAG's (ranking by degree and weight, round robin, whole-item token budgets).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import zip_longest
from typing import TypeVar

from runtime.stores.graph.port import RelationSummary

T = TypeVar("T")


def interleave(*lists: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """First of each list, second of each, and so on; of equal keys the first stays."""
    seen: dict[Hashable, T] = {}
    for row in zip_longest(*lists):
        for item in row:
            if item is not None:
                seen.setdefault(key(item), item)
    return list(seen.values())


def rank_relations(ties: Iterable[RelationSummary]) -> list[RelationSummary]:
    """By the degrees of both ends together, then by weight, highest first; names break ties.

    A degree is counted among these ties: for an entity that was found it is the graph's, for another how many of those
    found it is tied to. That needs no second step into the graph, and no hub of the world at large counts for it.
    """
    once = {tie.key: tie for tie in ties}
    degrees = Counter(name for key in once for name in set(key))
    return sorted(once.values(), key=lambda tie: (-degrees[tie.source] - degrees[tie.target], -tie.weight, tie.key))
