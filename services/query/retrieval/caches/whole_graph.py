"""Caches all of a graph that fits, once questions have read a part of it one by one: no further
question reads it.

What a question of `mix` asks for differs from question to question, so that each reads a little of
the graph anew, in four requests one after another, until all of it was read. Reading it page by
page costs less than a hundred of them.
"""

import asyncio
import math
from dataclasses import dataclass, field

import structlog
from cachetools import LRUCache

from contracts.graph import Partition
from runtime.errors import Unavailable
from runtime.stores.graph.port import Graph
from services.query.retrieval.caches.graph_snapshot import GraphSnapshot
from services.query.retrieval.caches.invalidation import SNAPSHOT, ProjectionCache

logger = structlog.get_logger(__name__)

MIN_MISSES = 100
"""Entities whose relations questions had to read before the whole graph is; about two questions."""
ROWS_PER_ENTITY = 8
"""Rows of the graph whose reading costs as much as a question's reading of one entity and what is
around it.
"""
PAGE_SIZE = 500
"""Rows that are read at once, about; questions are answered in between."""
CACHE_SHARE = 0.5
"""The share of the cache that a graph may take."""
MAX_CHANGED_SHARE = 0.25
"""The share of a graph up to which what has changed of it is read by name: a row costs several
times as much so.
"""
MAX_PARTITIONS = 1000


@dataclass
class _Misses:
    """How many entities were missed since the last attempt, and how many must have been before the
    next.
    """

    count: float = 0.0
    due: float = field(default_factory=lambda: MIN_MISSES)
    attempt: asyncio.Task[None] | None = None


class WholeGraph:
    """Fills a cache with whole graphs.

    An attempt ends when the log says that anything has changed meanwhile, or the graph turns out
    too large. It is made again when questions have missed as much as it cost: together they never
    cost twice what they would without it.
    """

    def __init__(self, graph: Graph, cache: ProjectionCache) -> None:
        self._graph = graph
        self._cache = cache
        self._misses: LRUCache[Partition, _Misses] = LRUCache(MAX_PARTITIONS)

    def snapshot(self, partition: Partition) -> GraphSnapshot | None:
        """Return the graph if it is cached, as current as the last refresh."""
        return self._cache.cached(partition, SNAPSHOT, None)

    def count_misses(self, partition: Partition, *, entities: int = 0, nodes: int = 0) -> None:
        """Count entities whose relations had to be read, and others that had to be read alone;
        begin an attempt when it is due. Of a graph that is cached no attempt would spare the rest.
        """
        if self.snapshot(partition) is not None:
            return
        misses = self._misses.setdefault(partition, _Misses())
        misses.count += entities + nodes / ROWS_PER_ENTITY
        is_due = misses.count >= misses.due and misses.attempt is None
        if is_due and self._cache.is_current(partition):
            misses.count = 0.0
            misses.attempt = asyncio.create_task(self._attempt(partition, misses))

    async def renew(self, partition: Partition) -> None:
        """Read what has changed of the graph if it is cached, else all of it, unless it was too
        large. Raises `Unavailable`.
        """
        if not self._cache.is_current(partition):
            return
        snapshot = self.snapshot(partition)
        if snapshot is not None and _is_mostly_current(snapshot):
            async with self._cache.projection_lock:
                await self._read_changes(partition, snapshot)
            return
        misses = self._misses.setdefault(partition, _Misses())
        if misses.attempt is None and misses.due < math.inf:
            misses.attempt = asyncio.create_task(self._attempt(partition, misses))
        if misses.attempt is not None:
            await asyncio.wait([misses.attempt])

    async def _read_changes(self, partition: Partition, snapshot: GraphSnapshot) -> None:
        """Have the snapshot know again what was forgotten, unless that changes meanwhile."""
        changes = snapshot.changes()
        if not changes.names and not changes.pairs:
            return
        since = self._cache.invalidations(partition)
        entities = await self._graph.entities(partition, changes.names)
        relations = await self._graph.relations(partition, changes.pairs)
        if self._cache.invalidations(partition) != since or self.snapshot(partition) != snapshot:
            return
        snapshot.renew(entities, relations)
        fitting = self._fitting(snapshot)
        if fitting is None:
            self._misses.setdefault(partition, _Misses()).due = math.inf
            self._cache.drop(partition, SNAPSHOT)
        else:
            self._cache.store_unless_changed(partition, since, SNAPSHOT, {None: fitting})

    def _fitting(self, snapshot: GraphSnapshot) -> GraphSnapshot | None:
        """Return the snapshot if it fits, else without texts; None if that does not fit either."""
        max_bytes = self._cache.max_bytes * CACHE_SHARE
        if snapshot.size > max_bytes and snapshot.has_texts:
            snapshot = snapshot.without_texts()
        return snapshot if snapshot.size <= max_bytes else None

    async def close(self) -> None:
        """Cancel running attempts."""
        attempts = [misses.attempt for misses in self._misses.values() if misses.attempt]
        for attempt in attempts:
            attempt.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)

    async def _attempt(self, partition: Partition, misses: _Misses) -> None:
        try:
            async with self._cache.projection_lock:
                rows = await self._load(partition)
            misses.due = max(MIN_MISSES, rows / ROWS_PER_ENTITY)
        except Unavailable as error:
            logger.warning(
                "the graph cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            misses.attempt = None

    async def _load(self, partition: Partition) -> float:
        """Read and cache the graph. Returns the rows that were read, or infinity when there are too
        many.
        """
        since = self._cache.invalidations(partition)
        snapshot = GraphSnapshot()
        async for page in self._graph.everything(partition, PAGE_SIZE):
            snapshot.add(page)
            fitting = self._fitting(snapshot)
            if fitting is None:
                return math.inf
            snapshot = fitting
            if self._cache.invalidations(partition) != since:
                return len(snapshot)
        self._cache.store_unless_changed(partition, since, SNAPSHOT, {None: snapshot})
        return len(snapshot)


def _is_mostly_current(snapshot: GraphSnapshot) -> bool:
    """Return whether reading what has changed by name costs less than reading all."""
    changes = snapshot.changes()
    return len(changes.names) + len(changes.pairs) <= MAX_CHANGED_SHARE * len(snapshot)
