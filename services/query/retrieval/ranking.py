"""Interleaving of result lists and ranking of relations, as pure functions over plain data.

The rules are LightRAG's: round robin between lists, and ranking by degree and weight.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import zip_longest
from typing import TypeVar

from runtime.stores.graph.port import RelationSummary

T = TypeVar("T")


def interleave(*lists: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Return the first item of each list, then the second of each, and so on; of equal keys only
    the first stays.

    What a list has twice takes no second turn.
    """
    items: dict[Hashable, T] = {}
    for row in zip_longest(*(_distinct(items_of_list, key) for items_of_list in lists)):
        for item in row:
            if item is not None:
                items.setdefault(key(item), item)
    return list(items.values())


def _distinct(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterable[T]:
    """Return the items, of equal keys only the first."""
    by_key: dict[Hashable, T] = {}
    for item in items:
        by_key.setdefault(key(item), item)
    return by_key.values()


def rank_relations(
    summaries: Iterable[RelationSummary], degrees: Mapping[str, int]
) -> list[RelationSummary]:
    """Return the relations by the degrees of their two ends together, then by weight, both
    descending, then by name.
    """
    by_key = {summary.key: summary for summary in summaries}
    return sorted(
        by_key.values(),
        key=lambda relation: (
            -degrees.get(relation.source, 0) - degrees.get(relation.target, 0),
            -relation.weight,
            relation.key,
        ),
    )
