"""The contract of the graph store about scans and partitions: page by page, and apart."""

import asyncio
import random

import pytest

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from runtime.stores.graph.port import Graph
from tests.support.graph_stores import (
    entity,
    every_entity,
    every_relation,
    relation,
    tie,
    ties,
)
from tests.support.partitions import fresh_partition

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_names_are_scanned_without_the_rest(graph: Graph, partition: Partition) -> None:
    await graph.put(partition, [entity(f"name {n:03d}", type=f"t{n % 3}") for n in range(300)], [])
    await graph.put(partition, [Entity("name 007", 9, is_gone=True)], [])
    result: list[tuple[str, str]] = []
    while page := await graph.scan_names(partition, result[-1][0] if result else "", 41):
        assert len(page) <= 41
        result += page
    assert sorted(result) == [(f"name {n:03d}", f"t{n % 3}") for n in range(300) if n != 7]
    assert await graph.scan_names(fresh_partition()) == []


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("elm", {"Port Elm", "ELMS", "helm"}),
        ("M_S", {"m_s"}),
        ("5%", {"5% of it"}),
        ("a\\b", {"A\\B"}),
        ("strasse", {"Elbstra\u00dfe"}),
        ("k", {"\u212a 9"}),
        ("\u6e2f", {"\u6e2f\u53e3"}),
        ("n\x00", {"n\x00"}),
    ],
)
async def test_no_name_is_left_out_that_has_the_text_in_any_case_and_spelling(
    graph: Graph, partition: Partition, text: str, matching: set[str]
) -> None:
    other_names = {f"other name {n}" for n in range(50)}
    all_names = {"Port Elm", "ELMS", "helm", "m_s", "mas", "5% of it", "56", "A\\B", *other_names}
    all_names |= {"Elbstra\u00dfe", "\u212a 9", "\u6e2f\u53e3", "n\x00"} & (
        {name for name in matching if not name.isascii() or "\x00" in name} | {"\u6e2f\u53e3"}
    )
    await graph.put(partition, [entity(name) for name in all_names], [])
    names: list[str] = []
    while page := await graph.scan_names(
        partition, names[-1] if names else "", 20, containing=text
    ):
        names += [name for name, _ in page]
    assert matching <= set(names) <= all_names
    assert len(names) == len(set(names))


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
    rows = [row async for page in graph.everything(partition, 500) for row in page]
    assert len(rows) == 3_000 + len(relations)
    assert (set(rows[:3_000]), set(rows[3_000:])) == (set(entities), set(relations))


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
    assert sum([len(page) async for page in graph.everything(partition, 7)]) == 20


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
