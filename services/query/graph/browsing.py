"""Reads the graph for display: entity names, and the neighbourhood of an entity. Every result is bounded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Graph, RelationSummary
from runtime.stores.graph.write_batches import sorted_ties

WHOLE_GRAPH = "*"
"""The label that stands for the whole graph."""

CANDIDATE_FACTOR = 10
"""Neighbours that are ranked by degree for each node that is wanted: an entity may have very many neighbours."""

RELATIONS_PER_NODE = 10
"""Relations that are returned at most for each wanted node, the heaviest first."""


@dataclass(frozen=True)
class GraphPart:
    """A part of the graph."""

    entities: list[Entity]
    relations: list[Relation]
    is_truncated: bool
    """True when the bound cut something off."""


async def names(graph: Graph, partition: Partition) -> list[str]:
    """Return the names of all entities, sorted."""
    found: list[str] = []
    while page := await graph.scan_names(partition, found[-1] if found else ""):
        found += [name for name, _ in page]
    return sorted(found)


async def search(graph: Graph, partition: Partition, text: str, limit: int) -> list[str]:
    """Return names that contain a text, ignoring case: an equal name first, then those with that prefix, then shorter
    ones.
    """
    wanted = text.strip().casefold()
    if not wanted:
        return []
    scored = (
        (-score, name) for name in await names(graph, partition) if (score := match_score(wanted, name.casefold()))
    )
    return [name for _, name in nsmallest(limit, scored)]


def match_score(wanted: str, name: str) -> int:
    """Return how well a name matches, with LightRAG's weights; 0 for no match."""
    place = name.find(wanted)
    if place < 0:
        return 0
    if name == wanted:
        return 1000
    if place == 0:
        return 500
    return max(1, 100 - len(name)) + 50 * (f" {wanted}" in name or f"_{wanted}" in name)


async def neighbourhood(graph: Graph, partition: Partition, label: str, depth: int, most: int) -> GraphPart:
    """Return the entities within `depth` steps of a name, at most `most`, and the relations between them.

    Nearer entities come first, at the same distance those with more relations. An unknown name has no neighbourhood.
    """
    if label == WHOLE_GRAPH:
        hubs = await graph.hubs(partition, limit=most + 1)
        ties = await _ties(graph, partition, hubs[:most], most)
        return await _part_between(graph, partition, hubs[:most], most, {*ties}, len(hubs) > most)
    chosen = dict.fromkeys(await graph.entities(partition, [label]))
    level, read, truncated = list(chosen), set[RelationSummary](), False
    for _ in range(depth):
        ties = await _ties(graph, partition, level, CANDIDATE_FACTOR * most)
        read.update(ties)
        ends = [name for name in _ends(ties) if name not in chosen]
        degrees = await graph.degrees(partition, ends[: CANDIDATE_FACTOR * most])
        room = most - len(chosen)
        level = sorted(degrees, key=lambda name: (-degrees[name], name))[:room]
        chosen |= dict.fromkeys(level)
        truncated = len(ends) > room
        if truncated or not level:
            break
    read.update(await _ties(graph, partition, level, most))
    return await _part_between(graph, partition, list(chosen), most, read, truncated)


async def _ties(graph: Graph, partition: Partition, names: Sequence[str], limit: int) -> list[RelationSummary]:
    """The relations at any of these entities, each once, heaviest first."""
    found = await graph.relation_summaries(partition, names, limit=limit)
    return sorted_ties(tie for some in found.values() for tie in some)


async def _part_between(
    graph: Graph, partition: Partition, chosen: list[str], most: int, ties: set[RelationSummary], truncated: bool
) -> GraphPart:
    """These entities and the relations between any two of them, out of these ties."""
    found = await graph.entities(partition, chosen)
    inside = sorted((tie for tie in ties if found.keys() >= {*tie.key}), key=lambda tie: (-tie.weight, tie.key))
    relations = await graph.relations(partition, [tie.key for tie in islice(inside, RELATIONS_PER_NODE * most)])
    return GraphPart(
        [found[name] for name in chosen if name in found],
        [relations[tie.key] for tie in inside if tie.key in relations],
        truncated or len(inside) > RELATIONS_PER_NODE * most,
    )


def _ends(ties: Iterable[RelationSummary]) -> dict[str, None]:
    """The names at these ties, those of the heaviest first."""
    return dict.fromkeys(name for tie in ties for name in tie.key)
