"""Caches, in this process, the aggregates of keys that many chunks name: a further chunk does not
read all again.

An aggregate that is right at revision r is brought to a later one by the changes that the key's
history notes in between, whichever replica made them (`describing.py`). Where the history does not
reach back to r everything is read, so this cache may be empty, old or lost: it changes the cost,
never the graph.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from contracts.graph import Partition
from knowledge.contributions import Key
from services.merger.domain.compact_aggregate import CompactAggregate
from services.merger.domain.incremental_aggregate import IncrementalAggregate
from services.merger.domain.packed_contributions import PackedContributions, packed_aggregate
from services.merger.domain.small_aggregate import FewContributions

LargeAggregate = IncrementalAggregate | CompactAggregate
CachedAggregate = LargeAggregate | PackedContributions | FewContributions

MAX_BYTES = 256 * 1024 * 1024
"""Bytes that all cached aggregates but the small ones may take."""

SHARES: Mapping[type[CachedAggregate], int] = {
    IncrementalAggregate: 4,
    CompactAggregate: 3,
    PackedContributions: 1,
    FewContributions: 1,
}
"""Eighths of that which each form may take, the small ones besides: 120,000 contributions to names
of some chunks, 300,000 to frequent ones, 400,000 that are only packed, 40,000 to names of few.
"""

MIN_CONTRIBUTIONS = 8
"""Contributions from which on an aggregate is kept up to date in place; of fewer it is made anew
at each change.
"""

MIN_SMALL_CONTRIBUTIONS = 2
"""Contributions from which on a small aggregate is cached: most keys have one, which is read with
little else.
"""


class _Entry(NamedTuple):
    aggregate: CachedAggregate
    size: int
    """Bytes that the aggregate took when it was cached: it may grow in place."""


class _LeastRecent:
    """Aggregates by partition and key, the least recently written evicted first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[tuple[Partition, Key], _Entry] = OrderedDict()
        self._size = 0

    def get(self, partition: Partition, key: Key) -> CachedAggregate | None:
        """Return the aggregate of the key, if it is cached."""
        entry = self._entries.get((partition, key))
        return entry.aggregate if entry else None

    def put(
        self, partition: Partition, aggregate: CachedAggregate
    ) -> list[tuple[Partition, CachedAggregate]]:
        """Cache the aggregate in place of another of its key; return those that have to go."""
        self.remove(partition, aggregate.key)
        self._entries[partition, aggregate.key] = _Entry(aggregate, aggregate.size)
        self._size += aggregate.size
        evicted_aggregates: list[tuple[Partition, CachedAggregate]] = []
        while self._size > self._max_bytes:
            (former_partition, _), entry = self._entries.popitem(last=False)
            self._size -= entry.size
            evicted_aggregates.append((former_partition, entry.aggregate))
        return evicted_aggregates

    def remove(self, partition: Partition, key: Key) -> None:
        """Forget the aggregate of the key."""
        entry = self._entries.pop((partition, key), None)
        if entry:
            self._size -= entry.size


class AggregateCache:
    """Aggregates by partition and key, in at most `max_bytes` but for small ones. Of the least
    recently written only the contributions are kept, packed.
    """

    def __init__(
        self, max_bytes: int = MAX_BYTES, min_contributions: int = MIN_CONTRIBUTIONS
    ) -> None:
        self.min_contributions = min_contributions
        self._forms = {form: _LeastRecent(max_bytes * share // 8) for form, share in SHARES.items()}

    def get(self, partition: Partition, keys: Iterable[Key]) -> dict[Key, CachedAggregate]:
        """Return what is cached, by key, each at a revision of its own: aggregates, and of small
        and packed ones their contributions.
        """
        aggregates: dict[Key, CachedAggregate] = {}
        for key in keys:
            for form in self._forms.values():
                if aggregate := form.get(partition, key):
                    aggregates[key] = aggregate
                    break
        return aggregates

    def put(self, partition: Partition, aggregates: Iterable[CachedAggregate]) -> None:
        """Cache the aggregates as they are now, unless a newer one of their key is cached. Those of
        hardly any contributions are not worth it.
        """
        for aggregate in aggregates:
            cached_aggregate = self.get(partition, [aggregate.key]).get(aggregate.key)
            if cached_aggregate and cached_aggregate.revision > aggregate.revision:
                continue
            for form in self._forms.values():
                form.remove(partition, aggregate.key)
            if _is_worth_it(aggregate):
                evicted_aggregates = self._forms[type(aggregate)].put(partition, aggregate)
                for former_partition, former_aggregate in evicted_aggregates:
                    self.put(former_partition, _packed_contributions(former_aggregate))


def _is_worth_it(aggregate: CachedAggregate) -> bool:
    is_small = isinstance(aggregate, FewContributions)
    return not is_small or len(aggregate.contributions) >= MIN_SMALL_CONTRIBUTIONS


def _packed_contributions(aggregate: CachedAggregate) -> list[PackedContributions]:
    """Return the contributions of one that had to go, if there is a smaller form."""
    if isinstance(aggregate, CompactAggregate):
        return [aggregate.packed_contributions()]
    is_whole = isinstance(aggregate, IncrementalAggregate)
    contributions = packed_aggregate(aggregate) if is_whole else None
    return [contributions] if contributions else []
