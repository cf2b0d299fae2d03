"""Caches the numbers of a graph that fits, once questions have read a part of it one by one: of
what they read further, only texts are read of the store.

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
from services.query.retrieval.caches.graph_arrays import GraphArrays
from services.query.retrieval.caches.invalidation import ARRAYS, ProjectionCache

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
MAX_CHANGES_OF_QUESTION = 1000
"""Rows that have changed up to which a question reads them: those of some twenty documents. Of
more it reads what it needs of the store, until they are read while no question waits.
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
    changes_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while changes are read, for all questions that wait for them."""


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

    async def current(self, partition: Partition) -> GraphArrays | None:
        """Return the graph as it was at the last refresh, having read what has changed; None where
        it is not cached, much has changed, or something does meanwhile. Raises `Unavailable`.
        """
        arrays = self._cached(partition)
        if arrays is not None and 0 < arrays.change_count <= MAX_CHANGES_OF_QUESTION:
            await self._read_changes(partition, arrays)
            arrays = self._cached(partition)
        return None if arrays is None or arrays.change_count else arrays

    def _cached(self, partition: Partition) -> GraphArrays | None:
        return self._cache.cached(partition, ARRAYS, None)

    def count_misses(self, partition: Partition, *, entities: int = 0, nodes: int = 0) -> None:
        """Count entities whose relations had to be read, and others that had to be read alone;
        begin an attempt when it is due. Of a graph that is cached no attempt would spare the rest.
        """
        if self._cached(partition) is not None:
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
        arrays = self._cached(partition)
        if arrays is not None and _is_mostly_current(arrays):
            async with self._cache.projection_lock:
                await self._read_changes(partition, arrays)
            return
        misses = self._misses.setdefault(partition, _Misses())
        if misses.attempt is None and misses.due < math.inf:
            misses.attempt = asyncio.create_task(self._attempt(partition, misses))
        if misses.attempt is not None:
            await asyncio.wait([misses.attempt])

    async def _read_changes(self, partition: Partition, arrays: GraphArrays) -> None:
        """Have the arrays know again what was forgotten, unless that changes meanwhile."""
        async with self._misses.setdefault(partition, _Misses()).changes_lock:
            if not arrays.change_count:
                return
            changes = arrays.changes()
            since = self._cache.invalidations(partition)
            nodes = await self._graph.nodes(partition, changes.names)
            relations = await self._graph.relations(partition, changes.pairs)
            is_same = self._cached(partition) is arrays
            if self._cache.invalidations(partition) != since or not is_same:
                return
            arrays.renew(nodes, relations)
            if self._fits(arrays):
                self._cache.store_unless_changed(partition, since, ARRAYS, {None: arrays})
            else:
                self._cache.drop(partition, ARRAYS)  # an attempt leaves out what is gone

    def _fits(self, arrays: GraphArrays) -> bool:
        return arrays.size <= self._cache.max_bytes * CACHE_SHARE

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
        arrays = GraphArrays()
        async for page in self._graph.everything(partition, PAGE_SIZE):
            arrays.add(page)
            if not self._fits(arrays):
                return math.inf
            if self._cache.invalidations(partition) != since:
                return arrays.row_count
        arrays.sort()
        self._cache.store_unless_changed(partition, since, ARRAYS, {None: arrays})
        return arrays.row_count


def _is_mostly_current(arrays: GraphArrays) -> bool:
    """Return whether reading what has changed by name costs less than reading all."""
    return arrays.change_count <= MAX_CHANGED_SHARE * arrays.row_count
