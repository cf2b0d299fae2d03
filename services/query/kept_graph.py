"""Entities, relations and ties that questions asked for before, kept in this process and proved current by the log.

Every change of the graph is followed by a GraphMerged that names what changed. So before a question is answered, the
log is asked for those that came since the last question: what they name is forgotten, the rest still holds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import structlog
from cachetools import LRUCache

from contracts import subjects
from contracts.events import GraphMerged
from contracts.graph import Entity, Relation, Space
from runtime.bus.codec import decode
from runtime.bus.port import Log
from runtime.errors import Poison, Retryable
from runtime.stores.graph.port import Graph, Neighbourhood, Tie

logger = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

BEHIND = 8
"""Changes that are looked at one by one; of a workspace in which more has happened everything is forgotten."""

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
    """Counts the changes seen: what was being read meanwhile may be older."""
    tickets: int = 0
    served: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeptGraph:
    """The port `KnownGraph` over the graph store and the log, in about `most` bytes; 0 keeps nothing."""

    def __init__(self, graph: Graph, log: Log, most: int) -> None:
        self._graph, self._log = graph, log
        self._marks: LRUCache[Space, _Mark] = LRUCache(MOST_SPACES)
        self._things: LRUCache[Hashable, Any] = LRUCache(most, getsizeof=_size)
        self._limits: set[int] = set()

    async def refresh(self, space: Space) -> None:
        """See `KnownGraph.refresh`. Questions that wait at the same time share one look at the log."""
        if not self._things.maxsize:
            return
        mark = self._marks.setdefault(space, _Mark())
        mark.tickets += 1
        ticket = mark.tickets
        async with mark.turn:
            if mark.served >= ticket:
                return
            newest = mark.tickets
            try:
                await self._catch_up(space, mark)
            except (Retryable, Poison) as error:  # a newer version of the event is Retryable
                logger.warning("changes of the graph cannot be seen", workspace=space.workspace, error=str(error))
                self._marks.pop(space, None)
            mark.served = newest

    async def entities(self, space: Space, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        return await self._read(space, ("entity",), names, lambda new: self._graph.entities(space, new))

    async def relations(self, space: Space, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        return await self._read(space, ("relation",), pairs, lambda new: self._graph.relations(space, new))

    async def ties(self, space: Space, names: Collection[str], *, limit: int) -> dict[str, list[Tie]]:
        """See `Graph.ties`."""
        self._limits.add(limit)
        return await self._read(space, ("ties", limit), names, lambda new: self._graph.ties(space, new, limit=limit))

    async def neighbourhood(self, space: Space, names: Collection[str], *, limit: int) -> Neighbourhood:
        """See `Graph.neighbourhood`. Nothing of it is kept."""
        return await self._graph.neighbourhood(space, names, limit=limit)

    async def _catch_up(self, space: Space, mark: _Mark) -> None:
        for _ in range(BEHIND if mark.upto >= 0 else 0):
            found = await self._log.following(mark.upto, subjects.of_type_in(space.workspace, "GraphMerged"))
            if found is None:
                return
            event = decode(found.data, found.subject, found.headers).data
            assert isinstance(event, GraphMerged)
            mark.forgotten += 1
            self._forget(mark, event)
            mark.upto = found.sequence
        upto = await self._log.last(space.workspace)
        mark.upto, mark.shelf, mark.forgotten = upto, next(_shelves), mark.forgotten + 1

    def _forget(self, mark: _Mark, event: GraphMerged) -> None:
        pairs = [(relation.source, relation.target) for relation in event.relations]
        for entity in event.entities:
            self._things.pop((mark.shelf, "entity", entity.name), None)
        for pair in pairs:
            self._things.pop((mark.shelf, "relation", pair), None)
            for name in pair:
                for limit in self._limits:
                    self._things.pop((mark.shelf, "ties", limit, name), None)

    async def _read(
        self,
        space: Space,
        kind: tuple[Hashable, ...],
        keys: Collection[K],
        read: Callable[[Collection[K]], Awaitable[Mapping[K, V]]],
    ) -> dict[K, V]:
        """What is kept, and what is read now; that nothing stands under a key is kept too."""
        mark = self._marks.get(space)
        if mark is None or mark.upto < 0:
            return dict(await read(keys))
        shelf, forgotten = (mark.shelf, *kind), mark.forgotten
        known = {key: self._things[*shelf, key] for key in keys if (*shelf, key) in self._things}
        new = [key for key in keys if key not in known]
        if new:
            found = await read(new)
            known |= {key: found.get(key) for key in new}
            if mark.forgotten == forgotten:
                self._keep({(*shelf, key): known[key] for key in new})
        return {key: thing for key in keys if (thing := known[key]) is not None}

    def _keep(self, things: Mapping[Hashable, Any]) -> None:
        for key, thing in things.items():
            if _size(thing) <= self._things.maxsize:
                self._things[key] = thing


def _size(thing: Entity | Relation | list[Tie] | None) -> int:
    """Bytes it takes, about."""
    if thing is None:
        return BESIDE_TEXTS
    if isinstance(thing, list):
        return BESIDE_TEXTS + PER_TIE * len(thing)
    lists = sum(50 + len(text) for text in (*thing.source_ids, *thing.file_paths))
    return BESIDE_TEXTS + 2 * len(thing.description) + lists
