"""The contract of the graph store's batches: excerpts of texts, and relations put with their
ends.
"""

import pytest

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Graph
from tests.support.graph_stores import entity, every_entity, every_relation, relation

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_excerpts_are_revisions_and_the_beginning_of_texts(
    graph: Graph, partition: Partition
) -> None:
    a = entity("a", 3, description="𝄞" * 9)
    b = entity("b", 2)
    ab = relation("a", "b", 4, description="𝄞x" * 9)
    await graph.put(
        partition,
        [a, b, Entity("gone", 1, is_gone=True)],
        [ab, relation("a", "a"), relation("b", "c")],
    )
    await graph.put(partition, [], [Relation("b", "c", 2, is_gone=True)])
    pairs = [("a", "b"), ("a", "a"), ("b", "c"), ("a", "x"), ("", "\ud800")]
    entities, relations = await graph.excerpts(
        partition, ["a", "gone", "c", "x", "\ud800"], pairs, longest=5
    )
    assert entities == {"a": Entity("a", 3, support=3, description="𝄞" * 5)}
    assert relations[("a", "b")] == Relation("a", "b", 4, keywords=ab.keywords, description="𝄞x𝄞x𝄞")
    assert relations.keys() == {("a", "b"), ("a", "a")}
    entities, relations = await graph.excerpts(partition, ["a", "b"], [], longest=0)
    assert entities == {"a": Entity("a", 3, support=3), "b": Entity("b", 2, support=2)}
    assert await graph.excerpts(partition, [], [], longest=9) == ({}, {})


async def test_many_excerpts_of_hubs_and_their_neighbours_are_read_at_once(
    graph: Graph, partition: Partition
) -> None:
    names = [f"name {n}" for n in range(1200)]
    rows = [relation("hub", name, description="文" * 3000) for name in names]
    await graph.put(partition, [entity("hub", 1200), *map(entity, names)], rows)
    entities, relations = await graph.excerpts(
        partition, names, [row.key for row in rows], longest=1200
    )
    assert entities.keys() == set(names)
    assert relations.keys() == {row.key for row in rows}
    assert {excerpt.description for excerpt in relations.values()} == {"文" * 1200}


async def test_relations_are_put_with_both_one_or_none_of_their_ends(
    graph: Graph, partition: Partition
) -> None:
    rows = [relation("a", "b"), relation("b", "c"), relation("c", "d")]
    await graph.put(partition, [entity("a"), entity("b", 5)], rows)
    assert {node.name for node in await every_entity(graph, partition)} == {"a", "b"}
    assert await graph.relations(partition, [row.key for row in rows]) == {
        row.key: row for row in rows
    }
    await graph.put(
        partition, [Entity("b", 6, is_gone=True)], [relation("b", "c", 2), relation("d", "e")]
    )
    assert await graph.relations(partition, [("b", "c")]) == {("b", "c"): relation("b", "c", 2)}
    assert len(await every_relation(graph, partition)) == 4


async def test_relations_of_an_end_that_are_looked_up_together_are_the_wanted_ones_on_either_side(
    graph: Graph, partition: Partition
) -> None:
    ends = [entity("a", 9), entity("m"), entity("y", 9), entity("z", 9)]
    rows = [
        relation("a", "m"),
        relation("m", "m"),
        relation("m", "y"),
        relation("m", "z"),
        relation("a", "z"),
    ]
    await graph.put(partition, ends, rows)
    newer_rows = [
        relation("a", "m", 3),
        relation("m", "y", 1, description="older"),
        relation("m", "z", 2),
    ]
    await graph.put(partition, ends, newer_rows)
    pairs = [("a", "m"), ("m", "m"), ("m", "z"), ("m", "x")]
    _, relations = await graph.excerpts(partition, [], pairs, longest=0)
    assert {key: excerpt.revision for key, excerpt in relations.items()} == {
        ("a", "m"): 3,
        ("m", "m"): 1,
        ("m", "z"): 2,
    }
    assert {tie.key: tie for tie in await every_relation(graph, partition)} == {
        row.key: row for row in [newer_rows[0], rows[1], rows[2], newer_rows[2], rows[4]]
    }
