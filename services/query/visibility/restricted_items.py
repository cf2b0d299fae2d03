"""Entities and relations restricted to some documents, kept for further questions."""

from collections.abc import Sequence
from typing import TypeVar

from cachetools import LRUCache

from contracts.graph import Entity, Partition, Relation
from knowledge.contributions import Key
from services.query.visibility.contributions import Contributions
from services.query.visibility.kept_supports import KeptSupports
from services.query.visibility.restricted_reads import key_of, listed_weights, restrict_items

T = TypeVar("T", Entity, Relation)

MAX_SETS = 32
"""Sets of documents for which items are kept, one for all viewers that see the same."""

MAX_ITEMS = 4_000
"""Entities and relations that are kept for each."""

MAX_WEIGHTS = 20_000
"""Weights that are kept for each: a look at hubs asks for those of all their relations."""


class RestrictedItems:
    """Restricts entities and relations, and keeps each by its revision. Where documents come, go,
    or are hidden, the set of those that are seen is another one.
    """

    def __init__(self) -> None:
        self._kept: LRUCache[
            frozenset[str], LRUCache[tuple[Partition, Key], tuple[int, Entity | Relation | None]]
        ] = LRUCache(MAX_SETS)
        self._kept_weights: LRUCache[
            frozenset[str], LRUCache[tuple[Partition, Key], tuple[int, float | None]]
        ] = LRUCache(MAX_SETS)
        self._supports = KeptSupports()

    async def restrict(
        self,
        items: Sequence[T],
        documents: frozenset[str],
        graph: Partition,
        contributions: Contributions,
    ) -> Sequence[T]:
        """Return the entities or relations as these documents alone describe them; others are left
        out. What no other document speaks of stays as it is.
        """
        kept_items = self._kept.get(documents)
        if kept_items is None:
            kept_items = self._kept[documents] = LRUCache(MAX_ITEMS)
        missing_items: list[T] = []
        results: dict[Key, T | None] = {}
        for item in items:
            revision, kept_item = kept_items.get((graph, key_of(item)), (-1, None))
            if revision == item.revision:
                results[key_of(item)] = kept_item  # pyright: ignore[reportArgumentType]
            else:
                missing_items.append(item)
        read_items = await restrict_items(
            missing_items, documents, graph, contributions, self._supports
        )
        for item, result in zip(missing_items, read_items, strict=True):
            results[key_of(item)] = result.item
            if result.is_lasting:
                kept_items[graph, key_of(item)] = item.revision, result.item
        in_order = [results[key_of(item)] for item in items]
        return [item for item in in_order if item]

    async def weights(
        self,
        items: Sequence[T],
        documents: frozenset[str],
        graph: Partition,
        contributions: Contributions,
    ) -> dict[Key, float]:
        """Return the weights of the entities or relations that `restrict` returns; those of
        entities mean nothing.

        What documents say is read only where the lists of chunks do not tell.
        """
        kept_weights = self._kept_weights.get(documents)
        if kept_weights is None:
            kept_weights = self._kept_weights[documents] = LRUCache(MAX_WEIGHTS)
        weights: dict[Key, float | None] = {}
        missing_items: list[T] = []
        for item in items:
            key = key_of(item)
            revision, weight = kept_weights.get((graph, key), (-1, None))
            if revision == item.revision:
                weights[key] = weight
            else:
                missing_items.append(item)
        if missing_items:
            by_lists = await listed_weights(missing_items, documents, graph, contributions)
            for item in missing_items:
                if (key := key_of(item)) in by_lists:
                    kept_weights[graph, key] = item.revision, by_lists[key]
            weights |= by_lists
        further_items = [item for item in missing_items if key_of(item) not in weights]
        if further_items:
            for item in await self.restrict(further_items, documents, graph, contributions):
                weights[key_of(item)] = item.weight if isinstance(item, Relation) else 1.0
        return {key: weight for key, weight in weights.items() if weight is not None}
