"""Entities, relations and summaries of relations that questions asked for before.

The merger's GraphMerged names all that it changed.
"""

from collections.abc import Collection, Iterator
from typing import Any

from contracts.events import GraphMerged
from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Graph, Neighbourhood, Node, RelationSummary
from services.query.retrieval.caches.invalidation import ProjectionCache, Star
from services.query.retrieval.caches.whole_graph import WholeGraph


class CachedGraph:
    """The port `GraphReader` over the graph store."""

    def __init__(self, graph: Graph, cache: ProjectionCache) -> None:
        self._graph = graph
        self._cache = cache
        self._whole = WholeGraph(graph, cache)
        self._limits: set[int] = set()
        """The limits that questions read relations with; each is part of the keys of entries."""
        cache.subscribe(GraphMerged.type_name(), self._changed_keys)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        return await self._cache.get_or_read(
            partition,
            ("entity",),
            names,
            lambda absent_names: self._graph.entities(partition, absent_names),
        )

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        return await self._cache.get_or_read(
            partition,
            ("relation",),
            pairs,
            lambda absent_names: self._graph.relations(partition, absent_names),
        )

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`."""
        self._limits.add(limit)

        async def read(absent_names: Collection[str]) -> dict[str, list[RelationSummary]]:
            self._whole.count_misses(partition, len(absent_names), limit)
            return await self._graph.relation_summaries(partition, absent_names, limit=limit)

        return await self._cache.get_or_read(partition, ("summaries", limit), names, read)

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """See `Graph.degrees`."""
        return await self._cache.get_or_read(
            partition,
            ("degree",),
            names,
            lambda absent_names: self._graph.degrees(partition, absent_names),
        )

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        """See `Graph.neighbourhood`.

        What is cached of an entity are its own relations, apart from the nodes at their ends: a
        change of a relation is in the GraphMerged that names both of its ends, and a change of a
        node concerns no relation.
        """
        self._limits.add(limit)
        read_nodes: dict[str, Node] = {}

        async def read_stars(absent_names: Collection[str]) -> dict[str, Star]:
            around = await self._graph.neighbourhood(partition, absent_names, limit=limit)
            read_nodes.update(around.nodes)
            return _stars(around, limit)

        async def read_other_nodes(absent_names: Collection[str]) -> dict[str, Node]:
            others = [name for name in absent_names if name not in read_nodes]
            if not others:
                return read_nodes
            # Without relations a read returns the nodes themselves.
            around = await self._graph.neighbourhood(partition, others, limit=0)
            return read_nodes | around.nodes

        before = self._cache.invalidations(partition)
        stars = await self._cache.get_or_read(partition, ("star", limit), names, read_stars)
        if self._cache.invalidations(partition) != before:
            read_nodes.clear()  # they may be older than the change that was seen meanwhile
        node_names = dict.fromkeys(stars)
        for star in stars.values():
            for relation in star.relations:
                node_names |= dict.fromkeys(relation.key)
        nodes = await self._cache.get_or_read(
            partition, ("node",), list(node_names), read_other_nodes
        )
        degrees = {name: star.degree for name, star in stars.items() if name in nodes}
        return Neighbourhood(nodes, _relations_between(nodes, stars.values()), degrees)

    async def close(self) -> None:
        """End what reads the graph beside the questions."""
        await self._whole.close()

    def _changed_keys(self, event: GraphMerged) -> Iterator[tuple[Any, ...]]:
        for entity in event.entities:
            yield "entity", entity.name
            yield "node", entity.name
            # An entity that is new has a degree from now on, and one that is gone has none.
            yield "degree", entity.name
            for limit in self._limits:
                yield "star", limit, entity.name
        for relation in event.relations:
            yield "relation", (relation.source, relation.target)
            for name in (relation.source, relation.target):
                yield "degree", name
                for limit in self._limits:
                    yield "summaries", limit, name
                    yield "star", limit, name


def _stars(around: Neighbourhood, limit: int) -> dict[str, Star]:
    """Return the star of each entity that was asked for: of several that share relations, each with
    all of its own.
    """
    relations: dict[str, list[RelationSummary]] = {name: [] for name in around.degrees}
    for relation in around.relation_summaries:
        for name in {*relation.key} & relations.keys():
            relations[name].append(relation)
    # The heaviest stand first. Further ones were read for their other end, which has fewer.
    return {
        name: Star(degree, tuple(relations[name][:limit]))
        for name, degree in around.degrees.items()
    }


def _relations_between(nodes: Collection[str], stars: Collection[Star]) -> list[RelationSummary]:
    """Return the relations of these stars, each once, the heaviest first. A node that is gone takes
    its relations with it.
    """
    by_key: dict[tuple[str, str], RelationSummary] = {}
    for star in stars:
        for relation in star.relations:
            if relation.source in nodes and relation.target in nodes:
                by_key[relation.key] = relation
    return sorted(by_key.values(), key=lambda item: (-item.weight, item.source, item.target))
