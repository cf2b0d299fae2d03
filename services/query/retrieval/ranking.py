"""Interleaving of result lists and ranking of relations, as pure functions over plain data.

The rules are LightRAG's: round robin between lists, and ranking by degree and weight.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from runtime.stores.graph.port import RelationSummary

T = TypeVar("T")
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RankedRelations:
    """The relations at some entities."""

    pairs: Sequence[Pair]
    """The first of them."""
    count: int
    """The number of all, with those that were given besides."""


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
    summaries: Iterable[RelationSummary], degrees: Mapping[str, int], limit: int
) -> list[Pair]:
    """Return the first `limit` relations by the degrees of their two ends together, then by weight,
    both descending, then by name.
    """
    weights = {(summary.source, summary.target): summary.weight for summary in summaries}
    degree = degrees.get
    ranks = [
        (-degree(source, 0) - degree(target, 0), -weight, (source, target))
        for (source, target), weight in _best_connected(weights, degrees, limit).items()
    ]
    ranks.sort()
    return [pair for _, _, pair in ranks[:limit]]


def _best_connected(
    weights: Mapping[Pair, float], degrees: Mapping[str, int], limit: int
) -> Mapping[Pair, float]:
    """Return the relations that may be among the first `limit`: at hubs there are thousands more,
    which are not worth sorting.
    """
    if limit < 1 or len(weights) <= limit:
        return weights
    degree = degrees.get
    pairs = list(weights)
    sums = np.fromiter(
        (degree(source, 0) + degree(target, 0) for source, target in pairs), np.int64, len(pairs)
    )
    cut_off = len(pairs) - limit
    threshold = np.partition(sums, cut_off)[cut_off]
    return {pairs[row]: weights[pairs[row]] for row in np.flatnonzero(sums >= threshold).tolist()}
