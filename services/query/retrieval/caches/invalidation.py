"""In-memory cache of entries of the projections, invalidated by events of the log.

Every change of a projection is followed by an event that names what changed. Before a question is
answered, the events since the last question are read, and the entries they name are removed; all
others are still current.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from sys import getsizeof
from typing import Any, TypeVar

import numpy as np
import structlog
from cachetools import LRUCache
from numpy.typing import NDArray

from contracts import subjects
from contracts.events import Event
from contracts.graph import Entity, Partition, Relation
from runtime.bus.codec import decode
from runtime.bus.port import Log
from runtime.errors import Poison, Retryable
from runtime.metrics.instruments import count_lookups
from runtime.stores.graph.port import Node, RelationSummary
from services.query.retrieval.caches.vector_matrix import VectorMatrix

logger = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Kind = tuple[Hashable, ...]
"""What stands under a key, such as `("entity",)`."""
ChangedKeys = Callable[[Any], Iterable[tuple[Hashable, ...]]]
"""What an event of some type names: kind and key, as one tuple each."""

MAX_EVENTS = 8
"""Events of a type that are read one by one; after more of them, all entries of the partition are
dropped.
"""

MAX_PARTITIONS = 1000

ENTRY_OVERHEAD = 450
"""Bytes that a kept thing takes beside its texts, about."""
ROW_OVERHEAD = 300
"""Bytes that an entity or relation takes beside that and its description, about."""
RELATION_SUMMARY_SIZE = 250
SHARED_TEXT = 16
"""Bytes that naming a chunk or a file takes, about: its text is shared with all others that name
it.
"""

_numbers = count()


@dataclass(frozen=True, slots=True)
class Star:
    """The relations at one entity, the heaviest first and perhaps not all, and how many it has."""

    degree: int
    relations: tuple[RelationSummary, ...]


@dataclass
class _PartitionState:
    """What is cached of one partition is current up to `position` of the log; -1: nothing is
    cached.
    """

    position: int = -1
    epoch: int = field(default_factory=lambda: next(_numbers))
    """Part of every key: a new epoch drops all entries of the partition at once."""
    invalidations: int = field(default_factory=lambda: next(_numbers))
    """Another number after each look that found something: what was being read meanwhile may be
    older.
    """
    changed_at: float = 0.0
    """When a look last found something, in seconds of the cache's clock."""


