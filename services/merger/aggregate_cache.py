"""Caches, in this process, the aggregates of keys that many chunks name: a further chunk does not
read all again.

An aggregate that is right at revision r is brought to a later one by the changes that the key's
history notes in between, whichever replica made them (`describing.py`). Where the history does not
reach back to r everything is read, so this cache may be empty, old or lost: it changes the cost,
never the graph.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from contracts.graph import Partition
from knowledge.contributions import Key
from services.merger.domain.compact_aggregate import CompactAggregate
from services.merger.domain.incremental_aggregate import IncrementalAggregate
from services.merger.domain.small_aggregate import FewContributions

MAX_BYTES = 256 * 1024 * 1024
"""Bytes that all cached aggregates but the small ones may take: about 200,000 contributions, or two
millions to names so frequent that their aggregates are compact.
"""

SMALL_SHARE = 8
"""Small ones may take one byte more for each so many of the others: 40,000 contributions."""

MIN_CONTRIBUTIONS = 8
"""Contributions from which on an aggregate is kept up to date in place; of fewer it is made anew
at each change.
"""

MIN_SMALL_CONTRIBUTIONS = 2
"""Contributions from which on a small aggregate is cached: most keys have one, which is read with
little else.
"""

LargeAggregate = IncrementalAggregate | CompactAggregate
CachedAggregate = LargeAggregate | FewContributions
A = TypeVar("A", LargeAggregate, FewContributions)


class _Entry(NamedTuple, Generic[A]):
    aggregate: A
    size: int
    """Bytes that the aggregate took when it was cached: it may grow in place."""


class _LeastRecent(Generic[A]):
    """Aggregates by partition and key, the least recently written evicted first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[tuple[Partition, Key], _Entry[A]] = OrderedDict()
        self._size = 0

    def get(self, partition: Partition, key: Key) -> A | None:
        """Return the aggregate of the key, if it is cached."""
        entry = self._entries.get((partition, key))
        return entry.aggregate if entry else None

    def put(self, partition: Partition, aggregate: A) -> None:
        """Cache the aggregate, unless a newer one of its key is cached."""
        cached_aggregate = self.get(partition, aggregate.key)
        if cached_aggregate and cached_aggregate.revision > aggregate.revision:
            return
        self.evict(partition, aggregate.key)
        self._entries[partition, aggregate.key] = _Entry(aggregate, aggregate.size)
        self._size += aggregate.size
        while self._size > self._max_bytes:
            self.evict(*next(iter(self._entries)))

    def evict(self, partition: Partition, key: Key) -> None:
        """Forget the aggregate of the key."""
        entry = self._entries.pop((partition, key), None)
        if entry:
            self._size -= entry.size


class AggregateCache:
    """Aggregates by partition and key. The least recently written are evicted when they take more
    than `max_bytes`, small ones when these take more than an eighth of that.
    """

    def __init__(
        self, max_bytes: int = MAX_BYTES, min_contributions: int = MIN_CONTRIBUTIONS
    ) -> None:
        self.min_contributions = min_contributions
        self._large = _LeastRecent[LargeAggregate](max_bytes)
        self._small = _LeastRecent[FewContributions](max_bytes // SMALL_SHARE)

    def get(self, partition: Partition, keys: Iterable[Key]) -> dict[Key, CachedAggregate]:
        """Return what is cached, by key, each at a revision of its own: aggregates, and of small
        ones their contributions.
        """
        aggregates: dict[Key, CachedAggregate] = {}
        for key in keys:
            aggregate = self._large.get(partition, key) or self._small.get(partition, key)
            if aggregate:
                aggregates[key] = aggregate
        return aggregates

    def put(self, partition: Partition, aggregates: Iterable[CachedAggregate]) -> None:
        """Cache the aggregates as they are now, unless a newer one of their key is cached. Those of
        hardly any contributions are not worth it.
        """
        for aggregate in aggregates:
            if not isinstance(aggregate, FewContributions):
                self._small.evict(partition, aggregate.key)
                self._large.put(partition, aggregate)
                continue
            self._large.evict(partition, aggregate.key)
            if len(aggregate.contributions) >= MIN_SMALL_CONTRIBUTIONS:
                self._small.put(partition, aggregate)
            else:
                self._small.evict(partition, aggregate.key)
