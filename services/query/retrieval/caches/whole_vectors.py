"""Caches all vectors of a kind where they are few, once questions have searched them often enough:
no further search is a call.

Of what a search among some thousands of vectors costs, most is the call, and reading them all costs
about as much as a search for every thirty of them. Among more of them the store searches: comparing
all costs more than its call, and reading them would make the first questions pay for thousands.
"""

import asyncio
import math
from dataclasses import dataclass, field

import numpy as np
import structlog
from cachetools import LRUCache

from contracts.graph import Partition, VectorKind
from runtime.errors import Unavailable
from runtime.stores.vectors.comparison import packed
from runtime.stores.vectors.port import Vectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.vector_matrix import OVERHEAD, VectorMatrix

logger = structlog.get_logger(__name__)

KIND = ("all vectors",)

MIN_SEARCHES = 3
"""Searches of a kind before its vectors are counted."""
ROWS_PER_SEARCH = 30
"""Rows whose reading costs as much as a search: all of a kind are read after as many searches."""
MAX_ROWS = 10_000
"""Vectors of a kind that are cached at most."""
PAGE_SIZE = 250
"""Rows that are read at once; questions are answered in between."""
QUIET_SECONDS = 10.0
"""Seconds without a change after which the vectors are read again although few searches have missed
them.
"""
PAUSE_RATIO = 20
"""How many times as long as the last attempt took no further one begins because of quiet alone."""
CACHE_SHARE = 0.25
"""The share of the cache that the vectors of one kind may take."""
MAX_KINDS = 3000
"""Kinds of vectors, of all partitions, whose searches are counted."""


@dataclass
class _Misses:
    """How many searches there were since the last attempt, and how many there must be before the
    next.

    Where nothing changes, the next may also begin at `not_before`, in seconds of the cache's clock.
    """

    searches: int = 0
    due: float = field(default_factory=lambda: MIN_SEARCHES)
    not_before: float = math.inf
    was_tried: bool = False
    attempt: asyncio.Task[None] | None = None


class WholeVectors:
    """Fills a cache with all vectors of a kind.

    An attempt ends when the log says that anything has changed meanwhile, or the vectors turn out
    too many. It is made again when searches have cost as much as it did, or when nothing changes:
    constant changes never cost twice what they would without it.
    """

    def __init__(self, vectors: Vectors, cache: ProjectionCache) -> None:
        self._vectors = vectors
        self._cache = cache
        self._misses: LRUCache[tuple[Partition, VectorKind], _Misses] = LRUCache(MAX_KINDS)
        self._compared_by_store: set[Partition] = set()

    def cached(self, partition: Partition, kind: VectorKind) -> VectorMatrix | None:
        """Return all vectors of that kind if they are cached, as current as the last refresh."""
        return self._cache.cached(partition, KIND, kind)

    def are_compared_by_store(self, partition: Partition) -> bool:
        """Return whether the store has the vectors of the passages in memory itself."""
        return partition in self._compared_by_store

    def count_miss(self, partition: Partition, kind: VectorKind) -> None:
        """Count a search of the store; begin an attempt when it is due."""
        misses = self._misses.setdefault((partition, kind), _Misses())
        misses.searches += 1
        is_due = misses.searches >= misses.due or self._is_quiet(partition, misses)
        if is_due and misses.attempt is None and self._cache.is_current(partition):
            misses.attempt = asyncio.create_task(self._attempt(partition, kind, misses))

    async def renew(self, partition: Partition, kind: VectorKind) -> None:
        """Read all vectors of that kind if they are not cached and may be; of more of them have the
        store ready.

        After a change those of passages are: of an entity or relation most documents change some,
        and there are many, so that these are read again once they were searched.
        """
        if not self._cache.is_current(partition) or self.cached(partition, kind) is not None:
            return
        misses = self._misses.setdefault((partition, kind), _Misses())
        is_wanted = kind == "chunks" or misses.searches or not misses.was_tried
        is_early = misses.not_before < math.inf and self._cache.clock() < misses.not_before
        if is_early or not is_wanted:
            return
        if misses.attempt is None:
            attempt = self._attempt(partition, kind, misses, is_wanted=True)
            misses.attempt = asyncio.create_task(attempt)
        await asyncio.wait([misses.attempt])

    async def close(self) -> None:
        """Cancel running attempts."""
        attempts = [misses.attempt for misses in self._misses.values() if misses.attempt]
        for attempt in attempts:
            attempt.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)

    def _is_quiet(self, partition: Partition, misses: _Misses) -> bool:
        if self._cache.clock() < misses.not_before:
            return False
        return self._cache.unchanged_for(partition) >= QUIET_SECONDS

    async def _attempt(
        self, partition: Partition, kind: VectorKind, misses: _Misses, *, is_wanted: bool = False
    ) -> None:
        clock = self._cache.clock
        misses.was_tried = True
        try:
            existing_rows = await self._vectors.count(partition, kind)
            misses.due = max(MIN_SEARCHES, existing_rows / ROWS_PER_SEARCH)
            is_paid = misses.searches >= misses.due or self._is_quiet(partition, misses)
            is_paid |= is_wanted
            if existing_rows <= MAX_ROWS and not is_paid:
                return
            misses.searches = 0
            misses.not_before = math.inf
            if existing_rows > MAX_ROWS:
                if is_wanted and await self._vectors.warm(partition, kind):
                    self._compared_by_store.add(partition)
                return
            async with self._cache.projection_lock:
                started_at = clock()
                rows = await self._load(partition, kind)
            misses.due = max(MIN_SEARCHES, rows / ROWS_PER_SEARCH)
            if rows < math.inf:
                now = clock()
                misses.not_before = now + PAUSE_RATIO * (now - started_at)
        except Unavailable as error:
            logger.warning(
                "the vectors cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            misses.attempt = None

    async def _load(self, partition: Partition, kind: VectorKind) -> float:
        """Read and cache the vectors. Returns the rows that were read, or infinity when there are
        too many.
        """
        since = self._cache.invalidations(partition)
        dimension = self._vectors.dimension
        free_bytes = self._cache.max_bytes * CACHE_SHARE
        ids: list[str] = []
        names: list[tuple[str, ...]] = []
        pages = [packed(np.empty((0, dimension), np.float32))]
        while True:
            last_id = ids[-1] if ids else ""
            page = await self._vectors.scan_vectors(partition, kind, last_id, PAGE_SIZE)
            if not page.ids:
                break
            ids += page.ids
            names += page.names
            pages.append(packed(page.vectors))
            free_bytes -= pages[-1].nbytes + OVERHEAD * len(page.ids)
            if free_bytes < 0:
                return math.inf
            if self._cache.invalidations(partition) != since:
                return len(ids)
        matrix = VectorMatrix(ids, names, np.concatenate(pages))
        self._cache.store_unless_changed(partition, since, KIND, {kind: matrix})
        return len(ids)
