"""Interleaving of result lists and ranking of relations, as pure functions over plain data.

The rules are LightRAG's: round robin between lists, and ranking by degree and weight.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import zip_longest
from typing import TypeVar

from runtime.stores.graph.port import RelationSummary

T = TypeVar("T")


def interleave(*lists: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Return the first item of each list, then the second of each, and so on; of equal keys only the first stays."""
    seen: dict[Hashable, T] = {}
    for row in zip_longest(*lists):
        for item in row:
            if item is not None:
                seen.setdefault(key(item), item)
    return list(seen.values())


def rank_relations(summaries: Iterable[RelationSummary]) -> list[RelationSummary]:
    """Return the relations by the sum of their ends' degrees, then by weight, both descending, then by name.

    The degree of an entity is its number of relations among these. For an entity that the search found this is its
    degree in the graph; for another it is the number of found entities it is related to. So the graph is not read
    again, and a hub of the whole graph has no advantage.
    """
    by_key = {summary.key: summary for summary in summaries}
    degrees = Counter(name for key in by_key for name in set(key))
    return sorted(
        by_key.values(),
        key=lambda summary: (-degrees[summary.source] - degrees[summary.target], -summary.weight, summary.key),
    )
