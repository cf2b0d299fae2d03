"""The contract of the graph store, held by every adapter: in memory, on ArcadeDB, on a real Neo4j
server.
"""

import asyncio
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from contracts.graph import Entity, Partition, Relation
from runtime.errors import Poison
from runtime.stores.graph.port import Graph
from tests.support.graph_stores import (
    GraphStore,
    entity,
    every_entity,
    every_relation,
    relation,
    tie,
    ties,
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


async def test_a_relation_that_many_write_at_once_without_its_ends_stands_once(
    graph_server: GraphStore, partition: Partition
) -> None:
    clients = [graph_server.another(timeout=120) for _ in range(8)]
    for number in range(4):
        here = Partition(partition.workspace, number)
        ends = [("hub", f"end {number}") for number in range(3)]
        await asyncio.gather(
            *(
                client.put(here, [], [relation(*end, revision) for end in ends])
                for revision, client in enumerate(clients, 1)
            )
        )
        stored = await every_relation(clients[0], here)
        assert sorted(stored, key=lambda r: r.key) == [relation(*end, 8) for end in ends]


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


async def test_more_than_one_message_of_text_arrives_whole(
    graph: Graph, partition: Partition
) -> None:
    """18 MB in few rows: ArcadeDB would never answer it as one message."""
    rows = [entity(f"long {n}", description=f"{n}" + "文" * 100_000) for n in range(60)]
    await graph.put(partition, rows, [])
    assert await graph.entities(partition, [row.name for row in rows]) == {
        row.name: row for row in rows
    }


async def test_prepare_may_be_called_again_and_by_many_at_once(
    graph_server: GraphStore, partition: Partition
) -> None:
    await graph_server.client.put(partition, [entity("a")], [])
    await asyncio.gather(*(graph_server.another().prepare() for _ in range(5)))
    await graph_server.client.ping()
    assert await graph_server.client.missing() == []
    assert await graph_server.client.entities(partition, ["a"]) == {"a": entity("a")}
