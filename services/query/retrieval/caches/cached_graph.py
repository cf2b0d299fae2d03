"""Entities, relations and ties that questions asked for before. The merger's GraphMerged names all that it changed."""

from collections.abc import Collection, Iterator
from typing import Any

from contracts.events import GraphMerged
from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Graph, Neighbourhood, RelationSummary
from services.query.retrieval.caches.invalidation import ProjectionCache


class CachedGraph:
    """The port `GraphReader` over the graph store."""

    def __init__(self, graph: Graph, kept: ProjectionCache) -> None:
        self._graph, self._cache = graph, kept
        self._limits: set[int] = set()
        kept.subscribe(GraphMerged.type_name(), self._changed_keys)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        return await self._cache.get_or_read(
            partition, ("entity",), names, lambda new: self._graph.entities(partition, new)
        )

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        return await self._cache.get_or_read(
            partition, ("relation",), pairs, lambda new: self._graph.relations(partition, new)
        )

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`."""
        self._limits.add(limit)
        return await self._cache.get_or_read(
            partition, ("ties", limit), names, lambda new: self._graph.relation_summaries(partition, new, limit=limit)
        )

    async def neighbourhood(self, partition: Partition, names: Collection[str], *, limit: int) -> Neighbourhood:
        """See `Graph.neighbourhood`. Nothing of it is kept."""
        return await self._graph.neighbourhood(partition, names, limit=limit)

    def _changed_keys(self, event: GraphMerged) -> Iterator[tuple[Any, ...]]:
        for entity in event.entities:
            yield "entity", entity.name
        for relation in event.relations:
            ends = (relation.source, relation.target)
            yield "relation", ends
            yield from (("ties", limit, name) for name in ends for limit in self._limits)
