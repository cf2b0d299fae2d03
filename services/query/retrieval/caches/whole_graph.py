"""Caches all of a graph that fits, once questions have read a part of it one by one: no further
question reads it.

What a question of `mix` asks for differs from question to question, so that each reads a little of
the graph anew, in four requests one after another, until all of it was read. Reading it page by
page costs less than a hundred of them.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import structlog
from cachetools import LRUCache

from contracts.graph import Entity, Partition, Relation
from runtime.errors import Unavailable
from runtime.stores.graph.port import Graph, RelationSummary
from services.query.retrieval.caches.invalidation import Kind, ProjectionCache, entry_size

logger = structlog.get_logger(__name__)

T = TypeVar("T", Entity, Relation)

FIRST = 100
"""Entities whose relations questions had to read before the whole graph is; about two questions."""
ROWS_AN_ENTITY = 8
"""Rows of the graph whose reading costs as much as a question's reading of one entity and what is
around it.
"""
PAGE = 500
"""Rows that are read, or cached, at once; questions are answered in between."""
SHARE = 2
"""A graph may take this part of the cache: a half."""
MOST_PARTITIONS = 1000


@dataclass
class _Reading:
    """How many entities were missed since the last attempt, and how many must have been before the
    next.
    """

    missed: int = 0
    due: float = field(default_factory=lambda: FIRST)
    task: asyncio.Task[None] | None = None


class WholeGraph:
    """Fills a cache with whole graphs.

    An attempt ends when the log says that anything has changed meanwhile, or the graph turns out
    too large. It is made again when questions have missed as much as it cost: together they never
    cost twice what they would without it.
    """

    def __init__(self, graph: Graph, cache: ProjectionCache) -> None:
        self._graph, self._cache = graph, cache
        self._readings: LRUCache[Partition, _Reading] = LRUCache(MOST_PARTITIONS)

    def missed(self, partition: Partition, entities: int, limit: int) -> None:
        """Note that the relations of so many entities, at most `limit` of each, had to be read."""
        reading = self._readings.setdefault(partition, _Reading())
        reading.missed += entities
        if (
            reading.missed >= reading.due
            and reading.task is None
            and self._cache.is_current(partition)
        ):
            reading.missed = 0
            reading.task = asyncio.create_task(self._attempt(partition, limit, reading))

    async def close(self) -> None:
        """Cancel what is being read."""
        tasks = [reading.task for reading in self._readings.values() if reading.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _attempt(self, partition: Partition, limit: int, reading: _Reading) -> None:
        try:
            async with self._cache.one_reader:
                reading.due = max(FIRST, await self._load(partition, limit) / ROWS_AN_ENTITY)
        except Unavailable as error:
            logger.warning(
                "the graph cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            reading.task = None

    async def _load(self, partition: Partition, limit: int) -> float:
        """Read and cache the graph. Returns the rows that were read, or infinity when there are too
        many.
        """
        since, room = self._cache.invalidations(partition), self._cache.most / SHARE
        entities: dict[str, Entity] = {}
        relations: dict[tuple[str, str], Relation] = {}

        def is_over(page: list[Entity] | list[Relation]) -> bool:
            nonlocal room
            room -= sum(map(entry_size, page))
            return room < 0 or self._cache.invalidations(partition) != since

        async for page in _pages(
            lambda after: self._graph.scan_entities(partition, after, PAGE), _name, ""
        ):
            entities.update((one.name, one) for one in page)
            if is_over(page):
                return len(entities) if room >= 0 else math.inf
        async for page in _pages(
            lambda after: self._graph.scan_relations(partition, after, PAGE), _key, ("", "")
        ):
            relations.update((one.key, one) for one in page)
            if is_over(page):
                return len(entities) + len(relations) if room >= 0 else math.inf
        for kind, entries in _entries(entities, relations, limit):
            if not self._cache.store_unless_changed(partition, since, kind, entries):
                break
            await asyncio.sleep(0)
        return len(entities) + len(relations)


def _name(entity: Entity) -> str:
    return entity.name


def _key(relation: Relation) -> tuple[str, str]:
    return relation.key


async def _pages(
    read: Callable[[Any], Awaitable[list[T]]], place: Callable[[T], Any], after: Any
) -> AsyncGenerator[list[T]]:
    while page := await read(after):
        yield page
        after = place(page[-1])


def _entries(
    entities: Mapping[str, Entity], relations: Mapping[tuple[str, str], Relation], limit: int
) -> Iterator[tuple[Kind, dict[Any, Any]]]:
    """Yield what `CachedGraph` would have read of all these, some at a time."""
    ties: dict[str, list[RelationSummary]] = {name: [] for name in entities}
    for relation in relations.values():
        tie = RelationSummary(relation.source, relation.target, relation.weight)
        for end in {*relation.key} & ties.keys():
            ties[end].append(tie)
    for some in ties.values():
        some.sort(key=lambda tie: (-tie.weight, tie.key))
    every: dict[Kind, Mapping[Any, Any]] = {
        ("entity",): entities,
        ("relation",): relations,
        ("degree",): {name: len(some) for name, some in ties.items()},
        # Of a hub the store gives some of its relations, which it chooses itself.
        ("ties", limit): {name: some for name, some in ties.items() if len(some) <= limit},
    }
    for kind, entries in every.items():
        left = iter(entries.items())
        while some := dict(islice(left, PAGE)):
            yield kind, some
