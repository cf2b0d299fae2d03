"""Entities, relations and neighbours that questions asked for before, and the numbers of the graph.

The merger's GraphMerged names all that it changed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from contracts.events import GraphMerged
from contracts.graph import Entity, Partition, Relation
from runtime.metrics.instruments import count_lookups
from runtime.stores.graph.port import Graph, Neighbourhood, Node, RelationSummary
from services.query.retrieval.caches.graph_arrays import ENTITY, RELATION, Star
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.whole_graph import WholeGraph
from services.query.retrieval.port import EntitySupports
from services.query.retrieval.ranking import Pair, RankedRelations, rank_relations

MAX_RELATIONS = 2000
"""Relations of an entity that are read of the store to be ranked: as many as it gives."""


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
        arrays = await self._whole.current(partition)
        if arrays is not None:
            names = arrays.existing(names)
        return await self._cache.get_or_read(
            partition, (ENTITY,), names, lambda absent: self._graph.entities(partition, absent)
        )

    async def relations(
        self, partition: Partition, pairs: Collection[Pair]
    ) -> dict[Pair, Relation]:
        """See `Graph.relations`."""
        return await self._cache.get_or_read(
            partition, (RELATION,), pairs, lambda absent: self._graph.relations(partition, absent)
        )

    async def ranked_relations(
        self,
        partition: Partition,
        names: Collection[str],
        *,
        limit: int,
        besides: Collection[Pair] = (),
    ) -> RankedRelations:
        """See `GraphReader.ranked_relations`."""
        if not names:
            return RankedRelations((), len({*besides}))
        arrays = await self._whole.current(partition)
        if arrays is not None:
            count_lookups("projections", hits=len(names))
            return arrays.ranked(names, limit=limit, besides=besides)
        by_name = await self._summaries(partition, names)
        summaries = [summary for group in by_name.values() for summary in group]
        keys = {summary.key for summary in summaries}
        degrees = await self._degrees(partition, {name for key in keys for name in key})
        return RankedRelations(rank_relations(summaries, degrees, limit), len(keys.union(besides)))

    async def _summaries(
        self, partition: Partition, names: Collection[str]
    ) -> dict[str, list[RelationSummary]]:
        async def read(absent_names: Collection[str]) -> dict[str, list[RelationSummary]]:
            self._whole.count_misses(partition, entities=len(absent_names))
            return await self._graph.relation_summaries(
                partition, absent_names, limit=MAX_RELATIONS
            )

        return await self._cache.get_or_read(partition, ("summaries",), names, read)

    async def _degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        return await self._cache.get_or_read(
            partition, ("degree",), names, lambda absent: self._graph.degrees(partition, absent)
        )

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        """See `Graph.nodes`."""
        return await self._nodes(partition, names, {})

    async def supports(self, partition: Partition, names: Sequence[str]) -> EntitySupports:
        """See `GraphReader.supports`."""
        arrays = await self._whole.current(partition)
        if arrays is not None:
            count_lookups("projections", hits=len(names))
            return arrays.supports(names)
        return EntitySupports.of_nodes(names, await self._nodes(partition, names, {}))

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        """See `GraphReader.neighbourhood`.

        What is cached of an entity are its own relations, apart from the nodes at their ends: a
        change of a relation is in the GraphMerged that names both of its ends, and a change of a
        node concerns no relation.
        """
        read_nodes: dict[str, Node] = {}
        before = self._cache.invalidations(partition)
        arrays = await self._whole.current(partition)
        if arrays is not None:
            stars = arrays.stars(names, limit)
        else:
            stars = await self._stars(partition, names, limit, read_nodes)
        if self._cache.invalidations(partition) != before:
            read_nodes.clear()  # they may be older than the change that was seen meanwhile
        node_names = dict.fromkeys(stars)
        for star in stars.values():
            for relation in star.relations:
                node_names |= dict.fromkeys(relation.key)
        nodes = await self._nodes(partition, list(node_names), read_nodes)
        degrees = {name: star.degree for name, star in stars.items() if name in nodes}
        return Neighbourhood(nodes, _relations_between(nodes, stars.values()), degrees)

    async def _stars(
        self,
        partition: Partition,
        names: Collection[str],
        limit: int,
        read_nodes: dict[str, Node],
    ) -> dict[str, Star]:
        """Return the relations at each of these entities as they are cached or stored, and put into
        `read_nodes` the nodes that were read with them.
        """
        self._limits.add(limit)

        async def read(absent_names: Collection[str]) -> dict[str, Star]:
            self._whole.count_misses(partition, entities=len(absent_names))
            around = await self._graph.neighbourhood(partition, absent_names, limit=limit)
            read_nodes.update(around.nodes)
            return _stars(around, limit)

        return await self._cache.get_or_read(partition, ("star", limit), names, read)

    async def _nodes(
        self, partition: Partition, names: Collection[str], read_nodes: Mapping[str, Node]
    ) -> dict[str, Node]:
        """Return nodes, of which some were read already."""
        arrays = await self._whole.current(partition)
        if arrays is not None:
            count_lookups("projections", hits=len(names))
            return arrays.nodes(names)

        async def read(absent_names: Collection[str]) -> dict[str, Node]:
            unread_names = [name for name in absent_names if name not in read_nodes]
            if not unread_names:
                return dict(read_nodes)
            self._whole.count_misses(partition, nodes=len(unread_names))
            return {**read_nodes, **await self._graph.nodes(partition, unread_names)}

        return await self._cache.get_or_read(partition, ("node",), names, read)

    async def renew(self, partition: Partition) -> None:
        """Read what has changed of a graph that is cached whole, and all of one that may be. Raises
        `Unavailable`.
        """
        await self._whole.renew(partition)

    async def close(self) -> None:
        """End what reads the graph beside the questions."""
        await self._whole.close()

    def _changed_keys(self, event: GraphMerged) -> Iterator[tuple[Any, ...]]:
        for entity in event.entities:
            yield ENTITY, entity.name
            yield "node", entity.name
            # An entity that is new has a degree from now on, and one that is gone has none.
            yield "degree", entity.name
            for limit in self._limits:
                yield "star", limit, entity.name
        for relation in event.relations:
            yield RELATION, (relation.source, relation.target)
            for name in (relation.source, relation.target):
                yield "degree", name
                yield "summaries", name
                for limit in self._limits:
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
