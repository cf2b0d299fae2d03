"""Caches all of a graph that fits, once questions have read a part of it one by one: no further
question reads it.

What a question of `mix` asks for differs from question to question, so that each reads a little of
the graph anew, in four requests one after another, until all of it was read. Reading it page by
page costs less than a hundred of them.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import structlog
from cachetools import LRUCache

from contracts.graph import Entity, Partition, Relation
from runtime.errors import Unavailable
from runtime.stores.graph.port import Graph, RelationSummary
from services.query.retrieval.caches.invalidation import Kind, ProjectionCache, entry_size

logger = structlog.get_logger(__name__)

MIN_MISSES = 100
"""Entities whose relations questions had to read before the whole graph is; about two questions."""
ROWS_PER_ENTITY = 8
"""Rows of the graph whose reading costs as much as a question's reading of one entity and what is
around it.
"""
PAGE_SIZE = 500
"""Rows that are read, or cached, at once; questions are answered in between."""
CACHE_SHARE = 0.5
"""The share of the cache that a graph may take."""
MAX_PARTITIONS = 1000


@dataclass
class _Misses:
    """How many entities were missed since the last attempt, and how many must have been before the
    next.
    """

    count: int = 0
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

    def count_misses(self, partition: Partition, entities: int, limit: int) -> None:
        """Count entities whose relations, at most `limit` of each, had to be read; begin an attempt
        when it is due.
        """
        misses = self._misses.setdefault(partition, _Misses())
        misses.count += entities
        is_due = misses.count >= misses.due and misses.attempt is None
        if is_due and self._cache.is_current(partition):
            misses.count = 0
            misses.attempt = asyncio.create_task(self._attempt(partition, limit, misses))

    async def close(self) -> None:
        """Cancel running attempts."""
        attempts = [misses.attempt for misses in self._misses.values() if misses.attempt]
        for attempt in attempts:
            attempt.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)

    async def _attempt(self, partition: Partition, limit: int, misses: _Misses) -> None:
        try:
            async with self._cache.projection_lock:
                rows = await self._load(partition, limit)
            misses.due = max(MIN_MISSES, rows / ROWS_PER_ENTITY)
        except Unavailable as error:
            logger.warning(
                "the graph cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            misses.attempt = None

    async def _load(self, partition: Partition, limit: int) -> float:
        """Read and cache the graph. Returns the rows that were read, or infinity when there are too
        many.
        """
        since = self._cache.invalidations(partition)
        free_bytes = self._cache.max_bytes * CACHE_SHARE
        entities: dict[str, Entity] = {}
        relations: dict[tuple[str, str], Relation] = {}
        async for page in self._pages(partition):
            for row in page:
                if isinstance(row, Entity):
                    entities[row.name] = row
                else:
                    relations[row.key] = row
                free_bytes -= entry_size(row)
            if free_bytes < 0:
                return math.inf
            if self._cache.invalidations(partition) != since:
                return len(entities) + len(relations)
        for kind, entries in _entries(entities, relations, limit):
            if not self._cache.store_unless_changed(partition, since, kind, entries):
                break
            await asyncio.sleep(0)  # questions are answered in between
        return len(entities) + len(relations)

    async def _pages(
        self, partition: Partition
    ) -> AsyncGenerator[Sequence[Entity] | Sequence[Relation]]:
        """Yield all entities, then all relations, page by page."""
        last_name = ""
        while entities := await self._graph.scan_entities(partition, last_name, PAGE_SIZE):
            yield entities
            last_name = entities[-1].name
        last_key = ("", "")
        while relations := await self._graph.scan_relations(partition, last_key, PAGE_SIZE):
            yield relations
            last_key = relations[-1].key


def _entries(
    entities: Mapping[str, Entity], relations: Mapping[tuple[str, str], Relation], limit: int
) -> Iterator[tuple[Kind, dict[Any, Any]]]:
    """Yield what `CachedGraph` would have read of all these, a page at a time."""
    summaries: dict[str, list[RelationSummary]] = {name: [] for name in entities}
    for relation in relations.values():
        summary = RelationSummary(relation.source, relation.target, relation.weight)
        for end in {*relation.key} & summaries.keys():
            summaries[end].append(summary)
    degrees: dict[str, int] = {}
    complete: dict[str, list[RelationSummary]] = {}
    for name, of_entity in summaries.items():
        degrees[name] = len(of_entity)
        # Of a hub the store gives some of its relations, which it chooses itself.
        if len(of_entity) <= limit:
            complete[name] = sorted(of_entity, key=lambda item: (-item.weight, item.key))
    entries_by_kind: dict[Kind, Mapping[Any, Any]] = {
        ("entity",): entities,
        ("relation",): relations,
        ("degree",): degrees,
        ("summaries", limit): complete,
    }
    for kind, entries in entries_by_kind.items():
        remaining = iter(entries.items())
        while page := dict(islice(remaining, PAGE_SIZE)):
            yield kind, page
