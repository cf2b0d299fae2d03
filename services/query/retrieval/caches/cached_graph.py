"""Entities, relations and ties that questions asked for before. The merger's GraphMerged names all
that it changed.
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

    def __init__(self, graph: Graph, kept: ProjectionCache) -> None:
        self._graph, self._cache, self._whole = graph, kept, WholeGraph(graph, kept)
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

        async def read(new: Collection[str]) -> dict[str, list[RelationSummary]]:
            self._whole.missed(partition, len(new), limit)
            return await self._graph.relation_summaries(partition, new, limit=limit)

        return await self._cache.get_or_read(partition, ("ties", limit), names, read)

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """See `Graph.degrees`."""
        return await self._cache.get_or_read(
            partition, ("degree",), names, lambda new: self._graph.degrees(partition, new)
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

        async def read_stars(new: Collection[str]) -> dict[str, Star]:
            around = await self._graph.neighbourhood(partition, new, limit=limit)
            read_nodes.update(around.nodes)
            return _stars(around, limit)

        async def read_rest(new: Collection[str]) -> dict[str, Node]:
            rest = [name for name in new if name not in read_nodes]
            # Without relations a read returns the nodes themselves.
            more = (await self._graph.neighbourhood(partition, rest, limit=0)).nodes if rest else {}
            return read_nodes | more

        before = self._cache.invalidations(partition)
        stars = await self._cache.get_or_read(partition, ("star", limit), names, read_stars)
        if self._cache.invalidations(partition) != before:
            read_nodes.clear()  # they may be older than the change that was seen meanwhile
        ends = dict.fromkeys(
            [*stars, *(end for star in stars.values() for tie in star.relations for end in tie.key)]
        )
        nodes = await self._cache.get_or_read(partition, ("node",), list(ends), read_rest)
        # A node that is gone now takes its relations with it.
        once = {
            tie.key: tie
            for star in stars.values()
            for tie in star.relations
            if tie.source in nodes and tie.target in nodes
        }
        ties = sorted(once.values(), key=lambda tie: (-tie.weight, tie.source, tie.target))
        return Neighbourhood(
            nodes, ties, {name: star.degree for name, star in stars.items() if name in nodes}
        )

    async def close(self) -> None:
        """End what reads the graph beside the questions."""
        await self._whole.close()

    def _changed_keys(self, event: GraphMerged) -> Iterator[tuple[Any, ...]]:
        for entity in event.entities:
            yield "entity", entity.name
            yield "node", entity.name
            yield "degree", entity.name
            # One that was not there has a degree of its own from now on, and one that is gone has
            # none.
            yield from (("star", limit, entity.name) for limit in self._limits)
        for relation in event.relations:
            ends = (relation.source, relation.target)
            yield "relation", ends
            yield from (("degree", name) for name in ends)
            yield from (
                (kind, limit, name)
                for kind in ("ties", "star")
                for name in ends
                for limit in self._limits
            )


def _stars(around: Neighbourhood, limit: int) -> dict[str, Star]:
    """Return the star of each entity that was asked for: of several that share relations, each with
    all of its own.
    """
    ties: dict[str, list[RelationSummary]] = {name: [] for name in around.degrees}
    for tie in around.relation_summaries:
        for name in {*tie.key} & ties.keys():
            ties[name].append(tie)
    # The heaviest stand first. Further ones were read for their other end, which has fewer.
    return {
        name: Star(degree, tuple(ties[name][:limit])) for name, degree in around.degrees.items()
    }
