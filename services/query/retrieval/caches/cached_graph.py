"""Entities, relations and summaries of relations that questions asked for before.

The merger's GraphMerged names all that it changed.
"""

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Mapping
from typing import Any, TypeVar

from contracts.events import GraphMerged
from contracts.graph import Entity, Partition, Relation
from runtime.metrics.instruments import count_lookups
from runtime.stores.graph.port import Graph, Neighbourhood, Node, RelationSummary
from services.query.retrieval.caches.graph_snapshot import ENTITY, RELATION, TIES, Star
from services.query.retrieval.caches.invalidation import Kind, ProjectionCache
from services.query.retrieval.caches.whole_graph import WholeGraph

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


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
        snapshot = self._whole.snapshot(partition)
        return await self._get(
            partition,
            (ENTITY,),
            names,
            snapshot.entities(names) if snapshot else {},
            lambda absent_names: self._graph.entities(partition, absent_names),
        )

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        snapshot = self._whole.snapshot(partition)
        return await self._get(
            partition,
            (RELATION,),
            pairs,
            snapshot.relations(pairs) if snapshot else {},
            lambda absent_names: self._graph.relations(partition, absent_names),
        )

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`."""
        self._limits.add(limit)

        async def read(absent_names: Collection[str]) -> dict[str, list[RelationSummary]]:
            self._whole.count_misses(partition, entities=len(absent_names))
            return await self._graph.relation_summaries(partition, absent_names, limit=limit)

        snapshot = self._whole.snapshot(partition)
        kept_values = snapshot.summaries(names, limit) if snapshot else {}
        return await self._get(partition, ("summaries", limit), names, kept_values, read)

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """See `Graph.degrees`."""
        snapshot = self._whole.snapshot(partition)
        return await self._get(
            partition,
            ("degree",),
            names,
            snapshot.degrees(names) if snapshot else {},
            lambda absent_names: self._graph.degrees(partition, absent_names),
        )

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        """See `Graph.nodes`."""
        return await self._nodes(partition, names, {})

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
            self._whole.count_misses(partition, entities=len(absent_names))
            around = await self._graph.neighbourhood(partition, absent_names, limit=limit)
            read_nodes.update(around.nodes)
            return _stars(around, limit)

        before = self._cache.invalidations(partition)
        snapshot = self._whole.snapshot(partition)
        kept_values = snapshot.stars(names, limit) if snapshot else {}
        stars = await self._get(partition, ("star", limit), names, kept_values, read_stars)
        if self._cache.invalidations(partition) != before:
            read_nodes.clear()  # they may be older than the change that was seen meanwhile
        node_names = dict.fromkeys(stars)
        for star in stars.values():
            for relation in star.relations:
                node_names |= dict.fromkeys(relation.key)
        nodes = await self._nodes(partition, list(node_names), read_nodes)
        degrees = {name: star.degree for name, star in stars.items() if name in nodes}
        return Neighbourhood(nodes, _relations_between(nodes, stars.values()), degrees)

    async def _nodes(
        self, partition: Partition, names: Collection[str], read_nodes: Mapping[str, Node]
    ) -> dict[str, Node]:
        """Return nodes, of which some were read already."""

        async def read(absent_names: Collection[str]) -> dict[str, Node]:
            unread_names = [name for name in absent_names if name not in read_nodes]
            if not unread_names:
                return dict(read_nodes)
            self._whole.count_misses(partition, nodes=len(unread_names))
            return {**read_nodes, **await self._graph.nodes(partition, unread_names)}

        snapshot = self._whole.snapshot(partition)
        kept_values = snapshot.nodes(names) if snapshot else {}
        return await self._get(partition, ("node",), names, kept_values, read)

    async def _get(
        self,
        partition: Partition,
        kind: Kind,
        names: Collection[K],
        kept_values: Mapping[K, V | None],
        read: Callable[[Collection[K]], Awaitable[Mapping[K, V]]],
    ) -> dict[K, V]:
        """Return what the snapshot has, without None, and the rest as it is cached or read, in the
        order of `names`.
        """
        if not kept_values:
            return await self._cache.get_or_read(partition, kind, names, read)
        count_lookups("projections", hits=len(kept_values))
        values = {name: value for name, value in kept_values.items() if value is not None}
        if len(kept_values) == len(names):
            return values
        absent_names = [name for name in names if name not in kept_values]
        values |= await self._cache.get_or_read(partition, kind, absent_names, read)
        return {name: values[name] for name in names if name in values}

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
            yield TIES, entity.name
            for limit in self._limits:
                yield "star", limit, entity.name
        for relation in event.relations:
            yield RELATION, (relation.source, relation.target)
            for name in (relation.source, relation.target):
                yield "degree", name
                yield TIES, name
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
