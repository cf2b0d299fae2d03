"""Caches, in this process, the aggregates of keys that many chunks name: a further chunk does not
read all again.

An aggregate that is right at revision r is brought to a later one by the changes that the key's
history notes in between, whichever replica made them (`describing.py`). Where the history does not
reach back to r everything is read, so this cache may be empty, old or lost: it changes the cost,
never the graph.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from contracts.graph import Partition
from knowledge.contributions import Key
from services.merger.domain.incremental_aggregate import IncrementalAggregate

MAX_BYTES = 256 * 1024 * 1024
"""Bytes that all cached aggregates together may take, about 200,000 contributions."""

MIN_CONTRIBUTIONS = 8
"""Contributions from which on an aggregate is worth caching; fewer are read about as fast as
one.
"""


class _Entry(NamedTuple):
    aggregate: IncrementalAggregate
    size: int
    """Bytes that the aggregate took when it was cached: it grows in place."""


class AggregateCache:
    """Aggregates by partition and key. The least recently written are evicted when all take more
    than `max_bytes`.
    """

    def __init__(
        self, max_bytes: int = MAX_BYTES, min_contributions: int = MIN_CONTRIBUTIONS
    ) -> None:
        self._max_bytes = max_bytes
        self.min_contributions = min_contributions
        self._aggregates: OrderedDict[tuple[Partition, Key], _Entry] = OrderedDict()
        self._size = 0

    def get(self, partition: Partition, keys: Iterable[Key]) -> dict[Key, IncrementalAggregate]:
        """Return the aggregates that are cached, by key, each at a revision of its own."""
        aggregates: dict[Key, IncrementalAggregate] = {}
        for key in keys:
            entry = self._aggregates.get((partition, key))
            if entry:
                aggregates[key] = entry.aggregate
        return aggregates

    def put(self, partition: Partition, aggregates: Iterable[IncrementalAggregate]) -> None:
        """Cache the aggregates as they are now, unless a newer one of their key is cached."""
        for aggregate in aggregates:
            entry = self._aggregates.get((partition, aggregate.key))
            if entry and entry.aggregate.revision > aggregate.revision:
                continue
            self._evict((partition, aggregate.key))
            self._aggregates[partition, aggregate.key] = _Entry(aggregate, aggregate.size)
            self._size += aggregate.size
        while self._size > self._max_bytes:
            self._evict(next(iter(self._aggregates)))

    def _evict(self, cache_key: tuple[Partition, Key]) -> None:
        entry = self._aggregates.pop(cache_key, None)
        if entry:
            self._size -= entry.size
