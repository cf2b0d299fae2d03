"""The contract of the graph store about ties and neighbourhoods: by weight, and bounded."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from runtime.stores.graph.port import MOST_SOURCES, Graph, Neighbourhood, Node, RelationSummary
from tests.support.graph_stores import (
    entity,
    relation,
    seconds,
    tie,
    ties,
)
from tests.support.partitions import fresh_partition

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_ties_are_the_relations_in_short(graph: Graph, partition: Partition) -> None:
    heaviest = [relation("hub", f"spoke {number}", weight=9.0 - number) for number in range(5)]
    tombstone = Relation("hub", "spoke 9", 1, is_gone=True)
    await graph.put(
        partition, [entity("hub")], [*heaviest, tombstone, relation("a", "spoke 1", weight=20.0)]
    )
    hub = list(map(tie, heaviest))
    assert await ties(graph, partition, ["hub"], 9) == hub
    assert await ties(graph, partition, ["hub"], 2) == hub[:2]
    assert await ties(graph, partition, ["hub", "spoke 1"], 9) == [
        RelationSummary("a", "spoke 1", 20.0),
        *hub,
    ]
    by_name = await graph.relation_summaries(partition, ["hub", "spoke 1", "missing"], limit=2)
    assert by_name == {"hub": hub[:2], "spoke 1": [RelationSummary("a", "spoke 1", 20.0), hub[1]]}
    assert (
        await graph.relation_summaries(partition, [], limit=9)
        == await graph.relation_summaries(partition, ["hub"], limit=0)
        == {}
    )


async def test_ties_come_once_heaviest_first_and_at_most_so_many_per_entity(
    graph: Graph, partition: Partition
) -> None:
    spokes = [relation("hub", f"spoke {n}", weight=float(n % 3)) for n in range(9)]
    tips = [relation("spoke 0", f"tip {n}", weight=n + 1.0) for n in range(2)]
    await graph.put(partition, [], [*spokes, *tips])
    heaviest = [tie(r) for r in sorted(spokes, key=lambda r: (-r.weight, r.key))]
    assert await ties(graph, partition, ["hub"], 4) == heaviest[:4]
    assert await ties(graph, partition, ["hub", "spoke 2", "missing"], 9) == heaviest
    assert set(await ties(graph, partition, ["hub", "spoke 0"], 2)) == {
        *heaviest[:2],
        *map(tie, tips),
    }
    await graph.put(partition, [], [relation("m", end, weight=1.0) for end in "xazby"])
    by_names = [("a", "m"), ("b", "m"), ("m", "x"), ("m", "y"), ("m", "z")]
    assert [result.key for result in await ties(graph, partition, ["m"], 3)] == by_names[:3]
    assert [result.key for result in await ties(graph, partition, ["m"], 9)] == by_names


async def test_hubs_are_read_bounded_and_written_without_walking_them(
    graph: Graph, partition: Partition
) -> None:
    """Two hubs, at the lesser and at the greater end. Walking their relations would take 40 times
    as long.
    """
    middle = [f"middle {n:04d}" for n in range(1500)]
    rows = [
        relation(hub, name, weight=float(n))
        for hub in ("a hub", "z hub")
        for n, name in enumerate(middle)
    ]
    chain = [relation(*ends) for ends in pairwise(middle[:1001])]
    await graph.put(partition, [entity("a hub"), entity("z hub")], [*rows, *chain])
    chain_seconds = await seconds(
        graph.put(partition, [], [replace(row, revision=2) for row in chain])
    )
    again = [replace(row, revision=2) for row in rows]
    for part in (again[:1000], again[1500:2500]):
        assert await seconds(graph.put(partition, [], part)) < 10 * chain_seconds + 1.0
    await graph.put(
        partition, [], [*again, *(Relation(*row.key, 3, is_gone=True) for row in chain)]
    )
    assert await graph.degrees(partition, ["a hub", "z hub"]) == {"a hub": 1500, "z hub": 1500}
    assert len(await ties(graph, partition, ["a hub", "z hub"], 50)) == 100
    assert len(await graph.relations(partition, [row.key for row in rows])) == 3000


async def test_a_neighbourhood_has_the_asked_their_ties_and_the_other_ends_without_texts(
    graph: Graph, partition: Partition
) -> None:
    chunk_ids = tuple(f"chunk {n:02d}" for n in range(30))
    await graph.put(
        partition,
        [
            entity("a", source_ids=chunk_ids, file_paths=chunk_ids),
            entity("b"),
            entity("c"),
            entity("alone"),
        ],
        [
            relation("a", "b", weight=2.0, source_ids=chunk_ids),
            relation("b", "c"),
            relation("a", "nobody", weight=9.0),
        ],
    )
    around = await graph.neighbourhood(partition, ["a", "alone", "missing"], limit=9)
    assert around.degrees == {"a": 2, "alone": 0}
    assert around.nodes == {
        "a": Node("a", "type 1", chunk_ids[:MOST_SOURCES], 1),
        "b": Node("b", "type 1", ("chunk-1", "chunk-0"), 1),
        "alone": Node("alone", "type 1", ("chunk-1", "chunk-0"), 1),
    }
    assert around.relation_summaries == [
        RelationSummary("a", "b", 2.0, ("a", "keyword 1"), chunk_ids[:MOST_SOURCES])
    ]
    alone = await graph.nodes(partition, ["a", "alone", "missing", "nobody"])
    assert alone == {name: around.nodes[name] for name in ("a", "alone")}
    neighbourhood = await graph.neighbourhood(partition, ["a", "b"], limit=9)
    assert [(tie.source, tie.target) for tie in neighbourhood.relation_summaries] == [
        ("a", "b"),
        ("b", "c"),
    ]
    assert set(neighbourhood.nodes) == {"a", "b", "c"}
    await graph.put(
        partition, [Entity("a", 2, is_gone=True)], [Relation("b", "c", 2, is_gone=True)]
    )
    neighbourhood_left = await graph.neighbourhood(partition, ["a", "b"], limit=9)
    assert (
        set(neighbourhood_left.nodes),
        neighbourhood_left.relation_summaries,
        neighbourhood_left.degrees,
    ) == ({"b"}, [], {"b": 1})
    assert await graph.neighbourhood(partition, [], limit=9) == Neighbourhood({}, [], {})


async def test_the_neighbourhood_of_a_hub_is_bounded_and_says_how_much_there_is(
    graph: Graph, partition: Partition
) -> None:
    spokes = [f"spoke {n:05d}" for n in range(3_000)]
    await graph.put(
        partition, [], [relation("hub", name, weight=float(n)) for n, name in enumerate(spokes)]
    )
    await graph.put(partition, [entity("hub"), *map(entity, spokes)], [])
    around = await graph.neighbourhood(partition, ["hub"], limit=50)
    assert around.degrees == {"hub": 3_000}
    assert [tie.target for tie in around.relation_summaries] == spokes[:-51:-1]
    assert set(around.nodes) == {"hub", *spokes[-50:]}
    assert len((await graph.neighbourhood(partition, ["hub"], limit=0)).relation_summaries) == 0


async def test_hubs_are_the_entities_with_the_most_relations_then_by_name(
    graph: Graph, partition: Partition
) -> None:
    rows = [relation("hub", f"spoke {n}") for n in range(9)] + [
        relation("second", "spoke 3"),
        relation("second", "z"),
    ]
    await graph.put(
        partition, [entity(name) for name in ("hub", "second", "lone", "odd", "z")], rows
    )
    await graph.put(partition, [entity(f"spoke {n}") for n in range(9)], [])
    await graph.put(
        partition,
        [Entity("odd", 2, is_gone=True)],
        [Relation(*pair("second", "z"), 2, is_gone=True)],
    )
    assert await graph.hubs(partition, limit=4) == ["hub", "spoke 3", "second", "spoke 0"]
    assert (await graph.hubs(partition, limit=99))[-2:] == ["lone", "z"]
    assert (
        await graph.hubs(partition, limit=0) == await graph.hubs(fresh_partition(), limit=9) == []
    )


async def test_hubs_are_those_of_the_relations_that_stand_however_they_came(
    graph: Graph, partition: Partition
) -> None:
    """Relations come, go, come back and stay; entities go with relations at them."""
    chance = random.Random(11)
    names = [f"n{number:02d}" for number in range(40)]
    # Those in front have more relations.
    pairs = sorted({pair(names[chance.randrange(1 + n % 40)], names[n % 40]) for n in range(600)})
    is_gone = dict.fromkeys(pairs, False)
    await graph.put(partition, [entity(name) for name in names], [relation(*end) for end in pairs])
    for revision in range(2, 6):
        changed_pairs = chance.sample(pairs, len(pairs) // 2)
        is_gone |= {end: chance.random() < 0.4 for end in changed_pairs}
        rows = [Relation(*end, revision, is_gone=is_gone[end]) for end in changed_pairs]
        await graph.put(partition, [], rows)
        await graph.put(partition, [], rows)
        await graph.put(partition, [], [Relation(*end, 1, is_gone=True) for end in pairs[:9]])
    await graph.put(partition, [Entity("n01", 9, is_gone=True)], [])
    standing_pairs = [end for end in pairs if not is_gone[end]]
    degrees = {name: sum(name in end for end in standing_pairs) for name in names if name != "n01"}
    expected_names = sorted(degrees, key=lambda name: (-degrees[name], name))
    assert degrees[expected_names[2]] >= 8
    for limit in (1, 3, 9, len(expected_names)):
        assert await graph.hubs(partition, limit=limit) == expected_names[:limit]
    assert await graph.degrees(partition, expected_names) == degrees
    await graph.drop(partition)
    assert await graph.hubs(partition, limit=9) == []
