"""In-memory cache of entries of the projections, invalidated by events of the log.

Every change of a projection is followed by an event that names what changed. Before a question is
answered, the events since the last question are read, and the entries they name are removed; all
others are still current.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import structlog
from cachetools import LRUCache

from contracts import subjects
from contracts.events import Event
from contracts.graph import Partition
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.errors import Poison, Retryable
from runtime.metrics.instruments import count_lookups
from services.query.retrieval.caches.changed_names import ChangedNames
from services.query.retrieval.caches.entry_sizes import entry_size
from services.query.retrieval.caches.graph_arrays import GraphArrays

logger = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Kind = tuple[Hashable, ...]
"""The kind of an entry, such as `("entity",)`."""
ChangedKeys = Callable[[Any], Iterable[tuple[Hashable, ...]]]
"""Returns the entries that an event changes: kind and key, as one tuple each."""

ARRAYS: Kind = ("arrays",)
"""The kind of an entry that is a `GraphArrays`, under the key None."""

NAMES: Kind = ("changed names",)
"""The kind of an entry that is a `ChangedNames`, under the key None."""

FOLLOWING = (ARRAYS, NAMES)
"""The kinds of entries that are told what changes, and stay."""

EVENTS_READ_SINGLY = 10
"""Events of a type that are asked for one by one: to read more of them as a list costs less."""
ROWS_PER_EVENT = 8
"""Rows of a graph whose reading costs as much as reading an event that names some dozens: some 100
µs. A partition is read anew where that costs less than reading what has happened to it.
"""
MAX_EVENTS = 50
"""Events of a type that are read at least before all entries of a partition are dropped."""
MAX_EVENTS_ASKED = 2000
"""Events of a type that are read at most while a question waits, in some 0.2 s."""

MAX_PARTITIONS = 1000

_numbers = count()


@dataclass
class _PartitionState:
    """What is cached of one partition is current up to `position` of the log; -1: nothing is
    cached.
    """

    position: int = -1
    epoch: int = field(default_factory=lambda: next(_numbers))
    """The first part of every key: what is being read while all is dropped is of an epoch that has
    ended.
    """
    invalidations: int = field(default_factory=lambda: next(_numbers))
    """Another number after each refresh that saw a change: what was being read meanwhile may be
    older than the change.
    """
    changed_at: float = 0.0
    """When a refresh last saw a change, in seconds of the cache's clock."""

    @property
    def is_current(self) -> bool:
        """Whether entries may be stored and read."""
        return self.position >= 0


