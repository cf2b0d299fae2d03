"""The shortest paths between two entities, found from both ends at once, within bounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from services.query.visibility.graph import BrowsedGraph

MAX_RELATIONS = 200
"""Relations of one entity that are followed, the heaviest first."""

MAX_ENTITIES = 500
"""Entities that are followed at once, those with the heaviest relations first."""

MAX_COMPARED = 1_000
"""Paths of which the best are chosen."""

Names = tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """Entities one after the other, and the relations between them."""

    entities: list[Entity]
    relations: list[Relation]


@dataclass(frozen=True)
class Paths:
    """The shortest paths, those whose weakest relation is the heaviest first; none if the entities
    are not connected within the bounds.
    """

    paths: list[Path]
    is_truncated: bool
    """True when there are more, or where relations were not followed that might lead to others."""


@dataclass
class _Side:
    """What is reached from one end. `steps`: how far each entity is; `nearer`: by which entities,
    one step nearer, it is reached, with the weight of the relation.
    """

    steps: dict[str, int]
    frontier: list[str]
    nearer: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    depth: int = 0
    is_truncated: bool = False

    async def go_on(self, graph: BrowsedGraph, partition: Partition) -> None:
        """Follow the relations of the frontier, one step."""
        self.depth += 1
        summaries = await graph.relation_summaries(partition, self.frontier, limit=MAX_RELATIONS)
        for name, relations in summaries.items():
            self.is_truncated |= len(relations) >= MAX_RELATIONS
            for relation in relations:
                neighbour = relation.target if relation.source == name else relation.source
                if self.steps.setdefault(neighbour, self.depth) == self.depth:
                    self.nearer.setdefault(neighbour, {})[name] = relation.weight
        outer_names = [name for name, steps in self.steps.items() if steps == self.depth]
        outer_names.sort(key=lambda name: (-max(self.nearer[name].values()), name))
        self.is_truncated |= len(outer_names) > MAX_ENTITIES
        self.frontier = outer_names[:MAX_ENTITIES]

    def ways(self, name: str) -> Iterator[tuple[Names, float]]:
        """Yield the shortest ways from an entity to this end, heavier relations first, each with
        the weight of its weakest relation.
        """
        if self.steps[name] == 0:
            yield (name,), float("inf")
            return
        nearer = self.nearer[name]
        for neighbour in sorted(nearer, key=lambda neighbour: (-nearer[neighbour], neighbour)):
            for names, weight in self.ways(neighbour):
                yield (name, *names), min(weight, nearer[neighbour])


async def shortest_paths(
    graph: BrowsedGraph,
    partition: Partition,
    source: str,
    target: str,
    *,
    max_length: int,
    limit: int,
) -> Paths:
    """Return the shortest paths between two entities that exist, of at most `max_length` relations
    each, and at most `limit`.
    """
    near = _Side({source: 0}, [source])
    far = _Side({target: 0}, [target])
    while not (meeting := near.steps.keys() & far.steps.keys()):
        if near.depth + far.depth == max_length or not (near.frontier and far.frontier):
            return Paths([], near.is_truncated or far.is_truncated)
        # The side with fewer entities to follow goes on.
        side = near if len(near.frontier) <= len(far.frontier) else far
        await side.go_on(graph, partition)
    lengths = {name: near.steps[name] + far.steps[name] for name in meeting}
    # Where the bounds cut something off, the ends may meet at several distances.
    shortest = min(lengths.values())
    middles = sorted(name for name, length in lengths.items() if length == shortest)
    chains, is_complete = _chains(near, far, middles)
    paths = await _paths(graph, partition, chains[:limit])
    is_truncated = near.is_truncated or far.is_truncated or not is_complete
    return Paths(paths, is_truncated or len(chains) > limit)


def _chains(near: _Side, far: _Side, middles: Sequence[str]) -> tuple[list[Names], bool]:
    """Return the names along each path from the near end through a middle to the far one, the best
    first, and whether these are all.
    """
    weighted_paths: list[tuple[float, Names]] = []
    for name in middles:
        for to_source, near_weight in near.ways(name):
            for to_target, far_weight in far.ways(name):
                if len(weighted_paths) == MAX_COMPARED:
                    return _heaviest_first(weighted_paths), False
                names = (*reversed(to_source), *to_target[1:])
                weighted_paths.append((min(near_weight, far_weight), names))
    return _heaviest_first(weighted_paths), True


def _heaviest_first(weighted_paths: list[tuple[float, Names]]) -> list[Names]:
    return [names for _, names in sorted(weighted_paths, key=lambda way: (-way[0], way[1]))]


async def _paths(graph: BrowsedGraph, partition: Partition, chains: Sequence[Names]) -> list[Path]:
    """Return entities and relations along these names. What is gone meanwhile is on no path."""
    keys = {names: _keys(names) for names in chains}
    entities = await graph.entities(partition, {name for names in chains for name in names})
    relations = await graph.relations(partition, {key for way in keys.values() for key in way})
    return [
        Path([entities[name] for name in names], [relations[key] for key in keys[names]])
        for names in chains
        if all(name in entities for name in names) and all(key in relations for key in keys[names])
    ]


def _keys(names: Names) -> list[tuple[str, str]]:
    return [pair(first, second) for first, second in pairwise(names)]
