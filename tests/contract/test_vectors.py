"""The contract of the vector store, held by every adapter: in memory, in a SQLite file, on
Milvus Lite, on servers.
"""

import asyncio
import math
from dataclasses import replace

import numpy as np
import pytest

from contracts.graph import VECTOR_KINDS, Hit, Partition
from runtime.errors import Poison
from runtime.stores.vectors.port import RowVersion, Vectors
from tests.support.partitions import fresh_partition
from tests.support.vector_stores import (
    DIMENSION,
    VectorStore,
    ids,
    row,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

EAST = (1.0, 0.0)
NORTH = (0.0, 1.0)


async def test_the_store_answers_and_preparing_again_changes_nothing(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(partition, "chunks", [row("a")])
    await vectors.prepare(1)
    await vectors.ping()
    assert await ids(vectors, partition) == ["a"]
    assert 1 in await vectors.generations()


async def test_a_row_comes_back_whole_and_with_its_vector_only_when_asked(
    vectors: Vectors, partition: Partition
) -> None:
    full_row = row(
        "rel-1",
        0.5,
        -0.25,
        text="A knows B",
        version=7,
        names=("A", "B"),
        document_id="doc-1",
        file_path="a/b.md",
        order=12,
    )
    await vectors.put(partition, "relations", [full_row])
    assert await vectors.get(partition, "relations", ["rel-1"], vectors=True) == {"rel-1": full_row}
    bare = replace(full_row, vector=())
    assert await vectors.get(partition, "relations", ["rel-1"]) == {"rel-1": bare}
    assert await vectors.scan(partition, "relations") == [bare]
    page = await vectors.scan_vectors(partition, "relations")
    assert (page.ids, page.names) == (["rel-1"], [("A", "B")])
    assert page.vectors.dtype == np.float32
    assert page.vectors.tolist() == [list(full_row.vector)]
    assert await vectors.search(partition, "relations", full_row.vector, top_k=1) == [
        Hit("rel-1", ("A", "B"), 1.0)
    ]


async def test_putting_twice_is_once(vectors: Vectors, partition: Partition) -> None:
    rows = [row("a", 1.0), row("b", 2.0, 1.0)]
    for _ in range(2):
        await vectors.put(partition, "chunks", rows)
    assert await vectors.count(partition, "chunks") == 2
    assert await vectors.get(partition, "chunks", ["a", "b"], vectors=True) == {
        "a": rows[0],
        "b": rows[1],
    }


async def test_a_later_row_replaces_an_earlier_one(vectors: Vectors, partition: Partition) -> None:
    await vectors.put(
        partition,
        "chunks",
        [row("a", *EAST, text="first"), row("b"), row("a", *NORTH, text="second")],
    )
    assert (await vectors.get(partition, "chunks", ["a"]))["a"].text == "second"
    assert await vectors.count(partition, "chunks") == 2
    await vectors.put(partition, "chunks", [row("a", *EAST, text="third", version=3)])
    (hit,) = await vectors.search(partition, "chunks", row("q", *EAST).vector, top_k=1)
    assert (hit.id, hit.score) == ("a", 1.0)
    third = (await vectors.get(partition, "chunks", ["a"]))["a"]
    assert (third.text, third.version) == ("third", 3)
    assert await vectors.count(partition, "chunks") == 2


async def test_empty_input_does_nothing(vectors: Vectors) -> None:
    unmade = fresh_partition(generation=77)
    await vectors.put(unmade, "chunks", [])
    assert await vectors.get(unmade, "chunks", []) == {}
    await vectors.delete(unmade, "chunks", [])
    assert 77 not in await vectors.generations()


async def test_get_and_delete_pass_over_what_does_not_exist(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(partition, "chunks", [row("a"), row("b"), row("c")])
    assert set(await vectors.get(partition, "chunks", ["a", "nobody", "a", "c"])) == {"a", "c"}
    for _ in range(2):
        await vectors.delete(partition, "chunks", ["a", "nobody"])
    assert await ids(vectors, partition) == ["b", "c"]
    await vectors.put(partition, "chunks", [row("a", text="again")])
    assert (await vectors.get(partition, "chunks", ["a"]))["a"].text == "again"


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "知识图谱。",
        'it\'s "quoted" \\ back\\\\slash',
        "line\nline\r\n\ttab",
        "🦜 zero\x00",
        "x" * 5000,
        "{}",
        "%_",
    ],
)
async def test_odd_texts_and_names_come_back_as_they_were(
    vectors: Vectors, partition: Partition, odd: str
) -> None:
    odd_row = row("odd", text=odd, names=(odd, "B"), document_id=odd[:500], file_path=odd[:4096])
    await vectors.put(partition, "entities", [odd_row, row("plain")])
    assert await vectors.get(partition, "entities", ["odd"], vectors=True) == {"odd": odd_row}


async def test_a_text_that_is_too_long_is_cut_at_a_character_and_keeps_its_hash(
    vectors: Vectors, partition: Partition
) -> None:
    long_row = row("long", text="ab" + "长" * 100_000, names=("名" * 30_000, "B"))
    await vectors.put(partition, "chunks", [long_row])
    row_there = (await vectors.get(partition, "chunks", ["long"]))["long"]
    assert long_row.text.startswith(row_there.text)
    assert len(row_there.text.encode()) == 65_534  # one byte is free, which no such character fits
    assert row_there.text_hash == long_row.text_hash
    assert len(row_there.names) == 2
    assert long_row.names[0].startswith(row_there.names[0])


async def test_a_text_that_utf8_cannot_say_is_kept_as_far_as_it_can(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(partition, "chunks", [row("half", text="half a \ud83e pair")])
    assert (await vectors.get(partition, "chunks", ["half"]))["half"].text == "half a ? pair"


@pytest.mark.parametrize(
    "vector",
    [
        (),
        (1.0,) * 7,
        (1.0,) * 9,
        (math.nan,) + (0.0,) * 7,
        (math.inf,) * 8,
        (-math.inf,) * 8,
        (1e39,) * 8,
    ],
)
async def test_a_vector_that_is_not_finite_or_of_another_dimension_is_poison_and_nothing_is_written(
    vectors: Vectors, partition: Partition, vector: tuple[float, ...]
) -> None:
    rows = [row(f"good-{n}") for n in range(600)]
    with pytest.raises(Poison, match="culprit"):
        await vectors.put(partition, "chunks", [*rows, replace(row("culprit"), vector=vector)])
    with pytest.raises(Poison):
        await vectors.search(partition, "chunks", vector, top_k=3)
    assert await vectors.count(partition, "chunks") == 0


@pytest.mark.parametrize("id", ["", "a b", 'x" or key != "', "a'b", "ключ", "a\n", "a" * 65])
async def test_what_is_no_id_is_never_written_and_names_nothing(
    vectors: Vectors, partition: Partition, id: str
) -> None:
    with pytest.raises(Poison):
        await vectors.put(partition, "chunks", [row("good"), row(id)])
    await vectors.put(partition, "chunks", [row("a")])
    await vectors.delete(partition, "chunks", [id])
    assert await vectors.get(partition, "chunks", [id]) == {}
    assert await ids(vectors, partition) == ["a"]


async def test_only_rows_of_lower_versions_are_deleted_where_a_newer_one_may_have_come(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(
        partition, "chunks", [replace(row(id), version=n) for n, id in enumerate("abc", 1)]
    )
    await vectors.delete(partition, "chunks", ["a", "b", "nobody"], before=2)
    assert await ids(vectors, partition) == ["b", "c"]
    await vectors.delete(partition, "chunks", ["b", "c"], before=9)
    assert await ids(vectors, partition) == []


async def test_ten_thousand_rows_go_in_at_once_and_are_scanned_in_pages(
    vectors: Vectors, partition: Partition
) -> None:
    rows = [row(f"row-{n:05d}", math.cos(n), math.sin(n)) for n in range(10_000)]
    await vectors.put(partition, "chunks", rows[::-1])
    assert await vectors.count(partition, "chunks") == 10_000
    ids_seen: list[str] = []
    while page := await vectors.scan(partition, "chunks", ids_seen[-1] if ids_seen else "", 3_000):
        ids_seen += [result.id for result in page]
    assert ids_seen == [vector_row.id for vector_row in rows]
    assert len(await vectors.get(partition, "chunks", ids_seen)) == 10_000
    await vectors.delete(partition, "chunks", ids_seen[5:])
    assert await ids(vectors, partition) == ids_seen[:5]


async def test_rows_that_are_too_much_for_one_message_go_in_and_come_back(
    vectors: Vectors, partition: Partition
) -> None:
    rows = [row(f"row-{n:03d}", text=f"{n:03d}" + "x" * 65_000) for n in range(270)]  # 18 MB
    await vectors.put(partition, "chunks", rows)
    result = await vectors.get(partition, "chunks", [vector_row.id for vector_row in rows])
    assert [result[vector_row.id].text for vector_row in rows] == [
        vector_row.text for vector_row in rows
    ]
    assert [result.text for result in await vectors.scan(partition, "chunks")] == [
        vector_row.text for vector_row in rows
    ]
    await vectors.delete(partition, "chunks", list(result))


async def test_a_scan_goes_by_the_codes_of_the_characters(
    vectors: Vectors, partition: Partition
) -> None:
    ids_in_order = ["-", "0", "A", "Z", "_", "a", "a-", "aa", "z"]
    await vectors.put(partition, "chunks", [row(id) for id in reversed(ids_in_order)])
    assert await ids(vectors, partition) == ids_in_order
    assert [result.id for result in await vectors.scan(partition, "chunks", "A", 3)] == [
        "Z",
        "_",
        "a",
    ]
    assert [result.id for result in await vectors.scan(partition, "chunks", "a")] == [
        "a-",
        "aa",
        "z",
    ]
    assert await vectors.scan(partition, "chunks", "z") == []
    assert await vectors.scan(partition, "chunks", limit=0) == []
    assert (await vectors.scan_vectors(partition, "chunks", "A", 3)).ids == ["Z", "_", "a"]
    assert (await vectors.scan_vectors(partition, "chunks", "z")).vectors.shape == (0, DIMENSION)
    with pytest.raises(Poison):
        await vectors.scan(partition, "chunks", 'a" or key != "')


@pytest.mark.parametrize(
    "hostile",
    ['x" or tenant != "', "x' or '1' == '1", "\\", "a\nb", "租户", "*", "%", "", "A", "w" * 500],
)
async def test_workspaces_with_the_same_ids_do_not_see_each_other(
    vectors: Vectors, partition: Partition, hostile: str
) -> None:
    there = Partition(hostile, 1)
    await vectors.put(partition, "chunks", [row("a", text="here", names=("here",)), row("b")])
    await vectors.put(there, "chunks", [row("a", text="there", names=("there",))])
    assert (await vectors.get(partition, "chunks", ["a"]))["a"].text == "here"
    assert (await vectors.get(there, "chunks", ["a", "b"]))["a"].text == "there"
    assert await ids(vectors, there) == ["a"]
    assert [
        hit.names for hit in await vectors.search(there, "chunks", row("q").vector, top_k=9)
    ] == [("there",)]
    await vectors.delete(there, "chunks", ["a", "b"])
    assert await vectors.count(there, "chunks") == 0
    assert await vectors.count(partition, "chunks") == 2


async def test_kinds_with_the_same_ids_do_not_see_each_other(
    vectors: Vectors, partition: Partition
) -> None:
    for kind in VECTOR_KINDS:
        await vectors.put(partition, kind, [row("a", names=(kind,))])
    await vectors.delete(partition, "entities", ["a"])
    result = [
        [hit.names for hit in await vectors.search(partition, kind, row("q").vector, top_k=9)]
        for kind in VECTOR_KINDS
    ]
    assert result == [[("chunks",)], [], [("relations",)]]


async def test_clients_that_write_the_same_rows_at_the_same_time_write_them_once(
    vector_server: VectorStore, partition: Partition
) -> None:
    clients = [vector_server.client, vector_server.another(), vector_server.another()]
    rows = [row(f"row-{n}", float(n + 1), 1.0) for n in range(700)]
    for _ in range(3):
        await asyncio.gather(
            *(client.put(partition, "chunks", rows) for client in clients for _ in range(2))
        )
    assert await clients[0].count(partition, "chunks") == 700
    assert await clients[1].get(partition, "chunks", ["row-699"], vectors=True) == {
        "row-699": rows[699]
    }


async def test_versions_are_those_of_the_stored_rows(
    vectors: Vectors, partition: Partition
) -> None:
    assert await vectors.versions(partition, "chunks", ["a"]) == {}
    await vectors.put(
        partition,
        "chunks",
        [row("a", version=3), row("b", version=4), row("b", version=5, text="new")],
    )
    result = await vectors.versions(partition, "chunks", ["a", "b", "missing", "no id"])
    assert result == {
        "a": RowVersion(3, row("a").text_hash),
        "b": RowVersion(5, row("b", text="new").text_hash),
    }
    assert await vectors.versions(partition, "chunks", []) == {}
