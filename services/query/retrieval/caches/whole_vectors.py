"""Caches all vectors of a kind that fit, once questions have searched them often enough: no further
search is a call.

Of what a search among some thousands of vectors costs, most is the call. Reading them all costs
about as much as a search for every thirty of them.
"""

import asyncio
import math
from dataclasses import dataclass, field

import numpy as np
import structlog
from cachetools import LRUCache

from contracts.graph import Partition, VectorKind
from runtime.errors import Unavailable
from runtime.stores.vectors.port import Vectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.vector_matrix import OVERHEAD, VectorMatrix, packed

logger = structlog.get_logger(__name__)

KIND = ("all vectors",)

FIRST = 3
"""Searches of a kind before all of its vectors are read: a process is soon as fast as it will
be.
"""
ROWS_A_SEARCH = 30
"""Rows whose reading costs as much as a search."""
PAGE = 250
"""Rows that are read at once; questions are answered in between."""
REST = 10.0
"""Seconds without a change after which they are read again although few searches have missed
them,
"""
PAUSE = 20
"""unless the last reading took more than this part of the time since then."""
SHARE = 4
"""The vectors of one kind may take this part of the cache: a quarter."""
MOST_READINGS = 3000


@dataclass
class _Reading:
    """How many searches there were since the last attempt, and how many there must be before the
    next.

    Where nothing changes, the next may also begin at `not_before`, in seconds of the cache's clock.
    """

    searches: int = 0
    due: float = field(default_factory=lambda: FIRST)
    not_before: float = math.inf
    task: asyncio.Task[None] | None = None


class WholeVectors:
    """Fills a cache with all vectors of a kind.

    An attempt ends when the log says that anything has changed meanwhile, or the vectors turn out
    too many. It is made again when searches have cost as much as it did, or when things rest:
    constant changes never cost twice what they would without it.
    """

    def __init__(self, vectors: Vectors, cache: ProjectionCache) -> None:
        self._vectors, self._cache = vectors, cache
        self._readings: LRUCache[tuple[Partition, VectorKind], _Reading] = LRUCache(MOST_READINGS)

    def cached(self, partition: Partition, kind: VectorKind) -> VectorMatrix | None:
        """Return all vectors of that kind if they are cached. They are as current as the last look
        at the log.
        """
        return self._cache.cached(partition, KIND, kind)

    def missed(self, partition: Partition, kind: VectorKind) -> None:
        """Note that the store had to be searched."""
        reading = self._readings.setdefault((partition, kind), _Reading())
        reading.searches += 1
        is_due = reading.searches >= reading.due or self._rests(partition, reading)
        if is_due and reading.task is None and self._cache.is_current(partition):
            reading.searches = 0
            reading.task = asyncio.create_task(self._attempt(partition, kind, reading))

    async def close(self) -> None:
        """Cancel what is being read."""
        tasks = [reading.task for reading in self._readings.values() if reading.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _rests(self, partition: Partition, reading: _Reading) -> bool:
        return (
            self._cache.clock() >= reading.not_before
            and self._cache.unchanged_for(partition) >= REST
        )

    async def _attempt(self, partition: Partition, kind: VectorKind, reading: _Reading) -> None:
        clock = self._cache.clock
        try:
            async with self._cache.one_reader:
                began = clock()
                rows = await self._load(partition, kind)
            reading.due = max(FIRST, rows / ROWS_A_SEARCH)
            reading.not_before = (
                math.inf if rows == math.inf else clock() + PAUSE * (clock() - began)
            )
        except Unavailable as error:
            logger.warning(
                "the vectors cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            reading.task = None

    async def _load(self, partition: Partition, kind: VectorKind) -> float:
        """Read and cache the vectors. Returns the rows that were read, or infinity when there are
        too many.
        """
        since, dimension = self._cache.invalidations(partition), self._vectors.dimension
        most = room = self._cache.most / SHARE
        ids: list[str] = []
        names: list[tuple[str, ...]] = []
        arrays = [packed(np.empty((0, dimension), np.float32))]
        while (
            page := await self._vectors.scan_vectors(partition, kind, ids[-1] if ids else "", PAGE)
        ).ids:
            ids += page.ids
            names += page.names
            arrays.append(packed(page.vectors))
            room -= arrays[-1].nbytes + OVERHEAD * len(page.ids)
            if room < 0:
                return math.inf
            if self._cache.invalidations(partition) != since:
                return len(ids)
        vectors = np.concatenate(arrays)
        if len(ids) * (4 * dimension + OVERHEAD) <= most:
            vectors = vectors.astype(np.float32)  # compared faster, as long as there is room
        matrix = VectorMatrix(ids, names, vectors)
        self._cache.store_unless_changed(partition, since, KIND, {kind: matrix})
        return len(ids)
