"""The graph that a viewer sees, as if there were no documents but those it sees."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from contracts.graph import Entity, Partition, Provenance, Relation
from contracts.ids import pair
from knowledge.contributions import Key
from runtime.stores.graph.port import Graph, RelationSummary
from services.query.visibility.contributions import Contributions
from services.query.visibility.port import Visibility
from services.query.visibility.restricted_items import RestrictedItems
from services.query.visibility.viewer import Viewer

T = TypeVar("T", Entity, Relation)

HUB_FACTOR = 4
"""How many times more hubs are read than are wanted, because some of them are hidden."""

MAX_RELATIONS = 2000
"""Relations of an entity that are looked at: as many as the store gives."""


class BrowsedGraph(Protocol):
    """What people who look at a graph ask of `Graph`; see there."""

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        ...

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        ...

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`."""
        ...

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """See `Graph.degrees`."""
        ...

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        """See `Graph.hubs`."""
        ...

    async def scan_names(
        self, partition: Partition, after: str = "", *, containing: str = ""
    ) -> list[tuple[str, str]]:
        """See `Graph.scan_names`."""
        ...


@dataclass(frozen=True)
class RestrictedGraph:
    """`BrowsedGraph` of what these documents say. Relations are read whole to know who says them,
    so it reads more than the graph itself.

    `items`: what was restricted before, of the same state of the graph or of a present one.
    """

    graph: Graph
    contributions: Contributions
    documents: frozenset[str]
    items: RestrictedItems = field(default_factory=RestrictedItems)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        entities = await self.graph.entities(partition, names)
        visible_items = await self.items.restrict(
            list(entities.values()), self.documents, partition, self.contributions
        )
        return {entity.name: entity for entity in visible_items}

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        relations = await self.graph.relations(partition, pairs)
        visible_items = await self.items.restrict(
            list(relations.values()), self.documents, partition, self.contributions
        )
        return {relation.key: relation for relation in visible_items}

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph.relation_summaries`. Both ends are seen, too."""
        by_name = await self.graph.relation_summaries(partition, names, limit=MAX_RELATIONS)
        keys = {summary.key for group in by_name.values() for summary in group}
        weights = await self._weights(await self.graph.relations(partition, keys), partition)
        ends = {name for key in weights for name in key}
        visible_names = await self._weights(
            await self.graph.entities(partition, ends.union(by_name)), partition
        )
        summaries: dict[str, list[RelationSummary]] = {}
        for name, group in by_name.items():
            if (name,) in visible_names:
                summaries_at_name = [
                    RelationSummary(*summary.key, weights[summary.key])
                    for summary in group
                    if summary.key in weights
                    and all((end,) in visible_names for end in summary.key)
                ]
                summaries_at_name.sort(key=lambda summary: (-summary.weight, summary.key))
                summaries[name] = summaries_at_name[:limit]
        return summaries

    async def _weights(self, items: Mapping[Any, T], partition: Partition) -> dict[Key, float]:
        return await self.items.weights(
            list(items.values()), self.documents, partition, self.contributions
        )

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """See `Graph.degrees`."""
        summaries = await self.relation_summaries(partition, names, limit=MAX_RELATIONS)
        return {name: len(group) for name, group in summaries.items()}

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        """See `Graph.hubs`: of those that have most relations in all."""
        names = await self.graph.hubs(partition, limit=HUB_FACTOR * limit)
        degrees = await self.degrees(partition, names)
        return sorted(degrees, key=lambda name: (-degrees[name], name))[:limit]

    async def scan_names(
        self, partition: Partition, after: str = "", *, containing: str = ""
    ) -> list[tuple[str, str]]:
        """See `Graph.scan_names`."""
        while page := await self.graph.scan_names(partition, after, containing=containing):
            visible_items = await self.entities(partition, [name for name, _ in page])
            if visible_items:
                return [
                    (name, visible_items[name].type) for name, _ in page if name in visible_items
                ]
            after = page[-1][0]
        return []


@dataclass(frozen=True)
class RestrictedContributions:
    """`Contributions` to what is seen of a graph, by the documents that are seen."""

    graph: RestrictedGraph

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """See `ProvenanceReader.of`."""
        visible_items = (
            await self.graph.entities(partition, names)
            if len(names) == 1
            else await self.graph.relations(partition, [pair(*names)])
        )
        contributions: list[Provenance] = []
        while visible_items and len(contributions) < limit:
            page = await self.graph.contributions.of(
                partition, names, after=after, limit=limit, among=among
            )
            contributions += [
                source for source in page if source.document_id in self.graph.documents
            ]
            if len(page) < limit:
                break
            after = page[-1].cursor
        return contributions[:limit]


async def graph_seen_by(
    viewer: Viewer | None,
    graph: Graph,
    contributions: Contributions,
    visibility: Visibility,
    workspace: str,
    items: RestrictedItems | None = None,
) -> BrowsedGraph:
    """Return the graph that the viewer sees; for None all of it. `items`: what others that see the
    same have been shown of the present graph.
    """
    if viewer is None:
        return graph
    visible = await visibility.of(workspace, viewer)
    return RestrictedGraph(graph, contributions, visible.ids, items or RestrictedItems())
