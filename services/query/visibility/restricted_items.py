"""Entities and relations restricted to some documents, kept for further questions."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from cachetools import LRUCache

from contracts.graph import Entity, Partition, Relation
from services.query.visibility.restriction import Contributions, restrict_item

T = TypeVar("T", Entity, Relation)

MAX_SETS = 32
"""Sets of documents for which items are kept, one for all viewers that see the same."""

MAX_ITEMS = 4_000
"""Entities and relations that are kept for each."""

Key = tuple[Partition, str | tuple[str, str]]


class RestrictedItems:
    """Restricts entities and relations, and keeps each by its revision. Where documents come, go,
    or are hidden, the set of those that are seen is another one.
    """

    def __init__(self) -> None:
        self._kept: LRUCache[
            frozenset[str], LRUCache[Key, tuple[int, Entity | Relation | None]]
        ] = LRUCache(MAX_SETS)

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
            revision, kept_item = kept_items.get(_key(graph, item), (-1, None))
            if revision == item.revision:
                results[_key(graph, item)] = kept_item  # pyright: ignore[reportArgumentType]
            else:
                missing_items.append(item)
        read_items = await asyncio.gather(
            *(restrict_item(item, documents, graph, contributions) for item in missing_items)
        )
        for item, result in zip(missing_items, read_items, strict=True):
            results[_key(graph, item)] = result.item
            if result.is_lasting:
                kept_items[_key(graph, item)] = item.revision, result.item
        in_order = [results[_key(graph, item)] for item in items]
        return [item for item in in_order if item]


def _key(graph: Partition, item: Entity | Relation) -> Key:
    return graph, item.name if isinstance(item, Entity) else item.key
