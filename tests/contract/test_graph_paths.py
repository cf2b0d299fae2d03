"""The shortest paths between two entities are the same on every graph store."""

import random
from collections import defaultdict

import pytest

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from runtime.stores.graph.port import Graph
from services.query.lookup.paths import MAX_RELATIONS, Paths, shortest_paths
from tests.support.graph_stores import entity, relation

pytestmark = pytest.mark.asyncio(loop_scope="module")

Pair = tuple[str, str]


def names(paths: Paths) -> list[tuple[str, ...]]:
    return [tuple(entity.name for entity in path.entities) for path in paths.paths]


def every_shortest_path(pairs: set[Pair], source: str, target: str) -> set[tuple[str, ...]]:
    """The plainest search there is: all paths of one more step, until some arrive."""
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for first, second in pairs:
        beside[first].add(second)
        beside[second].add(first)
    paths = {(source,)}
    for _ in range(4):
        paths = {(*path, name) for path in paths for name in beside[path[-1]] - {*path}}
        if arrived := {path for path in paths if path[-1] == target}:
            return arrived
    return set()


async def test_all_shortest_paths_of_a_random_graph_are_found(
    graph: Graph, partition: Partition
) -> None:
    chance = random.Random(11)
    everybody = [f"Näme {number}" for number in range(40)]
    pairs = {pair(*chance.sample(everybody, 2)) for _ in range(60)}
    await graph.put(partition, [entity(name) for name in everybody], [relation(*p) for p in pairs])
    lengths: set[int] = set()
    for _ in range(40):
        source, target = chance.sample(everybody, 2)
        paths = await shortest_paths(graph, partition, source, target, max_length=4, limit=1000)
        expected_paths = every_shortest_path(pairs, source, target)
        assert set(names(paths)) == expected_paths, (source, target)
        assert len(paths.paths) == len(expected_paths) and not paths.is_truncated
        for path in paths.paths:
            lengths.add(len(path.relations))
            ends = zip(path.entities, path.entities[1:], strict=False)
            assert [relation.key for relation in path.relations] == [
                pair(first.name, second.name) for first, second in ends
            ]
            assert all(relation.description for relation in path.relations)
    assert lengths >= {1, 2, 3}


async def test_the_path_whose_weakest_relation_is_heaviest_comes_first(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(
        partition,
        [entity(name) for name in ("a", "b", "heavy", "light", "gone")],
        [
            relation("a", "heavy", weight=5.0),
            relation("b", "heavy", weight=4.0),
            relation("a", "light", weight=9.0),
            relation("b", "light", weight=1.0),
            relation("a", "gone", weight=9.0),
            relation("b", "gone", weight=9.0),
        ],
    )
    await graph.put(
        partition,
        [Entity("gone", 2, is_gone=True)],
        [Relation("a", "gone", 2, is_gone=True), Relation("b", "gone", 2, is_gone=True)],
    )
    paths = await shortest_paths(graph, partition, "a", "b", max_length=3, limit=5)
    assert names(paths) == [("a", "heavy", "b"), ("a", "light", "b")]
    first = await shortest_paths(graph, partition, "a", "b", max_length=3, limit=1)
    assert names(first) == [("a", "heavy", "b")] and first.is_truncated
    none = await shortest_paths(graph, partition, "a", "b", max_length=1, limit=1)
    assert (none.paths, none.is_truncated) == ([], False)


async def test_two_leaves_of_a_hub_are_connected_through_it(
    graph: Graph, partition: Partition
) -> None:
    leaves = [f"leaf {number:04d}" for number in range(MAX_RELATIONS + 50)]
    await graph.put(
        partition,
        [entity(name) for name in ("hub", *leaves)],
        [relation("hub", leaf, weight=float(number)) for number, leaf in enumerate(leaves)],
    )
    paths = await shortest_paths(graph, partition, leaves[0], leaves[1], max_length=4, limit=5)
    assert names(paths) == [(leaves[0], "hub", leaves[1])]