@dataclass
class _SharedRefresh:
    """The refreshes of the same partitions that questions wait for; those that wait together share
    one read of the log.
    """

    requested: int = 0
    """How many were asked for."""
    completed: int = 0
    """How many of them, the first ones, are done."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ProjectionCache:
    """Implements `CacheInvalidation`. Holds about `max_bytes` bytes, the least recently used leave
    first; 0: nothing.
    """

    def __init__(
        self, log: Log, max_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self.clock = clock
        self.projection_lock = asyncio.Lock()
        """Held while a whole projection is read beside the questions: several at once would leave
        these little time.
        """
        self._states: LRUCache[Partition, _PartitionState] = LRUCache(MAX_PARTITIONS)
        self._refreshes: LRUCache[tuple[Partition, ...], _SharedRefresh] = LRUCache(MAX_PARTITIONS)
        self._entries: LRUCache[tuple[Any, ...], Any] = LRUCache(max_bytes, getsizeof=entry_size)
        self._changed_by: dict[str, ChangedKeys] = {}

    def subscribe(self, type_name: str, changed_keys: ChangedKeys) -> None:
        """Invalidate the entries that `changed_keys` returns for each event of this type from now
        on.
        """
        self._changed_by[type_name] = changed_keys

    def is_current(self, partition: Partition) -> bool:
        """Return whether entries of this partition may be stored now."""
        state = self._states.get(partition)
        return bool(self._entries.maxsize) and state is not None and state.is_current

    def invalidations(self, partition: Partition) -> int:
        """Return a number that is another one after each change that was seen, and never one that
        it was before.
        """
        state = self._states.get(partition)
        return state.invalidations if state else -1

    def unchanged_for(self, partition: Partition) -> float:
        """Return the seconds since a refresh last saw a change; 0 before the first refresh."""
        state = self._states.get(partition)
        return self.clock() - state.changed_at if state else 0.0

    @property
    def size(self) -> float:
        """The bytes that its entries take, about."""
        return self._entries.currsize

    @property
    def max_bytes(self) -> float:
        """The bytes that it holds at most, about."""
        return self._entries.maxsize

    def store_unless_changed(
        self, partition: Partition, since: int, kind: Kind, entries: Mapping[K, Any]
    ) -> bool:
        """Cache what was read while `invalidations` was `since`. Returns False, having cached
        nothing, if it is another number now.
        """
        state = self._states.get(partition)
        if state is None or not state.is_current or state.invalidations != since:
            return False
        self._store({(state.epoch, *kind, key): entry for key, entry in entries.items()})
        return True

    def cached(self, partition: Partition, kind: Kind, key: Hashable) -> Any | None:
        """Return the entry, None if it is not cached."""
        state = self._states.get(partition)
        return self._entries.get((state.epoch, *kind, key)) if state else None

    def drop(self, partition: Partition, kind: Kind, key: Hashable = None) -> None:
        """Have the entry no more."""
        state = self._states.get(partition)
        if state is not None:
            self._entries.pop((state.epoch, *kind, key), None)

    def cached_keys(self, partition: Partition, kind: Kind, keys: Iterable[K]) -> set[K]:
        """Return the keys that are cached."""
        state = self._states.get(partition)
        if state is None:
            return set()
        return {key for key in keys if (state.epoch, *kind, key) in self._entries}

    def workspaces(self) -> list[str]:
        """Return the workspaces of which anything may be cached."""
        return list({partition.workspace: None for partition in self._states})

    async def refresh(self, *partitions: Partition, is_awaited: bool = True) -> None:
        """See `CacheInvalidation.refresh`. One read of the log serves all partitions of a
        workspace. After very many events of a type all entries are dropped: the later the larger a
        graph is, and earlier where a question waits (`is_awaited`).
        """
        if not self._entries.maxsize:
            return
        by_workspace: dict[str, list[Partition]] = {}
        for partition in dict.fromkeys(partitions):
            by_workspace.setdefault(partition.workspace, []).append(partition)
        await asyncio.gather(
            *(self._refresh(tuple(group), is_awaited) for group in by_workspace.values())
        )

    async def get_or_read(
        self,
        partition: Partition,
        kind: Kind,
        keys: Collection[K],
        read: Callable[[Collection[K]], Awaitable[Mapping[K, V]]],
    ) -> dict[K, V]:
        """Return cached entries, and read and cache the others; that a key has no value is cached,
        too.
        """
        state = self._states.get(partition)
        if state is None or not state.is_current:
            return dict(await read(keys))
        prefix = (state.epoch, *kind)
        entries: dict[K, Any] = {}
        absent_keys: list[K] = []
        for key in keys:
            try:
                entries[key] = self._entries[*prefix, key]
            except KeyError:
                absent_keys.append(key)
        count_lookups("projections", hits=len(entries), misses=len(absent_keys))
        if absent_keys:
            invalidations = state.invalidations
            values = await read(absent_keys)
            entries |= {key: values.get(key) for key in absent_keys}
            if state.invalidations == invalidations:
                self._store({(*prefix, key): entries[key] for key in absent_keys})
        return {key: entries[key] for key in keys if entries[key] is not None}

    async def _refresh(self, partitions: tuple[Partition, ...], is_awaited: bool) -> None:
        """Read the log once for all questions that wait for these partitions of one workspace."""
        refresh = self._refreshes.setdefault(partitions, _SharedRefresh())
        refresh.requested += 1
        ticket = refresh.requested
        async with refresh.lock:
            if refresh.completed >= ticket:
                return
            # Whoever comes later may have seen a change that this read of the log does not.
            newest_ticket = refresh.requested

            def limit() -> int:
                """Return how many events of a type may be read: fewer where a question waits."""
                worthwhile = max(MAX_EVENTS, self._followed_rows(partitions) // ROWS_PER_EVENT)
                waits = is_awaited or refresh.requested > newest_ticket
                return min(worthwhile, MAX_EVENTS_ASKED) if waits else worthwhile

            try:
                await self._catch_up(partitions, limit)
            except (Retryable, Poison) as error:  # a newer version of an event is Retryable
                logger.warning(
                    "changes cannot be seen", workspace=partitions[0].workspace, error=str(error)
                )
                for partition in partitions:
                    if state := self._states.pop(partition, None):
                        self._end_epoch(state)
            refresh.completed = newest_ticket

    def _followed_rows(self, partitions: Sequence[Partition]) -> int:
        """Return how many rows would have to be read anew of what follows the log."""
        entries = [
            self.cached(partition, kind, None) for partition in partitions for kind in FOLLOWING
        ]
        return sum(entry.row_count for entry in entries if entry is not None)

    async def _catch_up(self, partitions: Sequence[Partition], limit: Callable[[], int]) -> None:
        """Invalidate what the events of one workspace name since its partitions were refreshed."""
        states = [self._states.setdefault(partition, _PartitionState()) for partition in partitions]
        workspace = partitions[0].workspace
        # Most often nothing has happened at all, which is one question that a server answers from
        # its index.
        position = min(state.position for state in states)
        subject = subjects.of_workspace(workspace)
        if position >= 0 and not await self._log.following(position, subject):
            return
        # Read before the events: what comes meanwhile is read again by the next refresh.
        end = await self._log.last(workspace)
        for state in states:
            state.invalidations = next(_numbers)
            state.changed_at = self.clock()
        current = [state for state in states if state.is_current]
        is_complete = bool(current)
        for type_name in self._changed_by if current else ():
            is_complete &= await self._invalidate(current, workspace, type_name, limit)
        for state in states:
            if not state.is_current or not is_complete:
                self._end_epoch(state)
            state.position = end

    def _end_epoch(self, state: _PartitionState) -> None:
        """Drop all entries of the partition: nobody finds them any more, and until others push them
        out they take their bytes.
        """
        for key in [key for key in self._entries if key[0] == state.epoch]:
            del self._entries[key]
        state.epoch = next(_numbers)

    async def _invalidate(
        self,
        states: Sequence[_PartitionState],
        workspace: str,
        type_name: str,
        limit: Callable[[], int],
    ) -> bool:
        """Drop the entries that events of this type name; returns False when there are too many."""
        position = min(state.position for state in states)
        subject = subjects.of_type_in(workspace, type_name)
        for _ in range(EVENTS_READ_SINGLY):
            message = await self._log.following(position, subject)
            if message is None:
                return True
            self._drop_changed(states, type_name, message)
            position = message.sequence
        event_count = EVENTS_READ_SINGLY
        async with aclosing(self._log.history(workspace, None, type_name, position)) as history:
            async for message in history:
                event_count += 1
                if event_count > limit():
                    return False
                self._drop_changed(states, type_name, message)
        return True

    def _drop_changed(
        self, states: Sequence[_PartitionState], type_name: str, message: Message
    ) -> None:
        """Drop the entries that an event names, or tell those of it that stay."""
        event: Event = decode(message.data, message.subject, message.headers).data
        for state in states:
            state.invalidations = next(_numbers)
            following: list[GraphArrays | ChangedNames] = [
                entry
                for kind in FOLLOWING
                if (entry := self._entries.get((state.epoch, *kind, None))) is not None
            ]
            for key in self._changed_by[type_name](event):
                self._entries.pop((state.epoch, *key), None)
                for entry in following:
                    entry.forget(key)

    def _store(self, entries: Mapping[tuple[Any, ...], Any]) -> None:
        # The LRU cache raises for an entry that is larger than all of it.
        for key, entry in entries.items():
            if entry_size(entry) <= self._entries.maxsize:
                self._entries[key] = entry
