"""What questions read of the projections before, kept in this process and proved current by the log.

Every change of a projection is followed by an event that names what changed. So before a question is answered, the log
is asked for those that came since the last question: what they name is forgotten, the rest still holds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
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
from runtime.stores.graph.port import Tie

logger = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Kind = tuple[Hashable, ...]
"""What stands under a key, such as `("entity",)`."""
Overtaken = Callable[[Any], Iterable[tuple[Hashable, ...]]]
"""What an event of some type names: kind and key, as one tuple each."""

BEHIND = 8
"""Events of a type that are looked at one by one; of a workspace in which more came everything is forgotten."""

MOST_SPACES = 1000

BESIDE_TEXTS = 500
"""Bytes that a kept thing takes beside its texts, about."""
PER_TIE = 250

_shelves = count()


@dataclass
class _Mark:
    """How far in the log what is kept of one space is known to hold. -1: nothing is."""

    upto: int = -1
    shelf: int = field(default_factory=lambda: next(_shelves))
    """What is kept stands on a shelf; all of it is forgotten by taking a new one."""
    forgotten: int = 0
    """Counts the looks that found something: what was being read meanwhile may be older."""
    tickets: int = 0
    served: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Kept:
    """`Freshness`, and the memory: about `most` bytes, what was used longest ago goes first; 0 keeps nothing."""

    def __init__(self, log: Log, most: int) -> None:
        self._log = log
        self._marks: LRUCache[Partition, _Mark] = LRUCache(MOST_SPACES)
        self._things: LRUCache[Hashable, Any] = LRUCache(most, getsizeof=_size)
        self._overtaken: dict[str, Overtaken] = {}

    def follow(self, type_name: str, overtaken: Overtaken) -> None:
        """From now on events of this type overtake what they name."""
        self._overtaken[type_name] = overtaken

    def keeps(self, space: Partition) -> bool:
        """Whether what is read of this space now may be kept."""
        mark = self._marks.get(space)
        return bool(self._things.maxsize and mark and mark.upto >= 0)

    def held(self, space: Partition, kind: Kind, keys: Iterable[K]) -> set[K]:
        """Those under which it is known what stands."""
        mark = self._marks.get(space)
        return {key for key in keys if (mark.shelf, *kind, key) in self._things} if mark else set()

    async def refresh(self, *spaces: Partition) -> None:
        """See `Freshness.refresh`. Questions that wait at the same time share one look at the log."""
        if self._things.maxsize:
            await asyncio.gather(*(self._refresh(space) for space in dict.fromkeys(spaces)))

    async def read(
        self,
        space: Partition,
        kind: Kind,
        keys: Collection[K],
        read: Callable[[Collection[K]], Awaitable[Mapping[K, V]]],
    ) -> dict[K, V]:
        """What is kept, and what is read now; that nothing stands under a key is kept too."""
        mark = self._marks.get(space)
        if mark is None or mark.upto < 0:
            return dict(await read(keys))
        shelf, forgotten = (mark.shelf, *kind), mark.forgotten
        known: dict[K, Any] = {}
        new: list[K] = []
        for key in keys:
            try:
                known[key] = self._things[*shelf, key]
            except KeyError:
                new.append(key)
        if new:
            found = await read(new)
            known |= {key: found.get(key) for key in new}
            if mark.forgotten == forgotten:
                self._keep({(*shelf, key): known[key] for key in new})
        return {key: thing for key in keys if (thing := known[key]) is not None}

    async def _refresh(self, space: Partition) -> None:
        mark = self._marks.setdefault(space, _Mark())
        mark.tickets += 1
        ticket = mark.tickets
        async with mark.turn:
            if mark.served >= ticket:
                return
            newest = mark.tickets
            try:
                await self._catch_up(space, mark)
            except (Retryable, Poison) as error:  # a newer version of an event is Retryable
                logger.warning("changes cannot be seen", workspace=space.workspace, error=str(error))
                self._marks.pop(space, None)
            mark.served = newest

    async def _catch_up(self, space: Partition, mark: _Mark) -> None:
        # Most often nothing has happened at all, which is one question that a server answers from its index.
        quiet = mark.upto >= 0 and not await self._log.following(mark.upto, subjects.of_workspace(space.workspace))
        if quiet:
            return
        upto = await self._log.last(space.workspace)
        mark.forgotten += 1
        if mark.upto < 0 or not all([await self._forget(space, mark, name) for name in self._overtaken]):
            mark.shelf = next(_shelves)
        mark.upto = upto

    async def _forget(self, space: Partition, mark: _Mark, type_name: str) -> bool:
        """Forget what these events name; False when there are too many."""
        after, subject = mark.upto, subjects.of_type_in(space.workspace, type_name)
        for _ in range(BEHIND):
            found = await self._log.following(after, subject)
            if found is None:
                return True
            event: Event = decode(found.data, found.subject, found.headers).data
            mark.forgotten += 1
            for key in self._overtaken[type_name](event):
                self._things.pop((mark.shelf, *key), None)
            after = found.sequence
        return False

    def _keep(self, things: Mapping[Hashable, Any]) -> None:
        for key, thing in things.items():
            if _size(thing) <= self._things.maxsize:
                self._things[key] = thing


def _size(thing: Entity | Relation | list[Tie] | NDArray[np.float32] | None) -> int:
    """Bytes it takes, about."""
    if thing is None:
        return BESIDE_TEXTS
    if isinstance(thing, np.ndarray):
        return BESIDE_TEXTS + thing.nbytes
    if isinstance(thing, list):
        return BESIDE_TEXTS + PER_TIE * len(thing)
    lists = sum(50 + len(text) for text in (*thing.source_ids, *thing.file_paths))
    return BESIDE_TEXTS + 2 * len(thing.description) + lists
