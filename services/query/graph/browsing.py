"""The graph for people who look at it: names, and the part of it around a name. Every answer is bounded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Graph, RelationSummary
from runtime.stores.graph.write_batches import sorted_ties

ALL = "*"
"""The name that stands for the whole graph."""

CANDIDATES = 10
"""Of so many times the wanted nodes those with the most relations are chosen: a hub has a great many neighbours."""

EDGES = 10
"""Relations for each wanted node that are given at most, the heaviest first."""


@dataclass(frozen=True)
class Part:
    """A part of the graph."""

    entities: list[Entity]
    relations: list[Relation]
    is_truncated: bool
    """Whether there is more in what was asked for."""


async def names(graph: Graph, space: Partition) -> list[str]:
    """All names, sorted."""
    found: list[str] = []
    while page := await graph.scan_names(space, found[-1] if found else ""):
        found += [name for name, _ in page]
    return sorted(found)


async def search(graph: Graph, space: Partition, text: str, limit: int) -> list[str]:
    """The names that hold a text, in any case: first the very name, then those that begin with it, then the shorter."""
    wanted = text.strip().casefold()
    if not wanted:
        return []
    scored = ((-score, name) for name in await names(graph, space) if (score := likeness(wanted, name.casefold())))
    return [name for _, name in nsmallest(limit, scored)]


def likeness(wanted: str, name: str) -> int:
    """How well a name fits, 0 for not at all (LightRAG's weights)."""
    place = name.find(wanted)
    if place < 0:
        return 0
    if name == wanted:
        return 1000
    if place == 0:
        return 500
    return max(1, 100 - len(name)) + 50 * (f" {wanted}" in name or f"_{wanted}" in name)


async def around(graph: Graph, space: Partition, label: str, depth: int, most: int) -> Part:
    """The entities within so many steps of a name, at most `most`, and the relations between them.

    Nearer ones come first, of equally near ones those with more relations. An unknown name has nothing around it.
    """
    if label == ALL:
        hubs = await graph.hubs(space, limit=most + 1)
        ties = await _ties(graph, space, hubs[:most], most)
        return await _between(graph, space, hubs[:most], most, {*ties}, len(hubs) > most)
    chosen = dict.fromkeys(await graph.entities(space, [label]))
    level, read, truncated = list(chosen), set[RelationSummary](), False
    for _ in range(depth):
        ties = await _ties(graph, space, level, CANDIDATES * most)
        read.update(ties)
        ends = [name for name in _ends(ties) if name not in chosen]
        degrees = await graph.degrees(space, ends[: CANDIDATES * most])
        room = most - len(chosen)
        level = sorted(degrees, key=lambda name: (-degrees[name], name))[:room]
        chosen |= dict.fromkeys(level)
        truncated = len(ends) > room
        if truncated or not level:
            break
    read.update(await _ties(graph, space, level, most))
    return await _between(graph, space, list(chosen), most, read, truncated)


async def _ties(graph: Graph, space: Partition, names: Sequence[str], limit: int) -> list[RelationSummary]:
    """The relations at any of these entities, each once, heaviest first."""
    found = await graph.relation_summaries(space, names, limit=limit)
    return sorted_ties(tie for some in found.values() for tie in some)


async def _between(
    graph: Graph, space: Partition, chosen: list[str], most: int, ties: set[RelationSummary], truncated: bool
) -> Part:
    """These entities and the relations between any two of them, out of these ties."""
    found = await graph.entities(space, chosen)
    inside = sorted((tie for tie in ties if found.keys() >= {*tie.key}), key=lambda tie: (-tie.weight, tie.key))
    relations = await graph.relations(space, [tie.key for tie in islice(inside, EDGES * most)])
    return Part(
        [found[name] for name in chosen if name in found],
        [relations[tie.key] for tie in inside if tie.key in relations],
        truncated or len(inside) > EDGES * most,
    )


def _ends(ties: Iterable[RelationSummary]) -> dict[str, None]:
    """The names at these ties, those of the heaviest first."""
    return dict.fromkeys(name for tie in ties for name in tie.key)
