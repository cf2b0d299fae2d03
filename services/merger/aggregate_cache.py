"""Caches, in this process, the aggregates of keys that many chunks name: a further chunk does not
read all again.

An aggregate that is right at revision r is brought to a later one by the changes that the key's
history notes in between, whichever replica made them (`describing.py`). Where the history does not
reach back to r everything is read, so this cache may be empty, old or lost: it changes the cost,
never the graph.
"""

from collections import OrderedDict
from collections.abc import Iterable

from contracts.graph import Partition
from knowledge.contributions import Key
from services.merger.domain.incremental_aggregate import IncrementalAggregate

MAX_BYTES = 256 * 1024 * 1024
"""Bytes that all cached aggregates together may take, about 200,000 contributions."""

MIN_CONTRIBUTIONS = 8
"""Contributions from which on an aggregate is worth caching; fewer are read about as fast as
one.
"""


class AggregateCache:
    """Aggregates by partition and key. The least recently written are evicted when all take more
    than `most` bytes.
    """

    def __init__(self, most: int = MAX_BYTES, least: int = MIN_CONTRIBUTIONS) -> None:
        self._most, self.min_contributions = most, least
        self._aggregates: OrderedDict[tuple[Partition, Key], tuple[IncrementalAggregate, int]] = (
            OrderedDict()
        )
        self._size = 0

    def get(self, partition: Partition, keys: Iterable[Key]) -> dict[Key, IncrementalAggregate]:
        """Return the aggregates that are cached, by key, each at a revision of its own."""
        entries = {key: self._aggregates.get((partition, key)) for key in keys}
        return {key: entry[0] for key, entry in entries.items() if entry}

    def put(self, partition: Partition, aggregates: Iterable[IncrementalAggregate]) -> None:
        """Cache the aggregates as they are now, unless a newer one of their key is cached."""
        for aggregate in aggregates:
            if (entry := self._aggregates.get((partition, aggregate.key))) and entry[
                0
            ].revision > aggregate.revision:
                continue
            self._evict((partition, aggregate.key))
            self._aggregates[partition, aggregate.key] = (aggregate, aggregate.size)
            self._size += aggregate.size
        while self._size > self._most:
            self._evict(next(iter(self._aggregates)))

    def _evict(self, cache_key: tuple[Partition, Key]) -> None:
        if entry := self._aggregates.pop(cache_key, None):
            self._size -= entry[1]
