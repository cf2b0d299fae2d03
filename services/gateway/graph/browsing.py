"""Reads the neighbourhood of an entity for display. Every result is bounded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import RelationSummary
from runtime.stores.graph.write_batches import sorted_ties
from services.query.lookup.entity_names import known_name
from services.query.visibility.graph import BrowsedGraph

WHOLE_GRAPH = "*"
"""The label that stands for the whole graph."""

CANDIDATE_FACTOR = 10
"""Neighbours that are ranked by degree for each node that is wanted: an entity may have very many
neighbours.
"""

RELATIONS_PER_NODE = 10
"""Relations that are returned at most for each wanted node, the heaviest first."""


@dataclass(frozen=True)
class GraphPart:
    """A part of the graph."""

    entities: list[Entity]
    relations: list[Relation]
    is_truncated: bool
    """True when the bound cut something off."""


async def neighbourhood(
    graph: BrowsedGraph, partition: Partition, label: str, depth: int, max_nodes: int
) -> GraphPart:
    """Return the entities within `depth` steps of a name, at most `max_nodes`, and the relations
    between them.

    Nearer entities come first, at the same distance those with more relations. An unknown name has
    no neighbourhood.
    """
    if label == WHOLE_GRAPH:
        hubs = await graph.hubs(partition, limit=max_nodes + 1)
        summaries = await _relation_summaries(graph, partition, hubs[:max_nodes], max_nodes)
        return await _part_between(
            graph, partition, hubs[:max_nodes], max_nodes, {*summaries}, len(hubs) > max_nodes
        )
    chosen_names = dict.fromkeys(
        await graph.entities(partition, [await known_name(graph, partition, label)])
    )
    level = list(chosen_names)
    all_summaries = set[RelationSummary]()
    is_truncated = False
    for _ in range(depth):
        summaries = await _relation_summaries(graph, partition, level, CANDIDATE_FACTOR * max_nodes)
        all_summaries.update(summaries)
        ends = [name for name in _entity_names(summaries) if name not in chosen_names]
        degrees = await graph.degrees(partition, ends[: CANDIDATE_FACTOR * max_nodes])
        remaining = max_nodes - len(chosen_names)
        level = sorted(degrees, key=lambda name: (-degrees[name], name))[:remaining]
        chosen_names |= dict.fromkeys(level)
        is_truncated = len(ends) > remaining
        if is_truncated or not level:
            break
    all_summaries.update(await _relation_summaries(graph, partition, level, max_nodes))
    return await _part_between(
        graph, partition, list(chosen_names), max_nodes, all_summaries, is_truncated
    )


async def _relation_summaries(
    graph: BrowsedGraph, partition: Partition, names: Sequence[str], limit: int
) -> list[RelationSummary]:
    """Return the relations of these entities, each once, the heaviest first."""
    summaries = await graph.relation_summaries(partition, names, limit=limit)
    return sorted_ties(summary for group in summaries.values() for summary in group)


async def _part_between(
    graph: BrowsedGraph,
    partition: Partition,
    chosen_names: list[str],
    max_nodes: int,
    summaries: set[RelationSummary],
    is_truncated: bool,
) -> GraphPart:
    """Return these entities and those of the relations that connect two of them."""
    entities = await graph.entities(partition, chosen_names)
    inside = sorted(
        (summary for summary in summaries if entities.keys() >= {*summary.key}),
        key=lambda summary: (-summary.weight, summary.key),
    )
    relations = await graph.relations(
        partition, [summary.key for summary in islice(inside, RELATIONS_PER_NODE * max_nodes)]
    )
    return GraphPart(
        [entities[name] for name in chosen_names if name in entities],
        [relations[summary.key] for summary in inside if summary.key in relations],
        is_truncated or len(inside) > RELATIONS_PER_NODE * max_nodes,
    )


def _entity_names(summaries: Iterable[RelationSummary]) -> dict[str, None]:
    """Return the names of the entities that these relations connect, in the order of the
    relations.
    """
    return dict.fromkeys(name for summary in summaries for name in summary.key)