@dataclass
class _Look:
    """The questions that wait for a look at the log about the same partitions; those that wait
    together share one.
    """

    tickets: int = 0
    served: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ProjectionCache:
    """Implements `CacheInvalidation`. Holds about `most` bytes, the least recently used leave
    first; 0: nothing.
    """

    def __init__(self, log: Log, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self.clock = log, clock
        self.one_reader = asyncio.Lock()
        """Held by who reads a whole projection beside the questions: several at once would leave
        them little time.
        """
        self._states: LRUCache[Partition, _PartitionState] = LRUCache(MAX_PARTITIONS)
        self._looks: LRUCache[tuple[Partition, ...], _Look] = LRUCache(MAX_PARTITIONS)
        self._entries: LRUCache[Hashable, Any] = LRUCache(most, getsizeof=entry_size)
        self._changed_by: dict[str, ChangedKeys] = {}

    def subscribe(self, type_name: str, overtaken: ChangedKeys) -> None:
        """Invalidate the keys that `overtaken` returns for each event of this type from now on."""
        self._changed_by[type_name] = overtaken

    def is_current(self, partition: Partition) -> bool:
        """Return whether entries of this partition may be stored now."""
        mark = self._states.get(partition)
        return bool(self._entries.maxsize and mark and mark.position >= 0)

    def invalidations(self, partition: Partition) -> int:
        """Return a number that is another one after each change that was seen, and never one that
        it was before.
        """
        mark = self._states.get(partition)
        return mark.invalidations if mark else -1

    def unchanged_for(self, partition: Partition) -> float:
        """Return the seconds since a look at the log last found a change; 0 where nobody has
        looked.
        """
        mark = self._states.get(partition)
        return self.clock() - mark.changed_at if mark else 0.0

    @property
    def most(self) -> float:
        """The bytes that it holds at most, about."""
        return self._entries.maxsize

    def store_unless_changed(
        self, partition: Partition, since: int, kind: Kind, entries: Mapping[K, Any]
    ) -> bool:
        """Cache what was read while `invalidations` was `since`. Returns False, having cached
        nothing, if it moved.
        """
        mark = self._states.get(partition)
        if mark is None or mark.position < 0 or mark.invalidations != since:
            return False
        self._store({(mark.epoch, *kind, key): entry for key, entry in entries.items()})
        return True

    def cached(self, partition: Partition, kind: Kind, key: Hashable) -> Any | None:
        """Return the entry, None if it is not cached."""
        mark = self._states.get(partition)
        return self._entries.get((mark.epoch, *kind, key)) if mark else None

    def cached_keys(self, partition: Partition, kind: Kind, keys: Iterable[K]) -> set[K]:
        """Return the keys that are cached."""
        mark = self._states.get(partition)
        return {key for key in keys if (mark.epoch, *kind, key) in self._entries} if mark else set()

    async def refresh(self, *partitions: Partition) -> None:
        """See `CacheInvalidation.refresh`. One look at the log serves all partitions of a
        workspace.
        """
        if self._entries.maxsize:
            workspaces = dict.fromkeys(partition.workspace for partition in partitions)
            each = dict.fromkeys(partitions)
            await asyncio.gather(
                *(
                    self._refresh(tuple(one for one in each if one.workspace == name))
                    for name in workspaces
                )
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
        mark = self._states.get(partition)
        if mark is None or mark.position < 0:
            return dict(await read(keys))
        prefix, forgotten = (mark.epoch, *kind), mark.invalidations
        known: dict[K, Any] = {}
        new: list[K] = []
        for key in keys:
            try:
                known[key] = self._entries[*prefix, key]
            except KeyError:
                new.append(key)
        count_lookups("projections", hits=len(known), misses=len(new))
        if new:
            value = await read(new)
            known |= {key: value.get(key) for key in new}
            if mark.invalidations == forgotten:
                self._store({(*prefix, key): known[key] for key in new})
        return {key: thing for key in keys if (thing := known[key]) is not None}

    async def _refresh(self, partitions: tuple[Partition, ...]) -> None:
        look = self._looks.setdefault(partitions, _Look())
        look.tickets += 1
        ticket = look.tickets
        async with look.lock:
            if look.served >= ticket:
                return
            newest = look.tickets
            try:
                await self._catch_up(
                    {one: self._states.setdefault(one, _PartitionState()) for one in partitions}
                )
            except (Retryable, Poison) as error:  # a newer version of an event is Retryable
                logger.warning(
                    "changes cannot be seen", workspace=partitions[0].workspace, error=str(error)
                )
                for partition in partitions:
                    self._states.pop(partition, None)
            look.served = newest

    async def _catch_up(self, marks: Mapping[Partition, _PartitionState]) -> None:
        """Forget what the events of one workspace name since its partitions were looked at."""
        workspace = next(iter(marks)).workspace
        # Most often nothing has happened at all, which is one question that a server answers from
        # its index.
        after = min(mark.position for mark in marks.values())
        if after >= 0 and not await self._log.following(after, subjects.of_workspace(workspace)):
            return
        upto = await self._log.last(workspace)
        for mark in marks.values():
            mark.invalidations, mark.changed_at = next(_numbers), self.clock()
        current = [mark for mark in marks.values() if mark.position >= 0]
        if current:
            after = min(mark.position for mark in current)
            whole = [
                await self._invalidate(current, after, workspace, name) for name in self._changed_by
            ]
        else:
            whole = [False]
        for mark in marks.values():
            if mark.position < 0 or not all(whole):
                mark.epoch = next(_numbers)
            mark.position = upto

    async def _invalidate(
        self, marks: Sequence[_PartitionState], after: int, workspace: str, type_name: str
    ) -> bool:
        """Forget what these events name; False when there are too many."""
        subject = subjects.of_type_in(workspace, type_name)
        for _ in range(MAX_EVENTS):
            events = await self._log.following(after, subject)
            if events is None:
                return True
            event: Event = decode(events.data, events.subject, events.headers).data
            for mark in marks:
                mark.invalidations = next(_numbers)
                for key in self._changed_by[type_name](event):
                    self._entries.pop((mark.epoch, *key), None)
            after = events.sequence
        return False

    def _store(self, things: Mapping[Hashable, Any]) -> None:
        for key, thing in things.items():
            if entry_size(thing) <= self._entries.maxsize:
                self._entries[key] = thing


def entry_size(
    thing: Entity
    | Relation
    | Node
    | Star
    | VectorMatrix
    | list[RelationSummary]
    | NDArray[np.float32]
    | int
    | None,
) -> int:
    """Return the bytes that an entry takes, about."""
    if thing is None or isinstance(thing, int):
        return ENTRY_OVERHEAD
    if isinstance(thing, VectorMatrix):
        return ENTRY_OVERHEAD + thing.size
    if isinstance(thing, np.ndarray):
        return ENTRY_OVERHEAD + thing.nbytes
    if isinstance(thing, list):
        return ENTRY_OVERHEAD + RELATION_SUMMARY_SIZE * len(thing)
    if isinstance(thing, Star):
        return ENTRY_OVERHEAD + sum(
            RELATION_SUMMARY_SIZE + SHARED_TEXT * len(it.source_ids) for it in thing.relations
        )
    lists = SHARED_TEXT * (len(thing.source_ids) + len(thing.file_paths))
    return (
        ENTRY_OVERHEAD
        + ROW_OVERHEAD
        + lists
        + (0 if isinstance(thing, Node) else getsizeof(thing.description))
    )
