"""The contract of the graph store, held by every adapter: in memory, on ArcadeDB, on a real Neo4j
server.
"""

import asyncio
import random
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import pytest

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from runtime.errors import Poison
from runtime.stores.graph.port import MOST_SOURCES, Graph, Neighbourhood, Node, RelationSummary
from runtime.stores.graph.write_batches import sorted_ties
from tests.support.graph_stores import (
    GraphStore,
    entity,
    every_entity,
    every_relation,
    fresh_partition,
    relation,
    seconds,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ODD_NAMES = (
    "中文实体",
    "日本語 の 名前",
    'it\'s "quoted"',
    "back\\slash\\",
    "`tick`",
    "👩‍🔬 and 🧬",
    "line\nbreak\ttab",
    "{}",
    "${name}",
    "x`}) DETACH DELETE n //",
    "'}) MATCH (n) DETACH DELETE n RETURN ('",
    "' OR 1=1 --",
    "null",
    "true",
    "1",
    "01",
    "-1.5",
    " ",
    " padded ",
    "a\x00b",
    "A",
    "a",
    "é",
    "e\u0301",
    "名" * 1700,
    "x" * 5000,
    "x" * 4999 + "y",
)


def tie(relation: Relation) -> RelationSummary:
    """The relation in short."""
    return RelationSummary(relation.source, relation.target, relation.weight)


async def ties(
    graph: Graph, partition: Partition, names: Collection[str], limit: int
) -> list[RelationSummary]:
    """Those of all the names, each once."""
    result = await graph.relation_summaries(partition, names, limit=limit)
    return sorted_ties(tie for summaries in result.values() for tie in summaries)


async def test_what_was_put_is_read_with_every_field(graph: Graph, partition: Partition) -> None:
    a = entity("a")
    b = entity("b", source_ids=(), file_paths=())
    ab = relation("a", "b", keywords=())
    await graph.put(partition, [a, b], [ab])
    assert await graph.entities(partition, ["a", "b", "missing"]) == {"a": a, "b": b}
    assert await graph.relations(partition, [("a", "b"), ("a", "missing"), ("c", "d")]) == {
        ("a", "b"): ab
    }
    assert set(await every_entity(graph, partition)) == {a, b}
    assert await every_relation(graph, partition) == [ab]
    assert await ties(graph, partition, ["b"], 9) == [tie(ab)]


async def test_writing_again_changes_nothing(graph: Graph, partition: Partition) -> None:
    rows = [entity("a"), entity("b")], [relation("a", "b")]
    await graph.put(partition, *rows)
    await graph.put(partition, *rows)
    await graph.put(
        partition,
        [entity("a", description="equal revision")],
        [relation("a", "b", description="equal")],
    )
    assert await graph.entities(partition, ["a", "b"]) == {"a": rows[0][0], "b": rows[0][1]}
    assert await every_relation(graph, partition) == rows[1]


async def test_only_a_greater_revision_takes_effect_and_replaces_every_field(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(partition, [entity("a", 5)], [relation("a", "b", 5)])
    await graph.put(partition, [entity("a", 4)], [relation("a", "b", 4)])
    assert await graph.entities(partition, ["a"]) == {"a": entity("a", 5)}
    assert await every_relation(graph, partition) == [relation("a", "b", 5)]
    newer_entity = Entity("a", 6)
    newer_relation = Relation("a", "b", 6)
    await graph.put(partition, [newer_entity], [newer_relation])
    assert await graph.entities(partition, ["a"]) == {"a": newer_entity}
    assert await every_relation(graph, partition) == [newer_relation]


@pytest.mark.parametrize("order", [(1, 3, 2), (3, 2, 1), (2, 1, 3)])
async def test_of_rows_with_one_key_in_a_batch_the_highest_revision_counts(
    graph: Graph, partition: Partition, order: tuple[int, ...]
) -> None:
    await graph.put(
        partition, [entity("a", n) for n in order], [relation("a", "b", n) for n in order]
    )
    assert await graph.entities(partition, ["a"]) == {"a": entity("a", 3)}
    assert await every_relation(graph, partition) == [relation("a", "b", 3)]


@pytest.mark.timeout(600)
async def test_under_concurrent_writers_the_highest_revision_stands_in_the_end(
    graph_server: GraphStore, partition: Partition
) -> None:
    clients = [graph_server.another() for _ in range(12)]
    names = [f"shared {n:02d}" for n in range(20)]
    ends = [*pairwise(names), (names[0], names[-1])]
    for number in range(8):
        here = Partition(partition.workspace, number)

        async def write(graph: Graph, revision: int, here: Partition = here) -> None:
            rows = (
                [entity(name, revision) for name in names],
                [relation(*end, revision) for end in ends],
            )
            for part in rows:
                random.shuffle(part)
            await graph.put(here, *rows)

        await asyncio.gather(
            *(write(client, revision) for revision, client in enumerate(clients, 1))
        )
        assert await clients[0].entities(here, names) == {name: entity(name, 12) for name in names}
        assert sorted(await every_relation(clients[0], here), key=lambda r: r.key) == sorted(
            (relation(*end, 12) for end in ends), key=lambda r: r.key
        )


async def test_a_tombstone_is_shown_by_no_read_and_counted_by_none(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(partition, [entity(n) for n in "abc"], [relation("a", "b"), relation("a", "c")])
    await graph.put(
        partition,
        [replace(entity("b", 2), is_gone=True)],
        [replace(relation("a", "b", 2), is_gone=True)],
    )
    assert set(await graph.entities(partition, ["a", "b", "c"])) == {"a", "c"}
    assert await graph.relations(partition, [("a", "b"), ("a", "c")]) == {
        ("a", "c"): relation("a", "c")
    }
    assert await graph.degrees(partition, ["a", "b", "c"]) == {"a": 1, "c": 1}
    assert await ties(graph, partition, ["a", "b", "c"], 9) == [tie(relation("a", "c"))]
    assert {e.name for e in await every_entity(graph, partition)} == {"a", "c"}
    assert await every_relation(graph, partition) == [relation("a", "c")]


async def test_a_tombstone_holds_off_older_rows_and_yields_to_newer_ones(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(
        partition, [Entity("a", 5, is_gone=True)], [Relation("a", "b", 5, is_gone=True)]
    )
    await graph.put(partition, [entity("a", 4)], [relation("a", "b", 4)])
    assert (
        await graph.entities(partition, ["a"]) == {}
        and await every_relation(graph, partition) == []
    )
    await graph.put(partition, [entity("a", 6)], [relation("a", "b", 6)])
    assert await graph.entities(partition, ["a"]) == {"a": entity("a", 6)}
    assert await every_relation(graph, partition) == [relation("a", "b", 6)]


async def test_a_missing_end_is_a_tombstone_of_revision_0_that_any_put_revives(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(partition, [entity("a")], [relation("a", "b"), relation("c", "d")])
    assert set(await graph.entities(partition, list("abcd"))) == {"a"}
    assert await graph.degrees(partition, list("abcd")) == {"a": 1}
    assert set(await every_relation(graph, partition)) == {relation("a", "b"), relation("c", "d")}
    await graph.put(partition, [entity("b", 0), entity("d", 1)], [])
    assert await graph.entities(partition, list("abcd")) == {"a": entity("a"), "d": entity("d")}
    assert await graph.degrees(partition, list("abcd")) == {"a": 1, "d": 1}


async def test_a_gone_entity_keeps_its_relations_until_their_own_tombstones(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(partition, [entity("a"), entity("b")], [relation("a", "b")])
    await graph.put(partition, [Entity("b", 2, is_gone=True)], [])
    assert await ties(graph, partition, ["b"], 9) == [tie(relation("a", "b"))]
    assert await graph.degrees(partition, ["a", "b"]) == {"a": 1}


async def test_a_relation_has_no_direction_and_may_join_an_entity_to_itself(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(
        partition, [entity("a"), entity("b")], [replace(relation("a", "b"), source="b", target="a")]
    )
    await graph.put(partition, [], [relation("a", "b", 2), relation("a", "a", 9)])
    assert set(await every_relation(graph, partition)) == {
        relation("a", "b", 2),
        relation("a", "a", 9),
    }
    assert await graph.degrees(partition, ["a", "b"]) == {"a": 2, "b": 1}
    assert await ties(graph, partition, ["a", "b"], 9) == list(
        map(tie, [relation("a", "a", 9), relation("a", "b", 2)])
    )


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
        "a": Node("a", "type 1", chunk_ids[:MOST_SOURCES], chunk_ids[:MOST_SOURCES], 1),
        "b": Node("b", "type 1", ("chunk-1", "chunk-0"), ("1.pdf",), 1),
        "alone": Node("alone", "type 1", ("chunk-1", "chunk-0"), ("1.pdf",), 1),
    }
    assert around.relation_summaries == [
        RelationSummary("a", "b", 2.0, ("a", "keyword 1"), chunk_ids[:MOST_SOURCES])
    ]
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


async def test_names_are_scanned_without_the_rest(graph: Graph, partition: Partition) -> None:
    await graph.put(partition, [entity(f"name {n:03d}", type=f"t{n % 3}") for n in range(300)], [])
    await graph.put(partition, [Entity("name 007", 9, is_gone=True)], [])
    result: list[tuple[str, str]] = []
    while page := await graph.scan_names(partition, result[-1][0] if result else "", 41):
        assert len(page) <= 41
        result += page
    assert sorted(result) == [(f"name {n:03d}", f"t{n % 3}") for n in range(300) if n != 7]
    assert await graph.scan_names(fresh_partition()) == []


async def test_empty_input_is_allowed_and_does_nothing(graph: Graph, partition: Partition) -> None:
    await graph.put(partition, [], [])
    assert await graph.entities(partition, []) == {} and await graph.relations(partition, []) == {}
    assert await graph.degrees(partition, []) == {} and await ties(graph, partition, [], 5) == []
    assert (
        await graph.scan_entities(partition) == [] and await graph.scan_relations(partition) == []
    )
    await graph.drop(partition)
    assert partition not in await graph.partitions()


async def test_names_are_data_whatever_they_contain(graph: Graph, partition: Partition) -> None:
    entities = [entity(name, description=name) for name in ODD_NAMES]
    relations = [relation(*ends, description=ends[0]) for ends in pairwise(ODD_NAMES)]
    await graph.put(partition, entities, relations)
    await graph.put(partition, entities, relations)
    assert await graph.entities(partition, ODD_NAMES) == {e.name: e for e in entities}
    assert await graph.relations(partition, [r.key for r in relations]) == {
        r.key: r for r in relations
    }
    assert len(await graph.degrees(partition, ODD_NAMES)) == len(ODD_NAMES)
    assert set(await ties(graph, partition, ODD_NAMES, 9)) == set(map(tie, relations))
    assert sorted(e.name for e in await every_entity(graph, partition, 5)) == sorted(ODD_NAMES)
    assert sorted(r.key for r in await every_relation(graph, partition, 5)) == sorted(
        r.key for r in relations
    )


@pytest.mark.parametrize(
    "entity_refused",
    [
        entity(""),
        entity("x" * 6001),
        entity("\ud800"),
        entity("a", type="\udfff"),
        entity("a", type="x" * 5_000_000),
    ],
    ids=["no name", "long name", "half a character in the name", "in a text", "too much text"],
)
async def test_a_row_that_can_never_be_stored_is_poison_and_nothing_is_written(
    graph: Graph, partition: Partition, entity_refused: Entity
) -> None:
    with pytest.raises(Poison):
        await graph.put(partition, [entity("good"), entity_refused], [])
    assert await every_entity(graph, partition) == []
    assert await graph.entities(partition, ["", "\ud800", "x" * 6001]) == {}
    with pytest.raises(Poison):
        await graph.put(partition, [entity("good")], [relation("a", "b", weight=float("nan"))])
    assert partition not in await graph.partitions()


async def test_thousands_of_rows_go_in_and_come_out_page_by_page(
    graph: Graph, partition: Partition
) -> None:
    chance = random.Random(7)
    entities = [entity(f"name {n}") for n in range(3_000)]
    ends = sorted(
        {pair(*(f"name {chance.randrange(3_000)}" for _ in range(2))) for _ in range(3_000)}
    )
    relations = [relation(*end) for end in ends]
    async with asyncio.timeout(120):
        await graph.put(partition, entities, relations)
    assert await graph.entities(partition, [e.name for e in entities]) == {
        e.name: e for e in entities
    }
    assert await graph.relations(partition, ends) == {r.key: r for r in relations}
    entities_scanned = await every_entity(graph, partition, 777)
    assert len(entities_scanned) == 3_000 and set(entities_scanned) == set(entities)
    relations_scanned = await every_relation(graph, partition, 777)
    assert len(relations_scanned) == len(relations) and set(relations_scanned) == set(relations)


async def test_pages_full_of_tombstones_do_not_end_a_scan(
    graph: Graph, partition: Partition
) -> None:
    await graph.put(
        partition, [Entity(f"name {n}", 1, is_gone=n % 40 != 39) for n in range(400)], []
    )
    ends = [("name 0", f"name {n}") for n in range(1, 400)]
    await graph.put(
        partition,
        [],
        [Relation(*pair(*end), 1, is_gone=n % 40 != 39) for n, end in enumerate(ends, 1)],
    )
    assert len(await every_entity(graph, partition, 3)) == 10
    assert len(await every_relation(graph, partition, 3)) == 10


async def test_more_than_one_message_of_text_arrives_whole(
    graph: Graph, partition: Partition
) -> None:
    """18 MB in few rows: ArcadeDB would never answer it as one message."""
    rows = [entity(f"long {n}", description=f"{n}" + "文" * 100_000) for n in range(60)]
    await graph.put(partition, rows, [])
    assert await graph.entities(partition, [row.name for row in rows]) == {
        row.name: row for row in rows
    }


async def test_partitions_do_not_see_each_other(graph: Graph, partition: Partition) -> None:
    partitions = [
        partition,
        Partition(partition.workspace, 2),
        Partition(partition.workspace + "0", 1),
        fresh_partition(),
    ]
    for number, here in enumerate(partitions, 1):
        await graph.put(
            here, [entity("a", number), entity("b", number)], [relation("a", "b", number)]
        )
    for number, here in enumerate(partitions, 1):
        assert set(await every_entity(graph, here)) == {entity("a", number), entity("b", number)}
        assert await ties(graph, here, ["a"], 9) == [tie(relation("a", "b", number))]
        assert await graph.degrees(here, ["a"]) == {"a": 1}
    assert set(partitions) <= await graph.partitions()
    await graph.drop(partitions[0])
    assert (
        await every_entity(graph, partitions[0]) == []
        and await every_relation(graph, partitions[0]) == []
    )
    for number, here in enumerate(partitions[1:], 2):
        assert await graph.relations(here, [("a", "b")]) == {("a", "b"): relation("a", "b", number)}
    assert set(partitions) & await graph.partitions() == set(partitions[1:])


async def test_drop_removes_everything_tombstones_too(graph: Graph, partition: Partition) -> None:
    rows = [relation("hub", f"name {n}") for n in range(2500)]
    await graph.put(
        partition,
        [Entity("old", 9, is_gone=True)],
        [*rows, Relation("old", "hub", 9, is_gone=True)],
    )
    assert partition in await graph.partitions()
    await graph.drop(partition)
    await graph.drop(partition)
    assert partition not in await graph.partitions()
    await graph.put(partition, [entity("old", 1)], [relation("hub", "old", 1)])
    assert await graph.entities(partition, ["old"]) == {"old": entity("old", 1)}
    assert await every_relation(graph, partition) == [relation("hub", "old", 1)]


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


async def test_prepare_may_be_called_again_and_by_many_at_once(
    graph_server: GraphStore, partition: Partition
) -> None:
    await graph_server.client.put(partition, [entity("a")], [])
    await asyncio.gather(*(graph_server.another().prepare() for _ in range(5)))
    await graph_server.client.ping()
    assert await graph_server.client.missing() == []
    assert await graph_server.client.entities(partition, ["a"]) == {"a": entity("a")}
